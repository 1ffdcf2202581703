// Queries: a table of all queries, and for each query its ranked lists side by side. The address holds what is selected.

widgets.queries = function (options, box) {
  const data = block("queries");
  const values = data.values.map((measures) => measures.map(numbers));
  new Queries(data, values, box, options);
};

function capitalised(text) {
  return text[0].toUpperCase() + text.slice(1);
}

const EPSILON = 1e-12; // smaller differences are rounding errors

// Of 0 to 4, by the share of the largest.
function heatLevel(value, largest) {
  return Number.isNaN(value) || !largest ? 0 : Math.min(4, Math.ceil((4 * Math.abs(value)) / largest - 1e-9));
}

class Queries {
  constructor(data, values, box, { note, hasLists }) {
    Object.assign(this, { data, values, box, note, hasLists });
    const { words, relevant, unjudged, top, repeated } = data.facts;
    const each = (columns) => columns.map((column) => column && numbers(column));
    this.known = { words: words && numbers(words), relevant: relevant && numbers(relevant), unjudged: each(unjudged), top: each(top), repeated: each(repeated) };
    this.place = element("div");
    box.append(this.place);
    this.detail = new Detail("query", data.nouns[0], {
      table: () => this.table, value: (row) => data.units[row],
      row: (value) => {
        const row = data.units.findIndex((unit) => unit.toWellFormed() === value);
        return row < 0 ? undefined : row;
      },
      title: (row) => [capitalised(data.nouns[0]) + " ", userText(data.units[row])], content: (row) => queryContent(this, row),
    });
    this.follow();
    addEventListener("hashchange", () => this.follow(true));
  }

  // Show what the address says. After a link to filtered queries, their table is where the reader looks.
  follow(isLink = false) {
    const all = parameters();
    if (this.signature() !== this.followed) {
      this.followed = this.signature();
      this.read(all);
      this.draw();
      if (isLink && !all.has("query") && QUERY_PARAMETERS.some((name) => all.has(name))) {
        reveal(this.place);
        this.place.scrollIntoView();
      }
    }
    this.detail.follow();
  }

  // What the address says of the table.
  signature() {
    const all = parameters();
    return QUERY_PARAMETERS.map((name) => all.getAll(name).join("\u0000")).join("\u0001");
  }

  // Note in the address what the table shows already.
  record(changes) {
    Object.assign(this.state, changes);
    setAddress(changes);
    this.followed = this.signature();
  }

  read(all) {
    const { data } = this;
    const measure = data.measures.findIndex((m) => m.name === all.get("measure"));
    this.measure = Math.max(0, measure);
    const chosen = [...new Set(all.getAll("system").map((name) => data.systems.indexOf(name)))].filter((s) => s >= 0).slice(0, MAX_SYSTEMS);
    this.isChosen = chosen.length > 0;
    this.systems = this.isChosen ? chosen : data.selected;
    this.state = Object.fromEntries(["group", "words", "relevant", "unjudged", "outcome", "top", "repeated", "search", "sort"].map((name) => [name, all.get(name)]));
  }

  // Change the address, and show what it says.
  go(changes, focus) {
    setAddress(changes);
    this.follow();
    if (focus) this.place.querySelector(focus)?.focus();
  }

  choose(systems) {
    const { data } = this;
    const isDefault = systems.length === data.selected.length && systems.every((s, i) => s === data.selected[i]);
    const names = isDefault ? null : systems.map((s) => data.systems[s]);
    this.go({ system: names, outcome: null, top: null, repeated: null, sort: null });
  }

  // Differences are shown from a baseline, or from the first of the systems that the reader chose.
  get reference() {
    return this.systems.length > 1 && (this.isChosen || this.data.baseline !== null) ? this.systems[0] : null;
  }

  get others() {
    return this.reference === null ? [] : this.systems.slice(1);
  }

