// The address of what is on the screen, behind the "#": a link to a table with its filters, or to one query.
//
// Parameters are encoded as in a URL's query, joined by "&", in any order; what is left out is not restricted:
//   system=NAME     a selected system; up to four, one after another. The first is the reference of the differences.
//   measure=NAME    the measure of the table, as its label is: nDCG@10
//   group=NAME      only queries of this group; empty for queries without one
//   words=A..B      only queries of A to B words (both included; "A..", "..B" and "A" work too)
//   relevant=A..B   only queries with A to B relevant documents (judged, with a gain above 0)
//   unjudged=A..B   only queries of which this share (0 to 1) of the first ten results of the selected systems is unjudged
//   outcome=KIND    better, worse or equal: the second system against the first; KIND:NAME for another system
//   top=KIND        more, fewer or equal: relevant documents in the first ten, the second system against the first; KIND:NAME too
//   repeated=KIND   the same for texts that are in the first ten more than once
//   search=TEXT     what the search field of the table holds
//   sort=COLUMN     ascending; -COLUMN descending. query, text, group, words, relevant, unjudged, value:NAME, change:NAME
//                   (change alone is that of the second system)
//   query=ID        the query that is open
//   KEY=NUMBER      the conversation that is open, in the table of conversations with this key
// A fragment without "=" is the id of a section.

const QUERY_PARAMETERS = ["system", "measure", "group", "words", "relevant", "unjudged", "outcome", "top", "repeated", "search", "sort"];

function parameters() {
  const text = location.hash.slice(1);
  return new URLSearchParams(text.includes("=") ? text : "");
}

// The fragment with these values in place of the old ones: {name: text, [texts], or null}.
function fragmentWith(changes) {
  const all = parameters();
  for (const [name, value] of Object.entries(changes)) {
    all.delete(name);
    for (const each of [value].flat()) if (each !== null && each !== undefined) all.append(name, each.toWellFormed());
  }
  const text = all.toString();
  return text ? "#" + text : location.pathname + location.search;
}

// Change the address: by a new entry of the history, which Back undoes, or in place.
function setAddress(changes, isStep = false) {
  const target = fragmentWith(changes);
  if (isStep) history.pushState({ step: true }, "", target);
  else history.replaceState(history.state, "", target);
}

// "2..5", "2..", "..5" and "3" as [low, high]; null if it is none of these.
function range(text) {
  const match = /^(\d*\.?\d+)?(\.\.)?(\d*\.?\d+)?$/.exec(text ?? "");
  if (!match || (match[1] === undefined && match[3] === undefined)) return null;
  const low = match[1] === undefined ? -Infinity : Number(match[1]);
  const high = match[3] !== undefined ? Number(match[3]) : match[2] ? Infinity : low;
  return [low, high];
}
