// One query: its values, what unjudged documents could change, and the ranked lists of the selected systems side by side.

function queryContent(queries, row) {
  const { data, lists } = queries;
  const hasLists = lists && lists.has(row);
  const picker = systemPicker(data.systems, queries.systems, (systems, i) => {
    queries.choose(systems);
    queries.detail.fill();
    queries.detail.dialog.querySelectorAll(".picker select")[Math.min(i, queries.systems.length)]?.focus();
  });
  return [
    data.texts && data.texts[row] ? element("p", { class: "lead" }, userText(data.texts[row])) : "",
    picker ?? "",
    valuesTable(queries, row).box,
    ...(hasLists ? [couldChange(queries, row), listsOf(queries, row), idealOrder(queries, row)] : []),
    !hasLists && queries.note ? element("p", { class: "note" }, queries.note) : "",
  ].filter((child) => child !== null);
}

// Measures as rows, selected systems as columns; below a value its bounds over all gains of unjudged documents.
function valuesTable(queries, row) {
  const { data, values, systems, lists } = queries;
  const columns = [{ name: "measure", kind: "text" }, ...systems.map((s) => ({ name: data.systems[s], short: data.shorts[s], kind: "number", interval: true }))];
  const best = data.measures.map((measure, m) => {
    const defined = systems.map((s) => values[s][m][row]).filter((v) => !Number.isNaN(v));
    return defined.length > 1 && new Set(defined).size > 1 ? Math[measure.lower ? "min" : "max"](...defined) : null;
  });
  let isOpen = false;
  const cell = (m, s) => {
    const value = values[s][m][row];
    const bounds = lists && lists.has(row) ? lists.bounds(s, data.measures[m].name, row) : null;
    const open = bounds && bounds[1] - bounds[0] > 1e-6 ? { low: bounds[0], high: bounds[1] } : {};
    isOpen ||= open.low !== undefined;
    const { unit } = data.measures[m];
    return { value, best: best[m] !== null && value === best[m], ...(unit === null ? {} : { text: amount(value, unit) }), ...open };
  };
  const cells = data.measures.map((_, m) => systems.map((s) => cell(m, s)));
  return new DataTable({
    key: "query-values", title: "Values", columns, count: data.measures.length,
    note: isOpen ? "Below a value: its lowest and highest possible value, whatever grades the unjudged documents get." : "",
    cell: (m, column) => displayCell(columns[column], column === 0 ? data.measures[m].title : cells[m][column - 1]),
  }, { search: false });
}

// Whether judging the unjudged documents could turn the differences of this query over.
function couldChange(queries, row) {
  const { data, lists, reference } = queries;
  const { name } = data.measures[queries.measure];
  const own = reference === null ? null : lists.bounds(reference, name, row);
  if (!own) return null;
  const sentences = queries.others.flatMap((s) => {
    const other = lists.bounds(s, name, row);
    if (!other || other[1] - other[0] + own[1] - own[0] <= 1e-6) return [];
    const now = queries.difference(row, s);
    const [low, high] = [other[0] - own[1], other[1] - own[0]];
    const turns = now > EPSILON ? low < -1e-6 : now < -EPSILON ? high > 1e-6 : true;
    return [element("li", {}, userText(data.shorts[s]), " - ", userText(data.shorts[reference]),
      ` is ${number(now, 4, true)}; with all documents judged it lies between ${number(low, 4, true)} and ${number(high, 4, true)}: `,
      element("strong", {}, turns ? (Math.abs(now) <= EPSILON ? "they may differ." : "the order may change.") : "the order stays."))];
  });
  return sentences.length ? element("div", { class: "could-change" }, element("h3", {}, `If the unjudged documents were judged: ${plain(name)}`),
    element("ul", {}, sentences), element("p", { class: "note" }, "These ranges are loose: they take the worst judgments for one system and the best for the other, " +
      "even for a document that both retrieved. “The order stays” is certain; “may change” is not.")) : null;
}

// The first position of each query in a flat column.
function starts(counts) {
  const offsets = new Uint32Array(counts.length + 1);
  counts.forEach((n, i) => (offsets[i + 1] = offsets[i] + n));
  return offsets;
}

// The lists of all systems as columns of numbers, sliced by query.
class Lists {
  constructor(packed, data) {
    Object.assign(this, { packed, data });
    this.systems = packed.systems.map((system) => system && this.unpacked(system));
    this.relevant = Object.fromEntries(Object.entries(packed.relevant).map(([name, value]) => [name, numbers(value)]));
    this.relevantStarts = starts(this.relevant.counts);
  }

  unpacked(system) {
    const columns = {};
    for (const [name, value] of Object.entries(system))
      columns[name] = ["contributions", "bases", "values"].includes(name)
        ? Object.fromEntries(Object.entries(value).map(([m, v]) => [m, numbers(v)]))
        : name === "bounds" ? Object.fromEntries(Object.entries(value).map(([m, sides]) => [m, sides.map(numbers)])) : value && numbers(value);
    return { ...columns, docStarts: starts(columns.counts), judgedStarts: starts(columns.judgedCounts) };
  }

  has(row) {
    return this.systems.some((s) => s && s.counts[row] > 0);
  }

  // The lowest and highest value that unjudged documents leave open; null if that is not known.
  bounds(system, measure, row) {
    const sides = this.systems[system]?.bounds[measure];
    return sides && !Number.isNaN(sides[0][row]) ? sides.map((side) => side[row]) : null;
  }

  // The relevant documents of a query, best first, with their ranks by system: 0 if not retrieved, undefined if not known.
  ideal(row, systems) {
    const begin = this.relevantStarts[row];
    return Array.from({ length: this.relevant.counts[row] }, (_, i) => ({
      doc: this.relevant.docs[begin + i], gain: this.packed.gains[this.relevant.gains[begin + i]],
      ranks: systems.map((s) => this.systems[s]?.relevantRanks?.[begin + i]),
    }));
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
