// Queries: a table of all of them, and behind each its ranked lists side by side.

widgets.queries = function (part, box) {
  const data = block("queries");
  const values = data.values.map((measures) => measures.map(numbers));
  new Queries(data, values, box, part.note);
};

// The part of an address that opens a query.
function address(unit) {
  return "#query=" + encodeURIComponent(unit.toWellFormed());
}

const SHARPEST = 1e-12; // smaller differences are rounding

class Queries {
  constructor(data, values, box, note) {
    Object.assign(this, { data, values, box, note });
    this.measure = 0;
    this.place = element("div");
    box.append(this.place);
    this.draw();
    this.detail = new Detail("query", "query", {
      table: () => this.table, address: (row) => address(data.units[row]),
      title: (row) => ["Query ", userText(data.units[row])], content: (row) => queryContent(this, row),
    });
    const asked = location.hash.startsWith("#query=");
    const row = asked ? data.units.findIndex((unit) => location.hash === address(unit)) : -1;
    if (row >= 0) this.detail.open(row);
  }

  difference(row, system, measure = this.measure) {
    return this.values[system][measure][row] - this.values[this.data.baseline][measure][row];
  }

  // Which systems are compared with the baseline: all but itself.
  get others() {
    return this.data.systems.map((_, i) => i).filter((i) => i !== this.data.baseline);
  }

  draw() {
    const { data, values } = this;
    const columns = [{ name: "query", kind: "text", of: (row) => data.units[row] }];
    if (data.texts) columns.push({ name: "text", kind: "text", wide: true, of: (row) => data.texts[row] });
    if (data.group) columns.push({ name: data.group.name, kind: "text", of: (row) => data.group.values[row] });
    data.systems.forEach((name, s) => columns.push({ name, kind: "number", help: data.measures[this.measure].help, of: (row) => values[s][this.measure][row] }));
    if (data.baseline !== null)
      for (const s of this.others)
        columns.push({ name: `${data.systems[s]} − ${data.systems[data.baseline]}`, kind: "number", signed: true, system: s, of: (row) => this.difference(row, s) });
    const lower = data.measures[this.measure].lower;
    const toned = (column, value) => {
      if (column.system === undefined || Math.abs(value) <= SHARPEST || Number.isNaN(value)) return "";
      return value > 0 !== lower ? "better" : "worse";
    };
    const table = {
      key: "queries", title: "Every query", columns, count: data.units.length,
      value: (row, column) => columns[column].of(row),
      cell: (row, column) => {
        const value = columns[column].of(row);
        return { ...shownCell(columns[column], value), tone: toned(columns[column], value) };
      },
      note: `Choose a query to see what is behind its numbers. ${this.note} Printed are the rows that are shown.`,
    };
    const filters = [this.measureChoice(), ...this.filters()];
    this.table = new DataTable(table, { open: (row) => this.detail.open(row), filters, nouns: ["query", "queries"], sorted: this.sorted });
    this.place.replaceChildren(this.table.box);
  }

  choice(label, texts, selected = 0) {
    return element("select", { "aria-label": label }, texts.map((text, i) => element("option", { value: String(i), selected: i === selected }, plain(text))));
  }

  measureChoice() {
    const select = this.choice("Measure", this.data.measures.map((m) => m.name), this.measure);
    select.addEventListener("change", () => {
      this.measure = Number(select.value);
      this.draw();
      this.place.querySelector("select").focus();
    });
    return { element: select, active: () => false };
  }

  filters() {
    const { data } = this;
    const found = [];
    if (data.baseline !== null) {
      const lower = data.measures[this.measure].lower;
      const better = (d) => (lower ? -d : d) > SHARPEST;
      const kinds = this.others.flatMap((s) => [
        [`${data.systems[s]} better`, (row) => better(this.difference(row, s))],
        [`${data.systems[s]} worse`, (row) => better(-this.difference(row, s))],
        [`${data.systems[s]} the same`, (row) => Math.abs(this.difference(row, s)) <= SHARPEST],
      ]);
      const select = this.choice("Filter by difference", ["All differences", ...kinds.map(([name]) => name)]);
      found.push({ element: select, active: () => select.value !== "0", keep: (row) => kinds[Number(select.value) - 1][1](row) });
    }
    if (data.group) {
      const names = [...new Set(data.group.values)].sort(byText.compare);
      const select = this.choice(`Filter by ${data.group.name}`, [`All of ${data.group.name}`, ...names.map((n) => n || "(no group)")]);
      found.push({ element: select, active: () => select.value !== "0", keep: (row) => data.group.values[row] === names[Number(select.value) - 1] });
    }
    return found;
  }

  // The ranked lists, read when the first query is opened.
  get lists() {
    if (this.readLists === undefined) this.readLists = block("lists") && new Lists(block("lists"), this.data);
    return this.readLists;
  }
}
