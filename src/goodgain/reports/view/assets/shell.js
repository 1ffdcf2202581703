// The table of saved results, and the report of those that are selected; both update when files change.
//
// The address: "#" and keys of results joined by "+", or "#history=MEASURE&search=WORDS".
"use strict";

const REFRESH_SECONDS = 1.5;
const MOST_MEASURES = 14; // columns; of more measures, the most common ones
const at = (id) => document.getElementById(id);
let known = ""; // the number of the last state from the server
let facts = { total: 0, pending: 0, foreign: 0, problems: [], problemCount: 0 };
const entries = new Map();
let checked = []; // keys of the checked entries, in the order of checking
let current = ""; // the URL and version of the page in the frame
let table = null;

const target = () => {
  const text = location.hash.slice(1);
  return text.includes("=") ? { history: new URLSearchParams(text) } : { keys: text.split("+").filter(Boolean) };
};
const date = (seconds) => new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

// A row for each system of each result; a result without measures has one.
function rows() {
  return [...entries.values()].flatMap((entry) => {
    const own = entry.rows ?? [];
    const note = entry.problem ? `cannot be read: ${entry.problem}` : entry.rows ? "" : "not read yet";
    return own.length ? own.map(([system, values, queries, created, why]) => ({ entry, system, values, queries, time: created ?? entry.changed, note: why }))
      : [{ entry, system: "", values: {}, queries: null, time: entry.changed, note }];
  });
}

