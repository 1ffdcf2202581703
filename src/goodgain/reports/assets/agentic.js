// Conversations: a table, and for each conversation a timeline of its iterations, searches and results.

const STEPS = { 1: "the ids match", 2: "the URLs match", 3: "the fields compared for this type match", 4: "only the shared key could be compared" };
const SPENT = [["seconds", (v) => seconds(v)], ["tokens", (v) => number(v, 0)], ["cost", (v) => number(v)]];
const FOLDED_FROM = 12; // iterations; the timeline of longer conversations opens step by step
const FIGURES = { gain: 0, cumulativeGain: 1, good: 2 };

widgets.conversations = function (options, box) {
  const items = block(options.key);
  const counts = items.map((item) => {
    const searches = item.iterations.flatMap((i) => i.searches);
    const last = item.iterations.at(-1);
    return {
      iterations: item.iterations.length, searches: searches.length,
      results: searches.reduce((sum, s) => sum + s.results.length, 0),
      new: searches.reduce((sum, s) => sum + s.fresh, 0),
      duplicates: searches.reduce((sum, s) => sum + s.results.length - s.fresh, 0),
      failed: searches.filter((s) => s.error).length, unreadCount: searches.filter((s) => s.unread).length,
      ...(last ? last.spent : { seconds: null, tokens: null, cost: null }),
      gain: last && item.labelled ? last.figures[FIGURES.cumulativeGain] : null,
      unread: searches.some((s) => s.unread), unlabelled: searches.some((s) => s.unlabelled),
    };
  });
  // Unread searches may have returned more, and results without a label may be good: what is known is the least.
  const atLeast = (row, value, digits, open = counts[row].unread) => (open && value !== null ? { value, text: `≥ ${number(value, digits)}` } : value);
  const count = (name, open = false) => ({ name, kind: "number", digits: 0, of: (row) => (open ? atLeast(row, counts[row][name], 0) : counts[row][name]) });
  const columns = [
    { name: "conversation", kind: "text", of: (row) => items[row].name },
    ...(new Set(items.map((i) => i.system)).size > 1 ? [{ name: "system", kind: "text", of: (row) => items[row].system }] : []),
    { name: "question", kind: "text", of: (row) => items[row].user },
    count("iterations"), count("searches"), count("results", true), count("new", true), count("duplicates", true), count("failed"),
    ...(counts.some((c) => c.unreadCount) ? [{ name: "unread", kind: "number", digits: 0, of: (row) => counts[row].unreadCount }] : []),
    ...SPENT.filter(([name]) => counts.some((c) => c[name] !== null)).map(([name, text]) => ({ name, kind: "number", help: "a dash where the trace does not report it",
      of: (row) => (counts[row][name] === null ? null : { value: counts[row][name], text: text(counts[row][name]) }) })),
    { name: "good gain", kind: "number", digits: 2, help: "CG after the last iteration; a dash if no result has a label", of: (row) => atLeast(row, counts[row].gain, 2, counts[row].unread || counts[row].unlabelled) },
  ];
  const table = new DataTable({
    key: options.key, title: "Conversations", columns, count: items.length,
    cell: (row, column) => displayCell(columns[column], columns[column].of(row)),
    note: ["Select a conversation to see its timeline.", options.note].filter(Boolean).join(" "),
  }, { open: (row) => detail.open(row), nouns: ["conversation", "conversations"] });
  const detail = new Detail(options.key, "conversation", {
    table: () => table, value: String, row: (value) => (/^\d+$/.test(value) && items[Number(value)] ? Number(value) : undefined),
    title: (row) => ["Conversation ", userText(items[row].name), " of ", userText(items[row].system)],
    content: (row) => {
      const timeline = new Timeline(items[row], options);
      return [
        items[row].user ? element("p", { class: "lead" }, userText(items[row].user)) : "",
        items[row].iterations.length ? new Replay(items[row], timeline, options).box : "",
        items[row].iterations.length ? searchesTable(items[row], timeline, options) : "",
        items[row].evidence?.length ? evidenceTable(items[row], timeline, options.key) : "",
        items[row].against ? comparisons(items[row], options.key) : "",
        timeline.box,
      ];
    },
  });
  box.append(table.box);
  detail.follow();
  addEventListener("hashchange", () => detail.follow());
};