  difference(row, system, measure = this.measure) {
    return this.values[system][measure][row] - this.values[this.reference][measure][row];
  }

  // What is known of a row: {name: (row) => number}, without what is not known of any.
  get facts() {
    const { words, relevant, unjudged } = this.known;
    const shares = this.systems.map((s) => unjudged[s]);
    const mean = (row) => shares.reduce((sum, own) => sum + own[row], 0) / shares.length;
    return { words: words && ((row) => words[row]), relevant: relevant && ((row) => relevant[row]), unjudged: shares.every(Boolean) && mean };
  }

  // Counts of the other systems minus those of the reference, where both are known: {name: Map of system to (row) => number}.
  get counts() {
    const from = this.reference;
    const all = Object.keys(COUNTS).map((name) => {
      const own = this.known[name];
      const both = from === null || !own[from] ? [] : this.others.filter((s) => own[s]);
      return [name, both.length ? new Map(both.map((s) => [this.data.systems[s], (row) => own[s][row] - own[from][row]])) : null];
    });
    return Object.fromEntries(all);
  }

  columns() {
    const { data, values, facts } = this;
    const columns = [{ key: "query", name: data.nouns[0], kind: "text", of: (row) => data.units[row] }];
    if (data.texts) columns.push({ key: "text", name: "text", kind: "text", wide: true, of: (row) => data.texts[row] });
    if (data.group) columns.push({ key: "group", name: data.group.name, kind: "text", of: (row) => data.group.values[row] });
    const { help } = data.measures[this.measure];
    const largest = Math.max(...this.systems.map((s) => values[s][this.measure].reduce((most, v) => (Math.abs(v) > most ? Math.abs(v) : most), 0)));
    for (const s of this.systems)
      columns.push({ key: `value:${data.systems[s]}`, name: data.systems[s], short: data.shorts[s], kind: "number", help, of: (row) => values[s][this.measure][row], largest });
    for (const s of this.others)
      columns.push({ key: `change:${data.systems[s]}`, name: `${data.systems[s]} - ${data.systems[this.reference]}`, short: `${data.shorts[s]} - ${data.shorts[this.reference]}`, kind: "number", signed: true, system: s, of: (row) => this.difference(row, s), largest });
    for (const [name, { title, help: meaning, digits }] of Object.entries(RANGES))
      if (facts[name]) columns.push({ key: name, name: title, help: meaning, kind: "number", digits, of: name === "unjudged" ? (row) => 100 * facts[name](row) : facts[name] });
    return columns;
  }

  // The order that the address names; without one the worst regressions come first.
  sorting(columns) {
    const { sort } = this.state;
    const at = (key) => columns.findIndex((c) => c.key === key);
    if (sort) {
      const key = sort.replace(/^-/, "");
      const column = at(key === "change" && this.others.length ? `change:${this.data.systems[this.others[0]]}` : key);
      if (column >= 0) return { column, down: sort.startsWith("-") };
    }
    const worst = this.others.length ? at(`change:${this.data.systems[this.firstOther]}`) : -1;
    return worst < 0 ? null : { column: worst, down: this.data.measures[this.measure].lower };
  }

  // The system whose regressions come first: the best of the others at first, then the second that was chosen.
  get firstOther() {
    return !this.isChosen && this.others.includes(this.data.best) ? this.data.best : this.others[0];
  }

