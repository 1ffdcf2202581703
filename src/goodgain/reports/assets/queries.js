// Queries: a table of all queries, and for each query its ranked lists side by side.

widgets.queries = function (options, box) {
  const data = block("queries");
  const values = data.values.map((measures) => measures.map(numbers));
  new Queries(data, values, box, options);
};

// The URL fragment that opens a query.
function address(unit) {
  return "#query=" + encodeURIComponent(unit.toWellFormed());
}

function capitalised(text) {
  return text[0].toUpperCase() + text.slice(1);
}

const EPSILON = 1e-12; // smaller differences are rounding errors

class Queries {
  constructor(data, values, box, { note, hasLists }) {
    Object.assign(this, { data, values, box, note, hasLists });
    this.measure = 0;
    this.place = element("div");
    box.append(this.place);
    this.draw();
    this.detail = new Detail("query", data.nouns[0], {
      table: () => this.table, address: (row) => address(data.units[row]),
      title: (row) => [capitalised(data.nouns[0]) + " ", userText(data.units[row])], content: (row) => queryContent(this, row),
    });
    const hasQuery = location.hash.startsWith("#query=");
    const row = hasQuery ? data.units.findIndex((unit) => location.hash === address(unit)) : -1;
    if (row >= 0) this.detail.open(row);
  }

  difference(row, system, measure = this.measure) {
    return this.values[system][measure][row] - this.values[this.data.baseline][measure][row];
  }

  // The systems other than the baseline.
  get others() {
    return this.data.systems.map((_, i) => i).filter((i) => i !== this.data.baseline);
  }

  draw() {
    const { data, values } = this;
    const columns = [{ name: data.nouns[0], kind: "text", of: (row) => data.units[row] }];
    if (data.texts) columns.push({ name: "text", kind: "text", wide: true, of: (row) => data.texts[row] });
    if (data.group) columns.push({ name: data.group.name, kind: "text", of: (row) => data.group.values[row] });
    data.systems.forEach((name, s) => columns.push({ name, kind: "number", help: data.measures[this.measure].help, of: (row) => values[s][this.measure][row] }));
    if (data.baseline !== null)
      for (const s of this.others)
        columns.push({ name: `${data.systems[s]} − ${data.systems[data.baseline]}`, kind: "number", signed: true, system: s, of: (row) => this.difference(row, s) });
    const lower = data.measures[this.measure].lower;
    const tone = (column, value) => {
      if (column.system === undefined || Math.abs(value) <= EPSILON || Number.isNaN(value)) return "";
      return value > 0 !== lower ? "better" : "worse";
    };
    const table = {
      key: "queries", title: `All ${data.nouns[1]}`, columns, count: data.units.length,
      value: (row, column) => columns[column].of(row),
      cell: (row, column) => {
        const value = columns[column].of(row);
        return { ...displayCell(columns[column], value), tone: tone(columns[column], value) };
      },
      note: [`Select a ${data.nouns[0]} to see its values${this.hasLists ? " and ranked lists" : ""}.`, this.note, "Printing includes only the visible rows."].filter(Boolean).join(" "),
    };
    const filters = [this.measureChoice(), ...this.filters()];
    this.table = new DataTable(table, { open: (row) => this.detail.open(row), filters, nouns: data.nouns, sorted: this.sorted });
    this.place.replaceChildren(this.table.box);
  }

  choice(label, texts, selected = 0) {
    return element("select", { "aria-label": label }, texts.map((text, i) => element("option", { value: String(i), selected: i === selected }, plain(text))));
  }

  measureChoice() {
    const select = this.choice("Measure", this.data.measures.map((m) => m.title), this.measure);
    select.addEventListener("change", () => {
      this.measure = Number(select.value);
      this.draw();
      this.place.querySelector("select").focus();
    });
    return { element: select, active: () => false };
  }

  filters() {
    const { data } = this;
    const filters = [];
    if (data.baseline !== null) {
      const lower = data.measures[this.measure].lower;
      const better = (d) => (lower ? -d : d) > EPSILON;
      const kinds = this.others.flatMap((s) => [
        [`${data.systems[s]} better`, (row) => better(this.difference(row, s))],
        [`${data.systems[s]} worse`, (row) => better(-this.difference(row, s))],
        [`${data.systems[s]} equal`, (row) => Math.abs(this.difference(row, s)) <= EPSILON],
      ]);
      const select = this.choice("Filter by difference", ["All differences", ...kinds.map(([name]) => name)]);
      filters.push({ element: select, active: () => select.value !== "0", keep: (row) => kinds[Number(select.value) - 1][1](row) });
    }
    if (data.group) {
      const names = [...new Set(data.group.values)].sort(byText.compare);
      const select = this.choice(`Filter by ${data.group.name}`, [`Any ${data.group.name}`, ...names.map((n) => n || "(no group)")]);
      filters.push({ element: select, active: () => select.value !== "0", keep: (row) => data.group.values[row] === names[Number(select.value) - 1] });
    }
    return filters;
  }

  // The ranked lists, parsed when the first query is opened.
  get lists() {
    if (this.parsedLists === undefined) this.parsedLists = block("lists") && new Lists(block("lists"), this.data);
    return this.parsedLists;
  }
}