// Every search in one row: what it asked, what it brought and what it cost.
function searchesTable(item, timeline, options) {
  let first = 0;
  let gain = 0;
  let isOpen = false; // whether there may be more gain
  const rows = item.iterations.flatMap((iteration, i) => iteration.searches.map((search, s) => {
    const begin = first;
    first += search.results.length;
    gain += search.added;
    isOpen ||= Boolean(search.unlabelled || search.unread);
    return { ...search, place: `${i + 1}.${s + 1}`, order: 1000 * i + s, begin, gain, isOpen, state: STATES[searchState(search)] };
  }));
  const any = (name) => rows.some((row) => row[name] !== null && row[name] !== undefined && row[name] !== "");
  const what = (row) => [row.error ? `failed: ${row.error}` : "", row.unread ? `unread: ${row.unread}` : "", row.repeats ? "repeated query" : ""].filter(Boolean).join("; ") || row.state;
  const columns = [
    { name: "search", kind: "number", of: (row) => ({ value: row.order, text: row.place }),
      draw: (n) => (rows[n].results.length ? timeline.jump(rows[n].begin, `Go to search ${rows[n].place}`, rows[n].place) : rows[n].place) },
    { name: "query", kind: "text", wide: true, of: (row) => row.query || "(no query)" },
    ...(any("tool") ? [{ name: "tool", kind: "text", of: (row) => row.tool || "–" }] : []),
    { name: "results", kind: "number", digits: 0, of: (row) => (row.unread ? { value: row.results.length, text: `≥ ${row.results.length}` } : row.results.length) },
    { name: "new", kind: "number", digits: 0, of: (row) => row.fresh },
    { name: "repeats", kind: "number", digits: 0, help: "results that were returned before", of: (row) => row.results.length - row.fresh },
    ...(item.labelled ? [
      { name: "good", kind: "number", digits: 0, help: "new good results", of: (row) => row.good },
      { name: "gain so far", kind: "number", digits: 2, of: (row) => (row.isOpen ? { value: row.gain, text: `≥ ${number(row.gain, 2)}` } : row.gain) }] : []),
    ...(rows.some((row) => row.unlabelled) ? [{ name: "no label", kind: "number", digits: 0, help: "new results without a label", of: (row) => row.unlabelled }] : []),
    ...[["latency", (v) => seconds(v)], ["tokens", (v) => number(v, 0)], ["cost", (v) => number(v)]].filter(([name]) => any(name))
      .map(([name, text]) => ({ name, kind: "number", of: (row) => (row[name] === null ? null : { value: row[name], text: text(row[name]) }) })),
    { name: "what happened", kind: "text", roomy: true, of: what },
  ];
  const table = new DataTable({
    key: `${options.key}-searches`, title: "Searches", columns, count: rows.length, note: "Select a search to see its results in the timeline.",
    cell: (n, column) => ({ ...displayCell(columns[column], columns[column].of(rows[n])),
      tone: columns[column].name === "what happened" && (rows[n].error || rows[n].unread) ? "worse" : "" }),
  }, { nouns: ["search", "searches"] });
  table.box.classList.add("tall");
  return table.box;
}

// The comparison with one other system, chosen among those that there are.
function comparisons(item, key) {
  const { against, system } = item;
  if (against.length === 1) return trajectories(against[0], key);
  const other = ({ systems }) => systems.find((name) => name !== system);
  const place = element("div", {}, trajectories(against[0], key));
  const select = choice("Compare with", against.map((each, i) => [String(i), other(each)]), "0", (value) => place.replaceChildren(trajectories(against[Number(value)], key)));
  return element("div", {}, element("label", {}, "Compare with ", select), place);
}

