// Conversations: a table of all of them, and behind each a timeline of its iterations, searches and results.

const STEPS = { 1: "their ids agree", 2: "their addresses agree", 3: "what is compared of their type agrees", 4: "nothing else can be compared" };
const FIGURES = { gain: 0, all: 1, good: 2, duplicates: 3 };

widgets.conversations = function (part, box) {
  const items = block(part.key);
  const counts = items.map((item) => {
    const searches = item.iterations.flatMap((i) => i.searches);
    const last = item.iterations.at(-1);
    return {
      iterations: item.iterations.length, searches: searches.length,
      results: searches.reduce((sum, s) => sum + s.results.length, 0),
      duplicates: item.iterations.reduce((sum, i) => sum + i.figures[FIGURES.duplicates], 0),
      gain: last ? last.figures[FIGURES.all] : null,
    };
  });
  const count = (name, key = name) => ({ name, kind: "number", digits: 0, of: (row) => counts[row][key] });
  const columns = [
    { name: "conversation", kind: "text", of: (row) => items[row].name },
    ...(new Set(items.map((i) => i.system)).size > 1 ? [{ name: "system", kind: "text", of: (row) => items[row].system }] : []),
    { name: "question", kind: "text", of: (row) => items[row].user },
    count("iterations"), count("searches"), count("results"), count("duplicates"),
    { name: "good gain", kind: "number", digits: 2, help: "CG after the last iteration", of: (row) => counts[row].gain },
  ];
  const table = new DataTable({
    key: part.key, title: "Conversations", columns, count: items.length,
    cell: (row, column) => shownCell(columns[column], columns[column].of(row)),
    note: ["Choose a conversation to see its timeline.", part.note].filter(Boolean).join(" "),
  }, { open: (row) => detail.open(row), nouns: ["conversation", "conversations"] });
  const detail = new Detail(part.key, "conversation", {
    table: () => table, address: (row) => `#${part.key}=${row}`,
    title: (row) => ["Conversation ", userText(items[row].name), " of ", userText(items[row].system)],
    content: (row) => [
      items[row].user ? element("p", { class: "lead" }, userText(items[row].user)) : "",
      new Timeline(items[row], part).box,
    ],
  });
  box.append(table.box);
  const asked = new RegExp(`^#${part.key}=(\\d+)$`).exec(location.hash);
  if (asked && items[Number(asked[1])]) detail.open(Number(asked[1]));
};

class Timeline {
  constructor(item, part) {
    Object.assign(this, { item, part });
    this.seen = []; // every result, with its place: iteration, search, rank
    item.iterations.forEach((iteration, i) => iteration.searches.forEach((search, s) => search.results.forEach((result, r) =>
      this.seen.push({ ...result, place: `${i + 1}.${s + 1}.${r + 1}`, again: [] }))));
    this.seen.forEach((result, n) => {
      if (result.first !== undefined) this.seen[result.first].again.push(n);
    });
    let number = 0;
    this.box = element("div", { class: "timeline" }, this.strip(), this.legend(),
      element("ol", { class: "iterations" }, item.iterations.map((iteration, i) => element("li", {},
        element("h3", {}, `Iteration ${i + 1}`), element("p", { class: "note" }, this.figures(iteration)),
        iteration.searches.map((search, s) => this.search(search, `${i + 1}.${s + 1}`, () => number++))))),
      item.answer ? element("div", { class: "answer" }, element("h3", {}, "Answer"), element("p", {}, userText(item.answer))) : null);
  }

  figures(iteration) {
    const results = iteration.searches.reduce((sum, s) => sum + s.results.length, 0);
    const duplicates = iteration.figures[FIGURES.duplicates];
    return [counted(iteration.searches.length, "search", "searches"), counted(results, "result"),
      counted(iteration.figures[FIGURES.good], "new good one"), counted(duplicates, "duplicate"),
      `gain ${number(iteration.figures[FIGURES.gain], 2)}`, `${number(iteration.figures[FIGURES.all], 2)} so far`].join(" · ");
  }

  // The whole conversation at a glance: a cell for each result, iteration by iteration.
  strip() {
    let n = 0;
    return element("ol", { class: "strip", "aria-label": "All results at a glance" }, this.item.iterations.map((iteration, i) => element("li", {},
      element("span", { class: "strip-name" }, String(i + 1)),
      element("span", { class: "cells" }, iteration.searches.map((search) => element("span", { class: "cells-of" }, search.results.map(() => {
        const at = n++;
        return element("button", { type: "button", class: `cell ${this.tone(at)}`, title: this.told(at), "aria-label": this.told(at), onclick: () => this.show(at) });
      })))))));
  }

