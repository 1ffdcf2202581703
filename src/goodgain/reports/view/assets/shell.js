// The list of saved results next to the selected report; both update when files change.
"use strict";

const REFRESH_SECONDS = 1.5;
const at = (id) => document.getElementById(id);
let lastState = ""; // the last list from the server
let entries = [];
let checked = []; // keys of the checked entries, in the order of checking
let current = ""; // the URL and version of the page in the frame

const selectedKeys = () => location.hash.slice(1).split("+").filter(Boolean);

function row(entry) {
  const item = document.createElement("li");
  const box = document.createElement("input");
  const link = document.createElement("a");
  const details = document.createElement("small");
  box.type = "checkbox";
  box.value = entry.key;
  box.checked = checked.includes(entry.key);
  box.setAttribute("aria-label", `compare ${entry.name}`);
  link.href = `#${entry.key}`;
  link.dir = "auto";
  link.textContent = entry.name;
  if (selectedKeys().includes(entry.key)) link.setAttribute("aria-current", "true");
  details.textContent = `${entry.kind}, ${new Date(entry.changed * 1000).toLocaleString()}`;
  item.append(box, link, details);
  return item;
}

function list() {
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = entries.filter((e) => words.every((w) => `${e.name} ${e.kind}`.toLowerCase().includes(w)));
  const focused = document.activeElement;
  const focus = focused && at("entries").contains(focused) ? [focused.tagName, focused.value ?? focused.hash] : null;
  at("entries").replaceChildren(...matches.map(row));
  if (focus) {
    const same = [...at("entries").querySelectorAll("a, input")]
      .find((e) => e.tagName === focus[0] && (e.value ?? e.hash) === focus[1]);
    if (same) same.focus();
  }
  at("status").textContent = entries.length === 0
    ? "No saved results yet. They appear here when you save them."
    : matches.length === entries.length ? `${entries.length} saved result${entries.length === 1 ? "" : "s"}` : `${matches.length} of ${entries.length}`;
  at("compare").querySelector("button").disabled = checked.length !== 2;
}

function show() {
  const selected = selectedKeys().map((key) => entries.find((e) => e.key === key));
  const available = selected.length > 0 && selected.every(Boolean);
  at("welcome").hidden = available;
  at("page").hidden = at("new-tab").hidden = !available;
  if (!available) {
    at("welcome").textContent = selected.length ? "This result no longer exists." : "Select a result.";
    current = "";
    return;
  }
  const url = `page?${selected.map((e) => `of=${e.key}`).join("&")}`;
  const state = `${url} ${selected.map((e) => e.version).join(" ")}`;
  if (state === current) return;
  current = state;
  const frame = at("page");
  frame.title = selected.map((e) => e.name).join(" and ");
  at("new-tab").firstElementChild.href = url;
  frame.contentWindow.location.replace(url); // adds no history entry
}

async function refresh() {
  try {
    const answer = await fetch("state");
    const text = await answer.text();
    if (text === lastState) return; // redrawing the list could lose a click
    lastState = text;
    const state = JSON.parse(text);
    at("folder").textContent = state.folder;
    document.title = `${state.folder}: goodgain view`;
    entries = state.entries;
    checked = checked.filter((key) => entries.some((e) => e.key === key));
    list();
    show();
  } catch {
    lastState = "";
    at("status").textContent = "goodgain view was stopped.";
  }
}

at("entries").addEventListener("change", (event) => {
  const key = event.target.value;
  checked = event.target.checked ? [...checked, key].slice(-2) : checked.filter((k) => k !== key);
  list();
});
at("compare").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = checked.join("+");
});
at("search").addEventListener("input", list);
addEventListener("hashchange", () => { list(); show(); });
setInterval(() => { if (!document.hidden) refresh(); }, REFRESH_SECONDS * 1000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
refresh();
