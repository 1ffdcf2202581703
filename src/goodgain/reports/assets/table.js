// Tables with sorting, search, filters, pages and export.
//
// A table is {key, title, note, columns, count, cell}: `cell(row, column)` returns {value, text, mark, best}, and the
// optional `value(row, column)` only the value, to sort many rows quickly. Only one page of rows is in the document,
// so large tables stay fast; screen readers find an ordinary table.

const PAGE_ROWS = 25;
const PRINTED_ROWS = 2000; // on paper a table has all its rows, up to this number
const SEARCH_FROM = 12;
const byText = new Intl.Collator("en", { numeric: true });

function displayCell(column, raw) {
  const cell = raw !== null && typeof raw === "object" ? raw : { value: raw };
  const value = cell.value ?? null;
  const text = cell.text ?? (column.kind === "text" ? String(value ?? "–") : number(value, column.digits ?? 4, column.signed));
  return { mark: "", best: false, ...cell, value, text };
}

// A table of a section, whose rows are in the page data.
function tableOfRows(item) {
  return {
    ...item,
    count: item.rows.length,
    value: (row, column) => {
      const raw = item.rows[row][column];
      return raw !== null && typeof raw === "object" ? raw.value : raw;
    },
    cell: (row, column) => displayCell(item.columns[column], item.rows[row][column]),
  };
}

// A column that is `wide` takes the room that the others leave.
function cellClass(column) {
  return (column.kind === "text" ? "text" : "number") + (column.wide ? " wide" : "") + (column.roomy ? " roomy" : "");
}