// What became of each known good result: where it was first returned, whether it was opened and cited.
function evidenceTable(item, timeline, key) {
  const { evidence } = item;
  const number = new Map(timeline.results.map((result, n) => [result.place, n]));
  const place = ({ iteration, search, rank }) => (iteration === null ? null : `${iteration}.${search}.${rank}`);
  const opened = (value) => (value === null ? "–" : value === 0 ? "before any search" : `iteration ${value}`);
  const columns = [
    { name: "evidence", kind: "text", of: (e) => e.name },
    { name: "gain", kind: "number", digits: 2, of: (e) => e.gain },
    ...(evidence.some((e) => e.hop) ? [{ name: "hop", kind: "text", of: (e) => e.hop || "–" }] : []),
    { name: "first returned", kind: "text", of: (e) => place(e) ?? "–", draw: (row) => {
      const at = place(evidence[row]);
      return number.has(at) ? timeline.jump(number.get(at), `Go to result ${at}`) : (at ?? "–");
    } },
    { name: "opened", kind: "text", of: (e) => opened(e.opened) },
    { name: "cited", kind: "text", of: (e) => (e.cited ? "yes" : "no") },
  ];
  const answer = item.correct === null ? "" : ` The answer is ${item.correct >= 0.5 ? "right" : "wrong"}.`;
  const confidence = item.confidence === null ? "" : ` Stated confidence: ${Math.round(100 * item.confidence)}%.`;
  const more = item.evidenceCount > evidence.length ? ` ${counted(item.evidenceCount - evidence.length, "more result")} left out.` : "";
  return new DataTable({
    key: `${key}-evidence`, title: "Known good results", columns, count: evidence.length, note: `${answer}${confidence}${more}`.trim(),
    cell: (row, column) => displayCell(columns[column], columns[column].of(evidence[row])),
  }, { nouns: ["result", "results"] }).box;
}

// Two systems on the same conversation, iteration by iteration, from where they part.
function trajectories(against, key) {
  const { systems, steps, evidence, divergence } = against;
  const length = Math.max(...steps.map((own) => own.length));
  const wrong = (step) => [step[6] ? `${step[6]} failed` : "", step[7] ? `${step[7]} unread` : ""].filter(Boolean).join(", ");
  const queries = (step) => (step ? step[0].map((query) => query || "(no query)").join("; ") + (wrong(step) ? ` [${wrong(step)}]` : "") : "–");
  const columns = [
    { name: "iteration", kind: "text", of: (i) => (i + 1 === divergence ? `${i + 1} (they part)` : String(i + 1)) },
    ...systems.flatMap((system, side) => [
      { name: system, kind: "text", roomy: true, of: (i) => queries(steps[side][i]) },
      { name: `${system}: new`, kind: "number", digits: 0, of: (i) => steps[side][i]?.[1] ?? null },
      { name: `${system}: repeats`, kind: "number", digits: 0, of: (i) => steps[side][i]?.[5] ?? null },
      { name: `${system}: good`, kind: "number", digits: 0, of: (i) => steps[side][i]?.[2] ?? null },
      { name: `${system}: gain so far`, kind: "number", digits: 2, of: (i) => steps[side][i]?.[4] ?? null },
    ]),
  ];
  const goodColumns = [
    { name: "good result", kind: "text", of: (e) => e[0] },
    { name: "gain", kind: "number", digits: 2, of: (e) => e[1] },
    ...systems.map((system, side) => ({ name: system, kind: "text", of: (e) => e[2 + side] ?? "never" })),
  ];
  const more = against.evidenceCount > evidence.length ? ` ${counted(against.evidenceCount - evidence.length, "more result")} left out.` : "";
  return element("section", { class: "trajectories", "aria-label": "Comparison of two systems" },
    element("h3", {}, userText(systems[0]), " and ", userText(systems[1]), " on this conversation"),
    element("p", {}, userText(against.sentences.join(" "))),
    narrowHeads(new DataTable({
      key: `${key}-steps`, title: "Iterations side by side", columns, count: length, note: "",
      cell: (row, column) => displayCell(columns[column], columns[column].of(row)),
    }, { nouns: ["iteration", "iterations"] }).box),
    evidence.length ? new DataTable({
      key: `${key}-found`, title: "Good results of either", columns: goodColumns, count: evidence.length, note: `Where each was first returned: iteration.search #rank.${more}`,
      cell: (row, column) => displayCell(goodColumns[column], goodColumns[column].of(evidence[row])),
    }, { nouns: ["result", "results"] }).box : null);
}

