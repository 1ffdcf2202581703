// One query: its values, and the ranked lists of all systems side by side.

function queryContent(queries, row) {
  const { data, lists } = queries;
  return [
    data.texts && data.texts[row] ? element("p", { class: "lead" }, userText(data.texts[row])) : "",
    valuesTable(queries, row).box,
    lists && lists.has(row) ? listsOf(queries, row) : queries.note ? element("p", { class: "note" }, queries.note) : "",
  ];
}

// Measures as rows, systems as columns.
function valuesTable(queries, row) {
  const { data, values } = queries;
  const columns = [{ name: "measure", kind: "text" }, ...data.systems.map((name) => ({ name, kind: "number" }))];
  const best = data.measures.map((measure, m) => {
    const defined = values.map((columns) => columns[m][row]).filter((v) => !Number.isNaN(v));
    return defined.length > 1 && new Set(defined).size > 1 ? Math[measure.lower ? "min" : "max"](...defined) : null;
  });
  return new DataTable({
    key: "query-values", title: "Values", columns, count: data.measures.length,
    cell: (m, column) => displayCell(columns[column], column === 0 ? data.measures[m].title
      : { value: values[column - 1][m][row], best: best[m] !== null && values[column - 1][m][row] === best[m] }),
  }, { search: false });
}

// The lists of all systems as columns of numbers, sliced by query.
class Lists {
  constructor(packed, data) {
    Object.assign(this, { packed, data });
    this.systems = packed.systems.map((system) => system && this.unpacked(system));
  }

  unpacked(system) {
    const columns = {};
    for (const [name, value] of Object.entries(system))
      columns[name] = ["contributions", "bases", "values"].includes(name)
        ? Object.fromEntries(Object.entries(value).map(([m, v]) => [m, numbers(v)])) : numbers(value);
    const starts = (counts) => {
      const offsets = new Uint32Array(counts.length + 1);
      counts.forEach((n, i) => (offsets[i + 1] = offsets[i] + n));
      return offsets;
    };
    return { ...columns, docStarts: starts(columns.counts), judgedStarts: starts(columns.judgedCounts) };
  }

  has(row) {
    return this.systems.some((s) => s && s.counts[row] > 0);
  }

  // [{rank, doc, score, gain, contribution}]; gain is null for unjudged documents, score NaN in runs without scores.
  list(system, row, measure) {
    const from = this.systems[system];
    if (!from) return [];
    const begin = from.docStarts[row];
    const items = Array.from({ length: from.counts[row] }, (_, i) => ({ rank: i + 1, doc: from.docs[begin + i], score: from.scores[begin + i], gain: null, contribution: 0 }));
    for (let j = from.judgedStarts[row]; j < from.judgedStarts[row + 1]; ++j) {
      const item = items[from.judgedRanks[j] - 1];
      item.gain = this.packed.gains[from.gains[j]];
      if (measure !== null) item.contribution = from.contributions[measure][j];
    }
    return items;
  }
}

// The colour level of a gain: 0 for none, then four levels up to the highest gain.
function gainLevel(gain, maxGain) {
  return gain <= 0 || maxGain <= 0 ? 0 : Math.min(4, Math.max(1, Math.ceil((4 * gain) / maxGain)));
}

function listsOf(queries, row) {
  const { data, lists } = queries;
  const { measures } = lists.packed;
  const selected = data.measures[queries.measure].name;
  const box = element("div", { class: "lists" });
  const draw = (measure) => {
    const base = data.baseline === null ? null : new Map(lists.list(data.baseline, row, measure).map((item) => [item.doc, item]));
    const largest = Math.max(...data.systems.flatMap((_, s) => lists.list(s, row, measure).map((item) => Math.abs(item.contribution))), 1e-9);
    box.replaceChildren(...data.systems.map((name, s) => oneList(queries, row, s, measure, s === data.baseline ? null : base, largest)));
  };
  if (!measures.length) {
    draw(null);
    return element("div", {}, element("h3", {}, "Ranked lists"),
      element("p", { class: "note" }, "None of these measures is a sum over ranks, so the documents have no contributions."), box);
  }
  const first = measures.includes(selected) ? selected : measures[0];
  const select = element("select", { "aria-label": "Measure of the contributions", onchange: () => draw(select.value) },
    measures.map((m) => element("option", { value: m, selected: m === first }, m)));
  draw(first);
  return element("div", {}, element("div", { class: "bar" }, element("h3", {}, "Ranked lists"),
    element("label", {}, "Contribution of each document to ", select)), box);
}

function rankChange(item, base) {
  if (base === null) return { value: null, text: "" };
  const before = base.get(item.doc);
  if (!before) return { value: null, text: "new" };
  const up = before.rank - item.rank;
  return { value: up, text: up === 0 ? "=" : `${up > 0 ? "▲" : "▼"}${Math.abs(up)}`, spoken: up === 0 ? "" : `${up > 0 ? "up" : "down"} ${Math.abs(up)}` };
}