function measuresOf(listed) {
  const counts = new Map();
  for (const { values } of listed) for (const name of Object.keys(values)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
}

function pick({ entry }) {
  const box = element("input", { type: "checkbox", value: entry.key, "aria-label": plain(`compare ${entry.name}`), onchange: () => {
    checked = box.checked ? [...checked, entry.key] : checked.filter((key) => key !== entry.key);
    for (const other of at("entries").querySelectorAll("input[type=checkbox]")) other.checked = checked.includes(other.value);
    drawActions();
  } });
  box.checked = checked.includes(entry.key);
  return element("span", { class: "pick" }, box, element("a", { href: `#${entry.key}` }, userText(entry.name)));
}

function drawTable() {
  const listed = rows();
  const measures = measuresOf(listed);
  const visible = measures.slice(0, MOST_MEASURES);
  const formatOf = (name) => {
    const all = listed.flatMap(({ values }) => values[name] ?? []);
    const unit = facts.units?.[name];
    const digits = all.every(Number.isInteger) ? 0 : decimals(...all);
    return (value) => (value === undefined ? null : { value, text: unit ? amount(value, unit) : number(value, digits) });
  };
  const columns = [
    { name: "result", kind: "text", of: (r) => r.entry.name, draw: (row) => pick(listed[row]) },
    { name: "system", kind: "text", of: (r) => r.system },
    { name: "kind", kind: "text", of: (r) => r.entry.kind },
    { name: "time", kind: "number", of: (r) => ({ value: r.time, text: date(r.time) }) },
    ...(listed.some((r) => r.queries !== null) ? [{ name: "queries", kind: "number", digits: 0, of: (r) => r.queries }] : []),
    ...visible.map((name) => {
      const format = formatOf(name);
      return { name, kind: "number", of: (r) => format(r.values[name]) };
    }),
    ...(listed.some((r) => r.note) ? [{ name: "note", kind: "text", of: (r) => r.note }] : []),
  ];
  const before = table;
  const sorted = before?.sorted && columns.findIndex((c) => c.name === before.table.columns[before.sorted.column].name);
  const focused = document.activeElement?.closest?.("#entries") ? document.activeElement : null;
  const focus = focused && [focused.tagName, focused.value ?? "", focused.getAttribute("href") ?? "", focused.getAttribute("aria-label") ?? "", focused.selectionStart ?? null];
  table = new DataTable({
    key: "results", title: "Saved results", columns, count: listed.length,
    note: measures.length > visible.length ? `${counted(measures.length - visible.length, "more measure")} of fewer results: on their pages, and in their history.` : "",
    value: (row, column) => {
      const raw = columns[column].of(listed[row]);
      return raw !== null && typeof raw === "object" ? raw.value : raw;
    },
    cell: (row, column) => displayCell(columns[column], columns[column].of(listed[row])),
  }, {
    nouns: ["row", "rows"], searched: before?.search.value ?? "", words: true, always: true,
    sorted: sorted >= 0 && before ? { ...before.sorted, column: sorted } : { column: 3, down: true }, changed: drawStatus,
  });
  table.page = before?.page ?? 0;
  table.draw();
  table.box.classList.add("tall");
  at("entries").replaceChildren(table.box);
  if (focus) {
    const same = [...at("entries").querySelectorAll(focus[0])].find((e) => focus[0] === "INPUT" && e.type === "search" ? focus[3] === e.getAttribute("aria-label")
      : (e.value ?? "") === focus[1] && (e.getAttribute("href") ?? "") === focus[2] && (e.getAttribute("aria-label") ?? "") === focus[3]);
    same?.focus();
    if (same && focus[4] !== null && same.setSelectionRange && same.type === "search") same.setSelectionRange(focus[4], focus[4]);
  }
  const chosen = at("measure").value;
  at("measure").replaceChildren(...measures.map((name) => element("option", { value: name, selected: name === chosen }, plain(name))));
  at("measure").hidden = at("history").hidden = !measures.length;
}

function drawActions() {
  checked = checked.filter((key) => entries.has(key));
  at("compare").disabled = checked.length < 2;
  at("compare").textContent = checked.length > 1 ? `Compare ${checked.length}` : "Compare";
  at("clear").hidden = !checked.length;
}

function drawStatus() {
  const results = counted(facts.total, "saved result");
  const texts = [facts.total === 0 ? "No saved results yet. They appear here when you save them."
    : table && table.order.length < table.table.count ? `${counted(new Set(table.order.map((row) => table.value(row, 0))).size, "result")} of ${facts.total.toLocaleString("en-US")}` : results];
  if (facts.pending) texts.push(`reading ${facts.pending.toLocaleString("en-US")} of them`);
  if (facts.foreign) texts.push(`${counted(facts.foreign, "other JSON file")} not listed`);
  at("status").textContent = texts.join(" · ");
  at("problems").hidden = !facts.problemCount;
  at("problems").firstElementChild.textContent = `${counted(facts.problemCount, "file or folder", "files or folders")} could not be read`;
  at("problems").lastElementChild.replaceChildren(...facts.problems.map(([name, why]) => element("li", {}, userText(name), ": ", why)));
}

function show() {
  const { history, keys } = target();
  const selected = (keys ?? []).map((key) => entries.get(key));
  const isOpen = Boolean(history) || selected.length > 0;
  at("list").hidden = isOpen;
  at("report").hidden = !isOpen;
  const available = Boolean(history) || selected.every(Boolean);
  at("gone").hidden = available;
  at("page").hidden = at("new-tab").hidden = !isOpen || !available;
  if (!isOpen || !available) {
    current = "";
    return;
  }
  const url = history ? `history?${new URLSearchParams({ measure: history.get("history"), search: history.get("search") ?? "" })}`
    : `page?${selected.map((e) => `of=${e.key}`).join("&")}`;
  const state = history ? `${url} ${facts.pending ? "" : known}` : `${url} ${selected.map((e) => e.version).join(" ")}`;
  if (state === current) return;
  current = state;
  const frame = at("page");
  frame.title = history ? `History of ${history.get("history")}` : selected.map((e) => e.name).join(" and ");
  at("new-tab").href = url;
  frame.contentWindow.location.replace(url); // adds no history entry
}

async function refresh() {
  try {
    const answer = await fetch(`state?since=${known}`);
    const state = await answer.json();
    if (state.state === known && table) return; // redrawing could lose a click
    if (state.isWhole) entries.clear();
    for (const key of state.removed) entries.delete(key);
    for (const entry of state.entries) entries.set(entry.key, entry);
    known = state.state;
    facts = state;
    at("folder").textContent = state.folder;
    document.title = `${state.folder}: goodgain view`;
    drawTable();
    drawActions();
    drawStatus();
    show();
  } catch {
    known = "";
    at("status").textContent = "goodgain view was stopped.";
  }
}

at("compare").addEventListener("click", () => (location.hash = checked.join("+")));
at("clear").addEventListener("click", () => {
  checked = [];
  drawTable();
  drawActions();
});
at("history").addEventListener("click", () => {
  location.hash = new URLSearchParams({ history: at("measure").value, search: table.search.value.trim() }).toString();
});
addEventListener("hashchange", show);
// The next question is put when the last is answered, so that a slow disk is not asked twice at once.
async function follow() {
  if (!document.hidden) await refresh();
  setTimeout(follow, facts.pending ? 500 : REFRESH_SECONDS * 1000);
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
follow();
