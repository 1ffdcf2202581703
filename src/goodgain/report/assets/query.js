// One query: its values, and the ranked lists of all systems side by side.

function drawQuery(queries, row) {
  const { data, dialog, table } = queries;
  const at = table.order.indexOf(row);
  const step = (text, label, to) =>
    element("button", { type: "button", "aria-label": label, disabled: to === undefined || at < 0, onclick: () => queries.open(to) }, text);
  const close = element("button", { type: "button", "aria-label": "Close", autofocus: true, onclick: () => dialog.close() }, "Close");
  dialog.replaceChildren(
    element("div", { class: "bar top" },
      element("h2", { id: "query-title" }, "Query ", userText(data.units[row])),
      element("div", { class: "tools" }, step("‹", "Previous query", table.order[at - 1]), step("›", "Next query", table.order[at + 1]), close)),
    data.texts && data.texts[row] ? element("p", { class: "lead" }, userText(data.texts[row])) : null ?? "",
    valuesTable(queries, row).box);
}

// Measures as rows, systems as columns.
function valuesTable(queries, row) {
  const { data, values } = queries;
  const columns = [{ name: "measure", kind: "text" }, ...data.systems.map((name) => ({ name, kind: "number" }))];
  const best = data.measures.map((measure, m) => {
    const known = values.map((of) => of[m][row]).filter((v) => !Number.isNaN(v));
    return known.length > 1 && new Set(known).size > 1 ? Math[measure.lower ? "min" : "max"](...known) : null;
  });
  return new DataTable({
    key: "query-values", title: "Values", columns, count: data.measures.length,
    cell: (m, column) => shownCell(columns[column], column === 0 ? data.measures[m].name + (data.measures[m].lower ? " ↓" : "")
      : { value: values[column - 1][m][row], best: best[m] !== null && values[column - 1][m][row] === best[m] }),
  });
}
