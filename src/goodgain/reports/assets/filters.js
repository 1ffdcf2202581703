// The filters of the table of queries, and the choice of the systems that stand side by side.

const MAX_SYSTEMS = 4;
const OUTCOMES = ["better", "worse", "equal"];
const RANGES = {
  words: { title: "words", help: "words of the query", digits: 0 },
  relevant: { title: "relevant", help: "relevant documents: judged, with a gain above 0", digits: 0 },
  unjudged: { title: "unjudged %", help: "unjudged among the first ten results of the selected systems, in percent", digits: 0 },
};
const COUNTS = { top: "relevant in the first ten", repeated: "repeated texts in the first ten" };
const SIDES = { more: (d) => d > 0, fewer: (d) => d < 0, equal: (d) => d === 0 };

function choice(label, options, selected, onchange) {
  return element("select", { "aria-label": label, onchange: (event) => onchange(event.target.value) },
    options.map(([value, text]) => element("option", { value, selected: value === selected }, plain(text))));
}

// One select for each selected system and one to add another. `change(systems)` gets the new selection.
function systemPicker(names, selected, change) {
  if (names.length < 2) return null;
  const slots = [...selected, ...(selected.length < Math.min(MAX_SYSTEMS, names.length) ? [null] : [])];
  const label = (i) => (i === 0 ? "Reference system" : slots[i] === null ? "Add a system" : `System ${i + 1}`);
  const pick = (i) => choice(label(i), [
    ...(slots[i] === null ? [["", "add a system"]] : i > 0 ? [["", "(remove)"]] : []),
    ...names.map((name, s) => [String(s), name]).filter(([s]) => Number(s) === slots[i] || i === 0 || !selected.includes(Number(s))),
  ], slots[i] === null ? "" : String(slots[i]), (value) => {
    const systems = [...selected];
    const other = value === "" ? -1 : systems.indexOf(Number(value));
    if (value === "") systems.splice(i, 1);
    else if (other >= 0) [systems[i], systems[other]] = [systems[other], systems[i]]; // the reference takes the place of another
    else systems[i] = Number(value);
    change(systems, i);
  });
  return element("div", { class: "picker", role: "group", "aria-label": "Systems side by side" }, slots.map((_, i) => [
    i === 1 ? element("span", { class: "quiet-text" }, "against") : null, pick(i)]).flat());
}

// A lowest and a highest value of each known fact, and counts that differ between two systems, in one menu.
class Ranges {
  // `facts` are {name: (row) => number}; `counts` {name: Map of a system to (row) => difference from the
  // reference}, the first of which is meant where none is named; `changed(name, text)` is called with the text that the address has.
  constructor(facts, counts, current, changed) {
    Object.assign(this, { facts, counts });
    this.sides = new Map(Object.keys(COUNTS).filter((name) => counts[name]).map((name) => [name, this.side(name, current[name])]).filter(([, side]) => side));
    this.current = new Map(Object.keys(RANGES).filter((name) => facts[name] && range(current[name])).map((name) => [name, range(current[name])]));
    this.changed = changed;
    this.menu = element("details", { class: "menu ranges", onkeydown: (event) => {
      if (event.key !== "Escape" || !this.menu.open) return;
      this.menu.open = false;
      this.menu.firstElementChild.focus();
      event.stopPropagation();
    } }, element("summary", {}, this.title), element("div", { class: "menu-items" }, this.names.map((name) => this.line(name)),
      Object.keys(COUNTS).filter((name) => counts[name]).map((name) => this.countLine(name))));
  }

  // "more", or "more:NAME", as {kind, system}; null if it is neither.
  side(name, text) {
    const [, kind, own] = /^(more|fewer|equal)(?::(.*))?$/s.exec(text ?? "") ?? [];
    const system = own ?? [...this.counts[name].keys()][0];
    return kind && this.counts[name].has(system) ? { kind, system } : null;
  }

  countLine(name) {
    const systems = [...this.counts[name].keys()];
    const kinds = systems.flatMap((system) => Object.keys(SIDES).map((kind) => [`${kind}:${system}`, systems.length > 1 ? `${kind} in ${system}` : kind]));
    const side = this.sides.get(name);
    return element("label", { class: "range" }, element("span", {}, COUNTS[name]),
      choice(COUNTS[name], [["", "any"], ...kinds], side ? `${side.kind}:${side.system}` : "", (value) => this.changed(name, value || null)));
  }

  get names() {
    return Object.keys(RANGES).filter((name) => this.facts[name]);
  }

  get isEmpty() {
    return !this.names.length && !Object.values(this.counts).some(Boolean);
  }

  get title() {
    const count = this.current.size + this.sides.size;
    return count ? `Filters (${count})` : "Filters";
  }

  line(name) {
    const { title, help } = RANGES[name];
    const scale = name === "unjudged" ? 100 : 1;
    const [low, high] = this.current.get(name) ?? [-Infinity, Infinity];
    const box = (label, value) => element("input", {
      type: "number", min: 0, max: name === "unjudged" ? 100 : null, step: "any", "aria-label": `${label} ${title}`,
      value: Number.isFinite(value) ? Number((value * scale).toPrecision(6)) : null, onchange: (event) => {
        event.stopPropagation();
        const [from, to] = [first, last].map((input) => (input.value === "" ? "" : String(Number(input.value) / scale)));
        this.changed(name, from || to ? `${from}..${to}` : null);
      },
    });
    const first = box("Lowest", low);
    const last = box("Highest", high);
    return element("div", { class: "range", title: help }, element("span", {}, title), first, element("span", {}, "to"), last);
  }

  filter() {
    const tests = [...this.current].map(([name, [low, high]]) => (row) => {
      const value = this.facts[name](row);
      return value >= low - 1e-6 && value <= high + 1e-6; // not known is not within
    });
    for (const [name, { kind, system }] of this.sides) tests.push((row) => SIDES[kind](this.counts[name].get(system)(row)));
    return { element: this.menu, active: () => tests.length > 0, keep: (row) => tests.every((test) => test(row)) };
  }
}
