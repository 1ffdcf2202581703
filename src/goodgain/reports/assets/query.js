// One query: its values, and the ranked lists of all systems side by side.

function queryContent(queries, row) {
  const { data, lists } = queries;
  return [
    data.texts && data.texts[row] ? element("p", { class: "lead" }, userText(data.texts[row])) : "",
    valuesTable(queries, row).box,
    lists && lists.has(row) ? listsOf(queries, row) : element("p", { class: "note" }, queries.note),
  ];
}

// Measures as rows, systems as columns.
function valuesTable(queries, row) {
  const { data, values } = queries;
  const columns = [{ name: "measure", kind: "text" }, ...data.systems.map((name) => ({ name, kind: "number" }))];
  const best = data.measures.map((measure, m) => {
    const known = values.map((of) => of[m][row]).filter((v) => !Number.isNaN(v));
    return known.length > 1 && new Set(known).size > 1 ? Math[measure.lower ? "min" : "max"](...known) : null;
  });
  return new DataTable({
    key: "query-values", title: "Values", columns, count: data.measures.length,
    cell: (m, column) => shownCell(columns[column], column === 0 ? data.measures[m].name + (data.measures[m].lower ? " ↓" : "")
      : { value: values[column - 1][m][row], best: best[m] !== null && values[column - 1][m][row] === best[m] }),
  }, { search: false });
}

// The lists of all systems as columns of numbers, cut out query by query.
class Lists {
  constructor(packed, data) {
    Object.assign(this, { packed, data });
    this.systems = packed.systems.map((system) => system && this.unpacked(system));
  }

  unpacked(system) {
    const found = {};
    for (const [name, value] of Object.entries(system))
      found[name] = ["parts", "bases", "values"].includes(name)
        ? Object.fromEntries(Object.entries(value).map(([m, v]) => [m, numbers(v)])) : numbers(value);
    const starts = (counts) => {
      const places = new Uint32Array(counts.length + 1);
      counts.forEach((n, i) => (places[i + 1] = places[i] + n));
      return places;
    };
    return { ...found, docStarts: starts(found.counts), hitStarts: starts(found.hitCounts) };
  }

  has(row) {
    return this.systems.some((s) => s && s.counts[row] > 0);
  }

  // [{rank, doc, score, gain, part}]; gain is null where nobody judged.
  list(system, row, measure) {
    const from = this.systems[system];
    if (!from) return [];
    const begin = from.docStarts[row];
    const items = Array.from({ length: from.counts[row] }, (_, i) => ({ rank: i + 1, doc: from.docs[begin + i], score: from.scores[begin + i], gain: null, part: 0 }));
    for (let h = from.hitStarts[row]; h < from.hitStarts[row + 1]; ++h) {
      const item = items[from.hitRanks[h] - 1];
      item.gain = this.packed.gains[from.gains[h]];
      if (measure !== null) item.part = from.parts[measure][h];
    }
    return items;
  }
}

// The colour of a gain: none, then four steps up to the highest there is.
function gainLevel(gain, top) {
  return gain <= 0 || top <= 0 ? 0 : Math.min(4, Math.max(1, Math.ceil((4 * gain) / top)));
}

function listsOf(queries, row) {
  const { data, lists } = queries;
  const { measures } = lists.packed;
  const asked = data.measures[queries.measure].name;
  const box = element("div", { class: "lists" });
  const draw = (measure) => {
    const base = data.baseline === null ? null : new Map(lists.list(data.baseline, row, measure).map((item) => [item.doc, item]));
    const most = Math.max(...data.systems.flatMap((_, s) => lists.list(s, row, measure).map((item) => Math.abs(item.part))), 1e-9);
    box.replaceChildren(...data.systems.map((name, s) => oneList(queries, row, s, measure, s === data.baseline ? null : base, most)));
  };
  if (!measures.length) {
    draw(null);
    return element("div", {}, element("h3", {}, "Ranked lists"),
      element("p", { class: "note" }, "None of these measures is a sum over ranks, so nothing is said of what each document adds."), box);
  }
  const first = measures.includes(asked) ? asked : measures[0];
  const select = element("select", { "aria-label": "Measure whose parts are shown", onchange: () => draw(select.value) },
    measures.map((m) => element("option", { value: m, selected: m === first }, m)));
  draw(first);
  return element("div", {}, element("div", { class: "bar" }, element("h3", {}, "Ranked lists"),
    element("label", {}, "what each document adds to ", select)), box);
}

function moved(item, base) {
  if (base === null) return { value: null, text: "" };
  const before = base.get(item.doc);
  if (!before) return { value: null, text: "new" };
  const up = before.rank - item.rank;
  return { value: up, text: up === 0 ? "=" : `${up > 0 ? "▲" : "▼"}${Math.abs(up)}`, told: up === 0 ? "" : `${up > 0 ? "up" : "down"} ${Math.abs(up)}` };
}

