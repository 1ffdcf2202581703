// How the search ranks what it found. Pages that answer a question come before pages that only mention its words.
const TEXT_BOOST = [
  [/^(tutorials|guidance|cookbook)\//, 3],
  [/^reference\/(measures|commands)\//, 1],
  [/^reference\/python\/(records|details)$/, -3],
  [/^(project|benchmarks|examples)\//, -4],
  [/^(architecture|reliability|peers)$/, -2],
];

var Scorer = {
  // [docname, title, anchor, description, score, filename, kind]
  score: (result) => {
    // The entries below a title lead to the page itself, which is then listed once.
    if (result[6] === "index" && result[2] === "#index-0") result[2] = "";
    if (result[6] !== "text") return result[4];
    const boost = TEXT_BOOST.find(([pattern]) => pattern.test(result[0]));
    return result[4] + (boost ? boost[1] : 0);
  },
  objNameMatch: 11,
  objPartialMatch: -3, // "rag" is in "coverage"
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