// Long names of columns take several lines rather than room from the texts.
function narrowHeads(box) {
  box.classList.add("narrow-heads");
  return box;
}

class Timeline {
  constructor(item, options) {
    Object.assign(this, { item, options });
    this.results = []; // every result with its place: iteration, search, rank
    item.iterations.forEach((iteration, i) => iteration.searches.forEach((search, s) => search.results.forEach((result, r) =>
      this.results.push({ ...result, place: `${i + 1}.${s + 1}.${r + 1}`, duplicates: [] }))));
    this.results.forEach((result, n) => {
      if (result.first !== undefined) this.results[result.first].duplicates.push(n);
    });
    let number = 0;
    const folded = item.iterations.length >= FOLDED_FROM;
    const step = (iteration, i) => {
      const content = [element("p", { class: "note" }, this.figures(iteration)), ...iteration.searches.map((search, s) => this.search(search, `${i + 1}.${s + 1}`, () => number++))];
      if (!folded) return [element("h3", {}, `Iteration ${i + 1}`), ...content];
      const queries = iteration.searches.map((search) => search.query || "(no query)").join("; ");
      return element("details", { class: "step" }, element("summary", {}, element("h3", {}, `Iteration ${i + 1}`), " ", userText(queries)), content);
    };
    this.box = element("div", { class: folded ? "timeline dense" : "timeline" }, this.strip(), this.legend(),
      element("ol", { class: "iterations" }, item.iterations.map((iteration, i) => element("li", {}, step(iteration, i)))),
      item.answer ? element("div", { class: "answer" }, element("h3", {}, "Answer"), element("p", {}, userText(item.answer))) : null);
  }

  figures(iteration) {
    const sum = (value) => iteration.searches.reduce((total, search) => total + value(search), 0);
    const unread = sum((search) => (search.unread ? 1 : 0));
    const results = sum((search) => search.results.length);
    return [counted(iteration.searches.length, "search", "searches"), unread ? `${number(unread, 0)} unread` : "", counted(results, "result"),
      counted(iteration.figures[FIGURES.good], "new good result"), counted(results - sum((search) => search.fresh), "duplicate"),
      `gain ${number(iteration.figures[FIGURES.gain], 2)}`, `cumulative gain ${number(iteration.figures[FIGURES.cumulativeGain], 2)}`].filter(Boolean).join(" · ");
  }

  // The conversation at a glance: a cell for each result, one line per iteration.
  strip() {
    let n = 0;
    return element("ol", { class: "strip", "aria-label": "Overview of all results" }, this.item.iterations.map((iteration, i) => element("li", {},
      element("span", { class: "strip-name" }, String(i + 1)),
      element("span", { class: "cells" }, iteration.searches.map((search) => element("span", { class: "search-cells" }, search.error || search.unread ? element("span", { class: "note" }, search.error ? "failed" : "unread") : null, search.results.map(() => {
        const at = n++;
        return element("button", { type: "button", class: `cell ${this.tone(at)}`, title: this.describe(at), "aria-label": this.describe(at), onclick: () => this.show(at) });
      })))))));
  }

  legend() {
    const sample = (tone, text) => element("span", { class: "sample" }, element("span", { class: `cell ${tone}`, "aria-hidden": "true" }), text);
    const { maxGain } = this.options;
    const steps = [0, 1, 2, 3, 4].map((level) => sample(`gain-${level}`, level === 0 ? "gain 0" : number((maxGain * level) / 4, Number.isInteger((maxGain * level) / 4) ? 0 : 1)));
    return element("p", { class: "note samples" }, steps, sample("unknown", "no label"), sample("gain-0 repeated", "duplicate"));
  }