function oneList(queries, row, system, measure, base, most) {
  const { data, lists } = queries;
  const { packed } = lists;
  const items = lists.list(system, row, measure);
  const drawMove = (i, cell) => cell.told
    ? [element("span", { "aria-hidden": "true", class: cell.value > 0 ? "up" : "down" }, cell.text), element("span", { class: "hidden" }, cell.told)]
    : [element("span", { class: "quiet-text" }, cell.text)];
  const drawDoc = (i) => {
    const { doc } = items[i];
    const title = packed.titles && packed.titles[doc];
    return [webLink((packed.links && packed.links[doc]) || packed.ids[doc], packed.ids[doc]), title ? element("span", { class: "span" }, userText(title.replaceAll("\n", " · "))) : null];
  };
  const drawGain = (i) => items[i].gain === null
    ? element("span", { class: "gain unknown" }, "unjudged")
    : element("span", { class: `gain gain-${gainLevel(items[i].gain, packed.gains.at(-1))}` }, number(items[i].gain, Number.isInteger(items[i].gain) ? 0 : 2));
  const drawPart = (i) => {
    const { part } = items[i];
    const bar = element("span", { class: part < 0 ? "part worse" : "part", "aria-hidden": "true" });
    bar.style.setProperty("width", `${(100 * Math.abs(part)) / most}%`);
    return [part ? number(part) : element("span", { class: "quiet-text" }, "0"), element("span", { class: "parts" }, bar)];
  };
  const columns = [
    { name: "#", kind: "number", digits: 0, help: "rank", of: (i) => items[i].rank },
    ...(base === null ? [] : [{ name: "moved", kind: "text", help: "ranks up or down from the baseline's list", of: (i) => moved(items[i], base), draw: drawMove }]),
    { name: "document", kind: "text", wide: true, of: (i) => packed.ids[items[i].doc], draw: drawDoc },
    { name: "gain", kind: "number", help: "as judged", of: (i) => items[i].gain, draw: drawGain },
    ...(measure === null ? [] : [{ name: "adds", kind: "number", help: `to ${measure}`, of: (i) => items[i].part, draw: drawPart }]),
    { name: "score", kind: "number", of: (i) => ({ value: items[i].score, text: String(Number(items[i].score.toPrecision(5))) }) },
  ];
  const name = data.systems[system] + (system === data.baseline ? " (baseline)" : "");
  const table = new DataTable({
    key: `list-${system}`, title: plain(name), columns, count: items.length,
    cell: (i, column) => shownCell(columns[column], columns[column].of(i)),
    note: "",
  }, { search: false });
  table.box.append(...belowList(queries, row, system, measure, items, base));
  return table.box;
}

// What the list does not show: the sum, what stands further down, and what the baseline had.
function belowList(queries, row, system, measure, items, base) {
  const { data, lists, values } = queries;
  const from = lists.systems[system];
  if (!from) return [element("p", { class: "note" }, "The list of this system is not known.")];
  const said = [];
  const rest = from.retrieved[row] - items.length;
  if (!items.length) said.push("Nothing was retrieved.");
  else if (rest > 0) said.push(`${counted(rest, "more document")} further down.`);
  const place = measure === null ? -1 : data.measures.findIndex((m) => m.name === measure);
  if (place >= 0 && !Number.isNaN(values[system][place][row])) {
    const start = from.bases[measure] ? from.bases[measure][row] : 0;
    const value = (from.values[measure] ?? values[system][place])[row]; // of several seeds, the one that is listed
    const shown = items.reduce((sum, item) => sum + item.part, 0);
    const below = value - shown - (Number.isNaN(start) ? 0 : start);
    said.push(`${measure} ${number(value)}` + (start ? `, of it ${number(start)} before any judgement` : "") +
      (Math.abs(below) > 1e-6 ? `, of it ${number(below, 4, true)} from further down.` : "."));
  }
  const notes = [element("p", { class: "note" }, said.join(" "))];
  if (base) {
    const here = new Set(items.map((item) => item.doc));
    const gone = [...base.values()].filter((item) => !here.has(item.doc));
    if (gone.length)
      notes.push(element("p", { class: "note" }, `Gone from the first ${lists.packed.depth}: `,
        gone.flatMap((item, i) => [i ? ", " : "", userText(lists.packed.ids[item.doc]),
          ` (was ${item.rank}, ${item.gain === null ? "unjudged" : `gain ${number(item.gain, Number.isInteger(item.gain) ? 0 : 2)}`})`]), "."));
  }
  return notes;
}
