// Table export: exact values as CSV and JSON, formatted values as Markdown and LaTeX.

const LATEX = {
  "\\": "\\textbackslash{}", "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_", "{": "\\{", "}": "\\}",
  "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--", "<": "$<$", ">": "$>$", "↓": "$\\downarrow$", "†": "$\\dagger$",
};

function latexEscape(text) {
  return plain(text).replace(/[\\&%$#_{}~^–<>↓†]/g, (c) => LATEX[c]);
}

// A row that begins with [ or * would be read as an option of the row before it.
function latexLine(cells) {
  const text = cells.join(" & ");
  return `  ${/^[[*]/.test(text) ? "{}" : ""}${text} \\\\\n`;
}

// A text that a spreadsheet would compute begins with an apostrophe; numbers stay as they are.
function noFormula(value) {
  return typeof value === "string" && /^[=+\-@\t\r]/.test(value) && value !== "-" && Number.isNaN(Number(value)) ? "'" + value : value;
}

function csvField(value) {
  const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

// In CSV and JSON a column with intervals becomes three; in Markdown and LaTeX intervals are in brackets.
function splitIntervals({ columns, rows }) {
  const split = (items, expand) => items.flatMap((item, i) => (columns[i].interval ? expand(item) : [item]));
  return {
    columns: split(columns, (c) => [c, { name: `${c.name} low` }, { name: `${c.name} high` }]),
    rows: rows.map((row) => split(row, (cell) => [cell, { value: cell.low ?? null }, { value: cell.high ?? null }])),
  };
}

function withInterval(column, cell) {
  const { digits, signed, interval } = column;
  return interval && cell.low !== undefined ? ` [${number(cell.low, digits, signed)}, ${number(cell.high, digits, signed)}]` : "";
}

// A table is {columns: [{name, kind}], rows: [[{value, text, mark, best}]]}.
const EXPORTS = {
  CSV: {
    extension: "csv", type: "text/csv",
    write: (table, { columns, rows } = splitIntervals(table)) =>
      [columns.map((c) => c.name), ...rows.map((row) => row.map((cell) => cell.value))]
        .map((line) => line.map((value) => csvField(noFormula(value))).join(",") + "\n").join(""),
  },
  JSON: {
    extension: "json", type: "application/json",
    write: (table, { columns, rows } = splitIntervals(table)) => {
      const items = rows.map((row) =>
        JSON.stringify(Object.fromEntries(columns.map((c, i) => [c.name, Number.isNaN(row[i].value) ? null : row[i].value ?? null]))));
      return items.length ? "[\n" + items.map((item) => "  " + item).join(",\n") + "\n]\n" : "[]\n";
    },
  },
  Markdown: {
    extension: "md", type: "text/markdown",
    write: ({ columns, rows }) => {
      const safe = (text) => plain(text).replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll("*", "\\*");
      const line = (cells) => "| " + cells.join(" | ") + " |\n";
      // Marks stand in front: the column is right-aligned, so that they do not move the digits.
      const formatted = (cell, i) => safe(cell.mark ? cell.mark + " " : "") + (cell.best ? `**${safe(cell.text)}**` : safe(cell.text)) + withInterval(columns[i], cell);
      return line(columns.map((c) => safe(c.name))) +
        "|" + columns.map((c) => (c.kind === "text" ? " --- " : " ---: ")).join("|") + "|\n" +
        rows.map((row) => line(row.map(formatted))).join("");
    },
  },
  LaTeX: {
    extension: "tex", type: "application/x-tex",
    write: ({ columns, rows }) => {
      const line = latexLine;
      // Every mark takes the room of the longest one in its column, so that the digits stay aligned.
      const longest = columns.map((_, i) => Math.max(0, ...rows.map((row) => (row[i].mark ?? "").length)));
      const marked = (mark, i) =>
        longest[i] ? (mark ? `\\rlap{$^{${mark.replaceAll("†", "\\dagger ")}}$}` : "") + `\\phantom{$^{${"*".repeat(longest[i])}}$}` : "";
      const formatted = (cell, i) =>
        (cell.best ? `\\textbf{${latexEscape(cell.text)}}` : latexEscape(cell.text)) + marked(cell.mark, i) + latexEscape(withInterval(columns[i], cell));
      return `\\begin{tabular}{${columns.map((c) => (c.kind === "text" ? "l" : "r")).join("")}}\n  \\toprule\n` +
        line(columns.map((c) => latexEscape(c.name))) + "  \\midrule\n" +
        rows.map((row) => line(row.map(formatted))).join("") + "  \\bottomrule\n\\end{tabular}\n";
    },
  },
};

// An export menu for keyboard and pointer; `table()` builds the table when an item is clicked.
function exportMenu(key, title, table) {
  const menu = element("details", { class: "menu" }, element("summary", { "aria-label": `Export: ${title}` }, "Export"));
  const list = element("div", { class: "menu-items" });
  for (const [name, format] of Object.entries(EXPORTS))
    list.append(element("button", {
      type: "button",
      onclick: () => {
        download(`${key}.${format.extension}`, format.type, format.write(table()));
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