  tone(n) {
    const { gain, first } = this.results[n];
    const colour = gain === undefined ? "unknown" : `gain-${gainLevel(gain, this.options.maxGain)}`;
    return first === undefined ? colour : `${colour} repeated`;
  }

  describe(n) {
    const { place, gain, first, title } = this.results[n];
    const label = gain === undefined ? "no label" : `gain ${this.gainText(gain)}`;
    return plain(`Result ${place}, ${label}${first === undefined ? "" : `, duplicate of ${this.results[first].place}`}: ${title ?? ""}`);
  }

  gainText(gain) {
    return number(gain, Number.isInteger(gain) ? 0 : 2);
  }

  search(search, place, next) {
    const facts = [search.tool ? userText(search.tool) : null,
      search.latency === null ? null : seconds(search.latency),
      search.tokens === null ? null : counted(search.tokens, "token"),
      search.cost === null ? null : `cost ${number(search.cost)}`].filter((fact) => fact !== null);
    return element("section", { class: "search", "aria-label": `Search ${place}` },
      element("div", { class: "search-head" },
        element("h4", {}, search.query ? userText(search.query) : "(no query)"),
        search.repeats ? element("span", { class: "badge" }, "repeated query") : null,
        element("span", { class: "note" }, facts.flatMap((fact, i) => (i ? [" · ", fact] : [fact])))),
      search.error ? element("p", { class: "warning" }, userText(search.error)) : null,
      search.unread ? element("p", { class: "warning" }, "unread: ", userText(search.unread)) : null,
      search.results.length
        ? element("ol", { class: "results" }, search.results.map(() => this.result(next())))
        : search.unread ? null : element("p", { class: "note" }, "No results."));
  }

  result(n) {
    const result = this.results[n];
    const { place, first, title, url, text, type, duplicates } = result;
    return element("li", { id: this.id(n), tabindex: "-1", class: first === undefined ? "result" : "result repeat" },
      element("span", { class: "place" }, place), this.badge(result),
      element("div", { class: "what" },
        element("div", {}, url ? webLink(url, title || url) : userText(title || "(no title)"), type ? element("span", { class: "note" }, " ", userText(type)) : null),
        url && url !== title ? element("div", { class: "address" }, userText(url)) : null,
        first === undefined ? (text ? element("p", { class: "snippet" }, userText(text)) : null) : this.reason(result),
        duplicates.length ? element("p", { class: "note" }, "Duplicated at ", duplicates.flatMap((m, i) => [i ? ", " : "", this.jump(m, `Go to duplicate ${this.results[m].place}`)])) : null));
  }

  badge({ gain }) {
    return gain === undefined
      ? element("span", { class: "gain unknown" }, "no label")
      : element("span", { class: `gain gain-${gainLevel(gain, this.options.maxGain)}`, title: gain >= this.options.threshold ? "good" : "not good" }, this.gainText(gain));
  }

  // Why the result is a duplicate, with a link to the first occurrence.
  reason({ first, why }) {
    const content = ["Duplicate of ", this.jump(first, `Go to the first occurrence ${this.results[first].place}`)];
    if (why) {
      const [key, step, fields, other] = why;
      content.push(". Shared key: ", userText(key), other === first ? "" : ` (with ${this.results[other].place})`,
        `; decided by step ${step}: ${STEPS[step]}`, fields ? [" (", userText(fields), ")"] : "", ".");
    }
    return element("p", { class: "reason" }, content);
  }

  jump(n, label, text = this.results[n].place) {
    return element("button", { type: "button", class: "open", "aria-label": label, onclick: () => this.show(n) }, text);
  }

  id(n) {
    return `${this.options.key}-result-${n}`;
  }

  show(n) {
    const target = this.box.querySelector(`#${CSS.escape(this.id(n))}`);
    for (const other of this.box.querySelectorAll(".target")) other.classList.remove("target");
    target.classList.add("target");
    reveal(target);
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "center" });
  }
}
