// A table as text: exact values for machines (CSV, JSON), what is shown for people (Markdown, LaTeX).

const LATEX = {
  "\\": "\\textbackslash{}", "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_", "{": "\\{", "}": "\\}",
  "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "–": "--", "<": "$<$", ">": "$>$", "↓": "$\\downarrow$",
};

function latexEscape(text) {
  return plain(text).replace(/[\\&%$#_{}~^−–<>↓]/g, (c) => LATEX[c]);
}

function csvField(value) {
  const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

// A column of intervals becomes three for machines, and stands in brackets for people.
function apart({ columns, rows }) {
  const wide = (of, make) => of.flatMap((item, i) => (columns[i].interval ? make(item) : [item]));
  return {
    columns: wide(columns, (c) => [c, { name: `${c.name} low` }, { name: `${c.name} high` }]),
    rows: rows.map((row) => wide(row, (cell) => [cell, { value: cell.low ?? null }, { value: cell.high ?? null }])),
  };
}

function withInterval(column, cell) {
  const { digits, signed, interval } = column;
  return interval && cell.low !== undefined ? ` [${number(cell.low, digits, signed)}, ${number(cell.high, digits, signed)}]` : "";
}

// A table is {columns: [{name, kind}], rows: [[{value, text, mark, best}]]}.
const EXPORTS = {
  CSV: {
    ending: "csv", type: "text/csv",
    write: (table, { columns, rows } = apart(table)) =>
      [columns.map((c) => c.name), ...rows.map((row) => row.map((cell) => cell.value))]
        .map((line) => line.map(csvField).join(",") + "\n").join(""),
  },
  JSON: {
    ending: "json", type: "application/json",
    write: (table, { columns, rows } = apart(table)) => {
      const items = rows.map((row) =>
        JSON.stringify(Object.fromEntries(columns.map((c, i) => [c.name, Number.isNaN(row[i].value) ? null : row[i].value ?? null]))));
      return items.length ? "[\n" + items.map((item) => "  " + item).join(",\n") + "\n]\n" : "[]\n";
    },
  },
  Markdown: {
    ending: "md", type: "text/markdown",
    write: ({ columns, rows }) => {
      const safe = (text) => plain(text).replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll("*", "\\*");
      const line = (cells) => "| " + cells.join(" | ") + " |\n";
      const shown = (cell, i) => (cell.best ? `**${safe(cell.text)}**` : safe(cell.text)) + safe(cell.mark ? " " + cell.mark : "") + withInterval(columns[i], cell);
      return line(columns.map((c) => safe(c.name))) +
        "|" + columns.map((c) => (c.kind === "text" ? " --- " : " ---: ")).join("|") + "|\n" +
        rows.map((row) => line(row.map(shown))).join("");
    },
  },
  LaTeX: {
    ending: "tex", type: "application/x-tex",
    write: ({ columns, rows }) => {
      const line = (cells) => "  " + cells.join(" & ") + " \\\\\n";
      const shown = (cell, i) =>
        (cell.best ? `\\textbf{${latexEscape(cell.text)}}` : latexEscape(cell.text)) + (cell.mark ? `$^{${latexEscape(cell.mark)}}$` : "") + latexEscape(withInterval(columns[i], cell));
      return `\\begin{tabular}{${columns.map((c) => (c.kind === "text" ? "l" : "r")).join("")}}\n  \\toprule\n` +
        line(columns.map((c) => latexEscape(c.name))) + "  \\midrule\n" +
        rows.map((row) => line(row.map(shown))).join("") + "  \\bottomrule\n\\end{tabular}\n";
    },
  },
};

// A menu that opens by keyboard and pointer alike; `table()` makes the table when it is asked for.
function exportMenu(key, title, table) {
  const menu = element("details", { class: "menu" }, element("summary", { "aria-label": `Export: ${title}` }, "Export"));
  const list = element("div", { class: "menu-items" });
  for (const [name, how] of Object.entries(EXPORTS))
    list.append(element("button", {
      type: "button",
      onclick: () => {
        download(`${key}.${how.ending}`, how.type, how.write(table()));
        menu.open = false;
      },
    }, name));
  menu.append(list);
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.firstElementChild.focus();
      event.stopPropagation();
    }
  });
  return menu;
}
