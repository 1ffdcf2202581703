// Tables that sort, search, filter, turn pages and can be taken away.
//
// A table is {key, title, note, columns, count, cell}: `cell(row, column)` gives {value, text, mark, best},
// and `value(row, column)`, where there is one, only the value: for sorting many rows. Rows are shown a page at a
// time, so that ten thousand of them cost no more than a few; a screen reader meets an ordinary table.

const PAGE_ROWS = 25;
const SEARCH_FROM = 12;
const byText = new Intl.Collator("en", { numeric: true });

function shownCell(column, raw) {
  const cell = raw !== null && typeof raw === "object" ? raw : { value: raw };
  const value = cell.value ?? null;
  const text = cell.text ?? (column.kind === "text" ? String(value ?? "–") : number(value, column.digits ?? 4, column.signed));
  return { mark: "", best: false, ...cell, value, text };
}

// The plain tables of a section: their rows stand in the page.
function tableOfRows(part) {
  return {
    ...part,
    count: part.rows.length,
    value: (row, column) => {
      const raw = part.rows[row][column];
      return raw !== null && typeof raw === "object" ? raw.value : raw;
    },
    cell: (row, column) => shownCell(part.columns[column], part.rows[row][column]),
  };
}

// A column that is `wide` takes the room that the others leave.
function cellClass(column) {
  return (column.kind === "text" ? "text" : "number") + (column.wide ? " wide" : "");
}

class DataTable {
  // `options`: open(row), called when a row's first cell is chosen; filters: [{element, active(), keep(row)}];
  // nouns: what a row is, one and several; search: false for none. A column may `draw(row, cell)` its own content.
  constructor(table, options = {}) {
    this.table = table;
    this.open = options.open;
    this.filters = options.filters ?? [];
    this.nouns = options.nouns ?? ["row", "rows"];
    this.sorted = options.sorted ?? null;
    this.searches = options.search ?? true;
    this.orders = new Map();
    this.page = 0;
    this.order = null;
    this.box = this.build();
    this.refresh();
  }

  build() {
    const { table } = this;
    this.head = element("tr");
    this.body = element("tbody");
    this.buttons = table.columns.map((column, i) => {
      const button = element("button", { type: "button", class: "sort", title: column.help, onclick: () => this.sortBy(i) }, userText(column.name));
      this.head.append(element("th", { scope: "col", class: cellClass(column) }, button));
      return button;
    });
    this.status = element("p", { class: "status", role: "status" });
    this.pager = element("nav", { class: "pager", "aria-label": `Pages: ${table.title}` });
    const many = table.count >= SEARCH_FROM && this.searches;
    this.search = element("input", {
      type: "search", placeholder: "Search", "aria-label": `Search: ${table.title}`, autocomplete: "off", spellcheck: "false",
      oninput: () => this.changed(),
    });
    for (const filter of this.filters) filter.element.addEventListener("change", () => this.changed());
    const grid = element("table", {}, element("caption", { class: "hidden" }, table.title), element("thead", {}, this.head), this.body);
    return element("div", { class: "table", id: `table-${table.key}` },
      element("div", { class: "bar" },
        element("h3", {}, table.title),
        element("div", { class: "tools" }, many ? this.search : null, this.filters.map((f) => f.element),
          exportMenu(table.key, table.title, () => this.everything()))),
      element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": table.title }, grid),
      element("div", { class: "bar foot" }, this.status, this.pager),
      table.note ? element("p", { class: "note" }, table.note) : null);
  }

  value(row, column) {
    return this.table.value ? this.table.value(row, column) : this.table.cell(row, column).value;
  }

  // All rows in the order of a column, once; the other direction is the same backwards.
  ordered(column) {
    if (!this.orders.has(column)) {
      const { count, columns } = this.table;
      const rows = Array.from({ length: count }, (_, i) => i);
      const values = rows.map((row) => this.value(row, column));
      const known = (v) => v !== null && v !== undefined && !Number.isNaN(v);
      const there = rows.filter((row) => known(values[row]));
      const compare = columns[column].kind === "text"
        ? (a, b) => byText.compare(values[a], values[b]) || a - b
        : (a, b) => values[a] - values[b] || a - b;
      this.orders.set(column, [there.sort(compare), rows.filter((row) => !known(values[row]))]);
    }
    return this.orders.get(column);
  }