  legend() {
    const sample = (tone, text) => element("span", { class: "sample" }, element("span", { class: `cell ${tone}`, "aria-hidden": "true" }), text);
    const top = this.part.top;
    const steps = [0, 1, 2, 3, 4].map((level) => sample(`gain-${level}`, level === 0 ? "gain 0" : number((top * level) / 4, Number.isInteger((top * level) / 4) ? 0 : 1)));
    return element("p", { class: "note samples" }, steps, sample("unknown", "no label"), sample("gain-0 repeated", "seen before"));
  }

  tone(n) {
    const { gain, first } = this.seen[n];
    const colour = gain === undefined ? "unknown" : `gain-${gainLevel(gain, this.part.top)}`;
    return first === undefined ? colour : `${colour} repeated`;
  }

  told(n) {
    const { place, gain, first, title } = this.seen[n];
    const worth = gain === undefined ? "no label" : `gain ${this.shownGain(gain)}`;
    return plain(`Result ${place}, ${worth}${first === undefined ? "" : `, the same as ${this.seen[first].place}`}: ${title ?? ""}`);
  }

  shownGain(gain) {
    return number(gain, Number.isInteger(gain) ? 0 : 2);
  }

  search(search, place, next) {
    const facts = [search.tool ? userText(search.tool) : null,
      search.latency === null ? null : seconds(search.latency),
      search.tokens === null ? null : counted(search.tokens, "token"),
      search.cost === null ? null : `cost ${number(search.cost)}`].filter((fact) => fact !== null);
    return element("section", { class: "search", "aria-label": `Search ${place}` },
      element("div", { class: "asked" },
        element("h4", {}, search.query ? userText(search.query) : "(no query)"),
        search.repeats ? element("span", { class: "badge" }, "asked before") : null,
        element("span", { class: "note" }, facts.flatMap((fact, i) => (i ? [" · ", fact] : [fact])))),
      search.error ? element("p", { class: "warning" }, userText(search.error)) : null,
      search.results.length
        ? element("ol", { class: "results" }, search.results.map(() => this.result(next())))
        : element("p", { class: "note" }, "Nothing was found."));
  }

  result(n) {
    const result = this.seen[n];
    const { place, gain, first, title, url, text, type, again } = result;
    const badge = gain === undefined
      ? element("span", { class: "gain unknown" }, "no label")
      : element("span", { class: `gain gain-${gainLevel(gain, this.part.top)}`, title: gain >= this.part.threshold ? "good" : "not good" }, this.shownGain(gain));
    return element("li", { id: this.id(n), tabindex: "-1", class: first === undefined ? "result" : "result repeat" },
      element("span", { class: "place" }, place), badge,
      element("div", { class: "what" },
        element("div", {}, url ? webLink(url, title || url) : userText(title || "(nothing)"), type ? element("span", { class: "note" }, " ", userText(type)) : null),
        url && url !== title ? element("div", { class: "address" }, userText(url)) : null,
        first === undefined ? (text ? element("p", { class: "snippet" }, userText(text)) : null) : this.reason(result),
        again.length ? element("p", { class: "note" }, "again at ", again.flatMap((m, i) => [i ? ", " : "", this.jump(m, `Go to its repetition ${this.seen[m].place}`)])) : null));
  }

  // Why it counts as one that came before, and the way there.
  reason({ first, why }) {
    const parts = ["Seen before: the same as ", this.jump(first, `Go to the first occurrence ${this.seen[first].place}`)];
    if (why) {
      const [key, step, fields, other] = why;
      parts.push(". Both have the key ", userText(key), other === first ? "" : ` (as ${this.seen[other].place} has)`,
        `; step ${step} decided: ${STEPS[step]}`, fields ? [" (", userText(fields), ")"] : "", ".");
    }
    return element("p", { class: "reason" }, parts.flat());
  }

  jump(n, label) {
    return element("button", { type: "button", class: "open", "aria-label": label, onclick: () => this.show(n) }, this.seen[n].place);
  }

  id(n) {
    return `${this.part.key}-result-${n}`;
  }

  show(n) {
    const target = this.box.querySelector(`#${CSS.escape(this.id(n))}`);
    for (const other of this.box.querySelectorAll(".found")) other.classList.remove("found");
    target.classList.add("found");
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "center" });
  }
}