  draw() {
    const { data, state } = this;
    const columns = this.columns();
    const { lower } = data.measures[this.measure];
    const tone = (column, value) => {
      if (column.system === undefined || Math.abs(value) <= EPSILON || Number.isNaN(value)) return "";
      return value > 0 !== lower ? "better" : "worse";
    };
    const table = {
      key: "queries", title: `All ${data.nouns[1]}`, columns, count: data.units.length,
      value: (row, column) => columns[column].of(row),
      cell: (row, column) => {
        const value = columns[column].of(row);
        const { unit } = data.measures[this.measure];
        const own = unit !== null && columns[column].largest !== undefined ? { value, text: amount(value, unit, columns[column].signed) } : value;
        return { ...displayCell(columns[column], own), tone: tone(columns[column], value), heat: columns[column].largest && heatLevel(value, columns[column].largest) };
      },
      note: [`Select a ${data.nouns[0]} to see its values${this.hasLists ? " and ranked lists" : ""}. Colours grow with the size of a value or a difference.`, this.note].filter(Boolean).join(" "),
    };
    const facts = new Ranges(this.facts, this.counts, state, (name, text) => this.go({ [name]: text }, ".ranges summary"));
    const filters = [this.measureChoice(), ...this.filters(), ...(facts.isEmpty ? [] : [facts.filter()])];
    this.table = new DataTable(table, {
      open: (row) => this.detail.open(row), filters, nouns: data.nouns, sorted: this.sorting(columns), searched: state.search ?? "",
      changed: ({ search, sorted }) => {
        const changes = { search: search.value.trim() || null };
        if (sorted && (this.state.sort || sorted !== this.initial)) changes.sort = (sorted.down ? "-" : "") + columns[sorted.column].key;
        this.record(changes);
      },
    });
    this.initial = this.table.sorted;
    const picker = systemPicker(data.systems, this.systems, (systems, i) => {
      this.choose(systems);
      this.place.querySelectorAll(".picker select")[Math.min(i, this.systems.length)]?.focus();
    });
    if (picker) this.table.box.querySelector(".bar").after(picker);
    this.table.box.classList.add("tall");
    this.place.replaceChildren(this.table.box);
  }

  measureChoice() {
    const { measures } = this.data;
    const select = choice("Measure", measures.map((m, i) => [String(i), m.title]), String(this.measure),
      (value) => this.go({ measure: Number(value) ? measures[Number(value)].name : null, sort: null }, "[aria-label=Measure]"));
    return { element: select, active: () => false };
  }

  filters() {
    const { data, state } = this;
    const filters = [];
    if (this.others.length) {
      const sign = data.measures[this.measure].lower ? -1 : 1;
      const tests = { better: (d) => sign * d > EPSILON, worse: (d) => -sign * d > EPSILON, equal: (d) => Math.abs(d) <= EPSILON };
      const kinds = this.others.flatMap((s) => OUTCOMES.map((kind) => ({ key: `${kind}:${data.systems[s]}`, text: `${data.shorts[s]} ${kind}`, keep: (row) => tests[kind](this.difference(row, s)) })));
      const current = OUTCOMES.includes(state.outcome) ? `${state.outcome}:${data.systems[this.others[0]]}` : state.outcome;
      const at = kinds.findIndex(({ key }) => key === current);
      const select = choice("Filter by difference", [["", "All differences"], ...kinds.map(({ text }, i) => [String(i), text])], at < 0 ? "" : String(at),
        (value) => this.record({ outcome: value === "" ? null : kinds[Number(value)].key }));
      filters.push({ element: select, active: () => select.value !== "", keep: (row) => kinds[Number(select.value)].keep(row) });
    }
    if (data.group) {
      const names = [...new Set(data.group.values)].sort(byText.compare);
      const select = choice(`Filter by ${data.group.name}`, [["", `Any ${data.group.name}`], ...names.map((n, i) => [String(i), n || "(no group)"])],
        names.includes(state.group) ? String(names.indexOf(state.group)) : "", (value) => this.record({ group: value === "" ? null : names[Number(value)] }));
      filters.push({ element: select, active: () => select.value !== "", keep: (row) => data.group.values[row] === names[Number(select.value)] });
    }
    return filters;
  }

  // The ranked lists, parsed when the first query is opened.
  get lists() {
    if (this.parsedLists === undefined) this.parsedLists = block("lists") && new Lists(block("lists"), this.data);
    return this.parsedLists;
  }
}