function oneList(queries, row, system, measure, base, largest) {
  const { data, lists } = queries;
  const { packed } = lists;
  const items = lists.list(system, row, measure);
  const drawMove = (i, cell) => cell.spoken
    ? [element("span", { "aria-hidden": "true", class: cell.value > 0 ? "up" : "down" }, cell.text), element("span", { class: "hidden" }, cell.spoken)]
    : [element("span", { class: "quiet-text" }, cell.text)];
  const drawDoc = (i) => {
    const { doc } = items[i];
    const title = packed.titles && packed.titles[doc];
    return [webLink((packed.links && packed.links[doc]) || packed.ids[doc], packed.ids[doc]), title ? element("span", { class: "subtext" }, userText(title.replaceAll("\n", " · "))) : null];
  };
  const drawGain = (i) => items[i].gain === null
    ? element("span", { class: "gain unknown" }, "unjudged")
    : element("span", { class: `gain gain-${gainLevel(items[i].gain, packed.gains.at(-1))}` }, number(items[i].gain, Number.isInteger(items[i].gain) ? 0 : 2));
  const drawContribution = (i) => {
    const { contribution } = items[i];
    const bar = element("span", { class: contribution < 0 ? "bar-fill worse" : "bar-fill", "aria-hidden": "true" });
    bar.style.setProperty("width", `${(100 * Math.abs(contribution)) / largest}%`);
    return [contribution ? number(contribution) : element("span", { class: "quiet-text" }, "0"), element("span", { class: "bar-track" }, bar)];
  };
  const columns = [
    { name: "#", kind: "number", digits: 0, help: "rank", of: (i) => items[i].rank },
    ...(base === null ? [] : [{ name: "moved", kind: "text", help: "ranks up or down from the baseline", of: (i) => rankChange(items[i], base), draw: drawMove }]),
    { name: "document", kind: "text", wide: true, of: (i) => packed.ids[items[i].doc], draw: drawDoc },
    { name: "gain", kind: "number", help: "from the judgments", of: (i) => items[i].gain, draw: drawGain },
    ...(measure === null ? [] : [{ name: "adds", kind: "number", help: `contribution to ${measure}`, of: (i) => items[i].contribution, draw: drawContribution }]),
    ...(items.some((item) => !Number.isNaN(item.score)) ? [{ name: "score", kind: "number", of: (i) => ({ value: items[i].score, text: String(Number(items[i].score.toPrecision(5))) }) }] : []),
  ];
  const name = data.systems[system] + (system === data.baseline ? " (baseline)" : "");
  const table = new DataTable({
    key: `list-${system}`, title: plain(name), columns, count: items.length,
    cell: (i, column) => displayCell(columns[column], columns[column].of(i)),
    note: "",
  }, { search: false });
  table.box.append(...belowList(queries, row, system, measure, items, base));
  return table.box;
}

// Notes below a list: the value, documents further down, and documents of the baseline that dropped out.
function belowList(queries, row, system, measure, items, base) {
  const { data, lists, values } = queries;
  const from = lists.systems[system];
  if (!from) return [element("p", { class: "note" }, "The ranked list of this system is not available.")];
  const notes = [];
  const rest = from.retrieved[row] - items.length;
  if (!items.length) notes.push("No documents were retrieved.");
  else if (rest > 0) notes.push(`${counted(rest, "more document")} further down.`);
  const index = measure === null ? -1 : data.measures.findIndex((m) => m.name === measure);
  if (index >= 0 && !Number.isNaN(values[system][index][row])) {
    const start = from.bases[measure] ? from.bases[measure][row] : 0;
    const value = (from.values[measure] ?? values[system][index])[row]; // of the listed seed, if there are several
    const listed = items.reduce((sum, item) => sum + item.contribution, 0);
    const below = value - listed - (Number.isNaN(start) ? 0 : start);
    const sources = [start ? `${number(start)} without any judgments` : "", Math.abs(below) > 1e-6 ? `${number(below, 4, true)} from further down` : ""].filter(Boolean);
    notes.push(`${measure} ${number(value)}${sources.length ? ` (including ${sources.join(" and ")})` : ""}.`);
  }
  const paragraphs = [element("p", { class: "note" }, notes.join(" "))];
  if (base) {
    const listed = new Set(items.map((item) => item.doc));
    const dropped = [...base.values()].filter((item) => !listed.has(item.doc));
    if (dropped.length)
      paragraphs.push(element("p", { class: "note" }, `Dropped out of the top ${lists.packed.depth}: `,
        dropped.flatMap((item, i) => [i ? ", " : "", userText(lists.packed.ids[item.doc]),
          ` (was rank ${item.rank}, ${item.gain === null ? "unjudged" : `gain ${number(item.gain, Number.isInteger(item.gain) ? 0 : 2)}`})`]), "."));
  }
  return paragraphs;
}