  sortBy(column) {
    const numeric = this.table.columns[column].kind !== "text";
    const same = this.sorted && this.sorted.column === column;
    this.sorted = { column, down: same ? !this.sorted.down : numeric };
    this.changed();
  }

  haystack(row) {
    this.haystacks ??= [];
    return (this.haystacks[row] ??= this.table.columns
      .map((c, i) => (c.kind === "text" ? String(this.value(row, i) ?? "") : "")).join("\n").toLowerCase());
  }

  changed() {
    this.page = 0;
    this.refresh();
  }

  refresh() {
    const { count } = this.table;
    let rows;
    if (this.sorted) {
      const [known, unknown] = this.ordered(this.sorted.column);
      rows = (this.sorted.down ? known.toReversed() : known).concat(unknown);
    } else rows = Array.from({ length: count }, (_, i) => i);
    const wanted = this.search.value.trim().toLowerCase();
    if (wanted) rows = rows.filter((row) => this.haystack(row).includes(wanted));
    for (const filter of this.filters) if (filter.active()) rows = rows.filter((row) => filter.keep(row));
    this.order = rows;
    this.buttons.forEach((button, i) => {
      const on = this.sorted && this.sorted.column === i;
      const heading = button.parentElement;
      if (on) heading.setAttribute("aria-sort", this.sorted.down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    this.draw();
  }

  draw() {
    const { columns } = this.table;
    const pages = Math.max(1, Math.ceil(this.order.length / PAGE_ROWS));
    this.page = Math.min(this.page, pages - 1);
    const rows = this.order.slice(this.page * PAGE_ROWS, (this.page + 1) * PAGE_ROWS);
    this.body.replaceChildren(...rows.map((row) => {
      const line = element("tr");
      columns.forEach((column, i) => line.append(this.drawCell(row, column, i)));
      return line;
    }));
    const first = this.page * PAGE_ROWS;
    const all = this.order.length === this.table.count;
    const of = all ? counted(this.table.count, ...this.nouns) : `${this.order.length.toLocaleString("en-US")} of ${counted(this.table.count, ...this.nouns)}`;
    this.status.textContent = pages > 1 ? `${first + 1}–${first + rows.length} of ${of}` : (this.table.count >= SEARCH_FROM && this.searches) || !all ? of : "";
    this.drawPager(pages);
  }

  drawCell(row, column, i) {
    const cell = this.table.cell(row, i);
    if (column.draw) return element(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: cellClass(column) }, column.draw(row, cell));
    const text = column.kind === "text" ? userText(cell.text) : document.createTextNode(cell.text);
    const content = cell.link ? webLink(cell.link, cell.text) : cell.best ? element("strong", {}, text) : text;
    const inner = i === 0 && this.open
      ? element("button", { type: "button", class: "open", onclick: () => this.open(row, this) }, content)
      : content;
    const span = column.interval && cell.low !== undefined
      ? element("span", { class: "span" }, `${number(cell.low, column.digits, column.signed)} to ${number(cell.high, column.digits, column.signed)}`)
      : null;
    const mark = cell.mark ? element("sup", {}, cell.mark) : null;
    const best = cell.best ? element("span", { class: "hidden" }, " (best)") : null;
    const kind = cellClass(column);
    const tone = cell.tone ? " " + cell.tone : "";
    return i === 0
      ? element("th", { scope: "row", class: kind }, inner, mark, best, span)
      : element("td", { class: kind + tone }, inner, mark, best, span);
  }

  drawPager(pages) {
    if (pages === 1) return this.pager.replaceChildren();
    const step = (text, label, page) =>
      element("button", { type: "button", "aria-label": label, disabled: page < 0 || page >= pages || page === this.page, onclick: () => this.turn(page, label) }, text);
    this.pager.replaceChildren(
      step("«", "First page", 0), step("‹", "Previous page", this.page - 1),
      element("span", {}, `${this.page + 1} / ${pages.toLocaleString("en-US")}`),
      step("›", "Next page", this.page + 1), step("»", "Last page", pages - 1));
  }

  turn(page, label) {
    this.page = page;
    this.draw();
    const again = this.pager.querySelector(`[aria-label="${label}"]:not(:disabled)`) ?? this.pager.querySelector("button:not(:disabled)");
    if (again) again.focus();
  }

  // What is exported: all rows that the search and the filters leave, in their order.
  everything() {
    const { columns, cell } = this.table;
    return { columns, rows: this.order.map((row) => columns.map((_, i) => cell(row, i))) };
  }
}