class DataTable {
  // `options`: open(row), called when a row's first cell is clicked; filters: [{element, active(), keep(row)}];
  // nouns: singular and plural for a row; search: false to omit it; searched: what to search for at first; words: to
  // search for all words in any order; always: to have the search also for few rows; changed(table), called after a search, a filter or a new order. A column may `draw(row, cell)` its own content.
  constructor(table, options = {}) {
    this.table = table;
    this.open = options.open;
    this.filters = options.filters ?? [];
    this.nouns = options.nouns ?? ["row", "rows"];
    this.sorted = options.sorted ?? null;
    this.searchable = options.search ?? true;
    this.searched = options.searched ?? "";
    this.byWords = options.words ?? false;
    this.always = options.always ?? false;
    this.onchange = options.changed ?? (() => {});
    this.printing = false;
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
      const button = element("button", { type: "button", class: "sort", title: [column.short && column.name, column.help].filter(Boolean).join(": ") || null, onclick: () => this.sortBy(i) }, userText(column.short ?? column.name));
      this.head.append(element("th", { scope: "col", class: cellClass(column) }, button));
      return button;
    });
    this.status = element("p", { class: "status", role: "status" });
    this.pager = element("nav", { class: "pager", "aria-label": `Pages: ${table.title}` });
    const many = (table.count >= SEARCH_FROM || this.searched || this.always) && this.searchable;
    this.search = element("input", {
      type: "search", placeholder: "Search", "aria-label": `Search: ${table.title}`, autocomplete: "off", spellcheck: "false",
      oninput: () => this.changed(),
    });
    this.search.value = this.searched;
    for (const filter of this.filters) filter.element.addEventListener("change", () => this.changed());
    const grid = element("table", {}, element("caption", { class: "hidden" }, plain(table.title)), element("thead", {}, this.head), this.body);
    const box = element("div", { class: "table", id: `table-${table.key}` },
      element("div", { class: "bar" },
        element("h3", {}, plain(table.title)),
        element("div", { class: "tools" }, many ? this.search : null, this.filters.map((f) => f.element),
          exportMenu(table.key, table.title, () => this.exportedRows()))),
      element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": table.title }, grid),
      element("div", { class: "bar foot" }, this.status, this.pager),
      table.note ? appendText(element("p", { class: "note" }), table.note) : null);
    box.dataTable = this; // for printing
    return box;
  }

  value(row, column) {
    return this.table.value ? this.table.value(row, column) : this.table.cell(row, column).value;
  }

  // All rows in ascending order of a column, cached; descending order is the reverse.
  ordered(column) {
    if (!this.orders.has(column)) {
      const { count, columns } = this.table;
      const rows = Array.from({ length: count }, (_, i) => i);
      const values = rows.map((row) => this.value(row, column));
      const defined = (v) => v !== null && v !== undefined && !Number.isNaN(v);
      const sortable = rows.filter((row) => defined(values[row]));
      const compare = columns[column].kind === "text"
        ? (a, b) => byText.compare(values[a], values[b]) || a - b
        : (a, b) => values[a] - values[b] || a - b;
      this.orders.set(column, [sortable.sort(compare), rows.filter((row) => !defined(values[row]))]);
    }
    return this.orders.get(column);
  }

  sortBy(column) {
    const numeric = this.table.columns[column].kind !== "text";
    const same = this.sorted && this.sorted.column === column;
    this.sorted = { column, down: same ? !this.sorted.down : numeric };
    this.changed();
  }

  searchText(row) {
    this.searchTexts ??= [];
    return (this.searchTexts[row] ??= this.table.columns
      .map((c, i) => (c.kind === "text" ? String(this.value(row, i) ?? "") : "")).join("\n").toLowerCase());
  }

  changed() {
    this.page = 0;
    this.refresh();
    this.onchange(this);
  }

  // All rows for paper, or one page of them again.
  print(printing) {
    if (this.printing === printing) return;
    this.printing = printing;
    this.draw();
  }

  refresh() {
    const { count } = this.table;
    let rows;
    if (this.sorted) {
      const [sorted, undefinedRows] = this.ordered(this.sorted.column);
      rows = (this.sorted.down ? sorted.toReversed() : sorted).concat(undefinedRows);
    } else rows = Array.from({ length: count }, (_, i) => i);
    const query = this.search.value.trim().toLowerCase();
    for (const text of this.byWords ? query.split(/\s+/).filter(Boolean) : [query].filter(Boolean)) rows = rows.filter((row) => this.searchText(row).includes(text));
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
    const pages = this.printing ? 1 : Math.max(1, Math.ceil(this.order.length / PAGE_ROWS));
    this.page = Math.min(this.page, this.printing ? this.page : pages - 1);
    const first = this.printing ? 0 : this.page * PAGE_ROWS;
    const rows = this.order.slice(first, first + (this.printing ? PRINTED_ROWS : PAGE_ROWS));
    this.body.replaceChildren(...rows.map((row) => {
      const line = element("tr");
      columns.forEach((column, i) => line.append(this.drawCell(row, column, i)));
      return line;
    }));
    const isPart = rows.length < this.order.length;
    const all = this.order.length === this.table.count;
    const total = all ? counted(this.table.count, ...this.nouns) : `${this.order.length.toLocaleString("en-US")} of ${counted(this.table.count, ...this.nouns)}`;
    this.status.textContent = isPart ? `${first + 1}–${first + rows.length} of ${total}` : (this.table.count >= SEARCH_FROM && this.searchable) || !all ? total : "";
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
    const interval = column.interval && cell.low !== undefined
      ? element("span", { class: "subtext" }, cell.span ?? `${number(cell.low, column.digits, column.signed)} to ${number(cell.high, column.digits, column.signed)}`)
      : null;
    const mark = column.marks || cell.mark ? element("sup", { class: column.marks ? "room" : null }, cell.mark ?? "") : null;
    const best = cell.best ? element("span", { class: "hidden" }, " (best)") : null;
    const kind = cellClass(column);
    const tone = (cell.tone ? " " + cell.tone : "") + (cell.heat ? ` heat heat-${cell.heat}` : "");
    return i === 0
      ? element("th", { scope: "row", class: kind + (cell.text.length <= 24 ? " short" : "") }, inner, mark, best, interval)
      : element("td", { class: kind + tone }, inner, mark, best, interval);
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
    const button = this.pager.querySelector(`[aria-label="${label}"]:not(:disabled)`) ?? this.pager.querySelector("button:not(:disabled)");
    if (button) button.focus();
  }

  // The rows to export: all that match the search and the filters, in the current order.
  exportedRows() {
    const { columns, cell } = this.table;
    return { columns, rows: this.order.map((row) => columns.map((_, i) => cell(row, i))) };
  }
}

// A page on paper cannot be turned.
function printTables(printing) {
  for (const box of document.querySelectorAll(".table")) if (!box.closest("dialog:not([open])")) box.dataTable?.print(printing);
}
addEventListener("beforeprint", () => printTables(true));
addEventListener("afterprint", () => printTables(false));
