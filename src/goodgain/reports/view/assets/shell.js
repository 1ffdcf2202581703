// The list of saved results beside the page of the chosen one; both follow what changes on disk.
"use strict";

const SECONDS = 1.5;
const at = (id) => document.getElementById(id);
let told = ""; // the list as the server last told it
let entries = [];
let picked = []; // keys that are ticked, in the order of ticking
let shown = ""; // the address of the page in the frame

const chosenKeys = () => location.hash.slice(1).split("+").filter(Boolean);

function row(entry) {
  const item = document.createElement("li");
  const box = document.createElement("input");
  const link = document.createElement("a");
  const about = document.createElement("small");
  box.type = "checkbox";
  box.value = entry.key;
  box.checked = picked.includes(entry.key);
  box.setAttribute("aria-label", `compare ${entry.name}`);
  link.href = `#${entry.key}`;
  link.dir = "auto";
  link.textContent = entry.name;
  if (chosenKeys().includes(entry.key)) link.setAttribute("aria-current", "true");
  about.textContent = `${entry.kind}, ${new Date(entry.changed * 1000).toLocaleString()}`;
  item.append(box, link, about);
  return item;
}

function list() {
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter((e) => words.every((w) => `${e.name} ${e.kind}`.toLowerCase().includes(w)));
  const focused = document.activeElement;
  const held = focused && at("entries").contains(focused) ? [focused.tagName, focused.value ?? focused.hash] : null;
  at("entries").replaceChildren(...found.map(row));
  if (held) {
    const same = [...at("entries").querySelectorAll("a, input")]
      .find((e) => e.tagName === held[0] && (e.value ?? e.hash) === held[1]);
    if (same) same.focus();
  }
  at("status").textContent = entries.length === 0
    ? "No saved results yet: they appear here when they are saved."
    : found.length === entries.length ? `${entries.length} saved results` : `${found.length} of ${entries.length}`;
  at("compare").querySelector("button").disabled = picked.length !== 2;
}

function show() {
  const chosen = chosenKeys().map((key) => entries.find((e) => e.key === key));
  const there = chosen.length > 0 && chosen.every(Boolean);
  at("welcome").hidden = there;
  at("page").hidden = at("alone").hidden = !there;
  if (!there) {
    at("welcome").textContent = chosen.length ? "That result is gone." : "Choose a result to look at.";
    shown = "";
    return;
  }
  const address = `page?${chosen.map((e) => `of=${e.key}`).join("&")}`;
  const state = `${address} ${chosen.map((e) => e.version).join(" ")}`;
  if (state === shown) return;
  shown = state;
  const frame = at("page");
  frame.title = chosen.map((e) => e.name).join(" and ");
  at("alone").firstElementChild.href = address;
  frame.contentWindow.location.replace(address); // no step back for each reload
}

async function refresh() {
  try {
    const answer = await fetch("state");
    const text = await answer.text();
    if (text === told) return; // a list that is drawn again would lose a click half made
    told = text;
    const state = JSON.parse(text);
    at("folder").textContent = state.folder;
    document.title = `${state.folder}: goodgain view`;
    entries = state.entries;
    picked = picked.filter((key) => entries.some((e) => e.key === key));
    list();
    show();
  } catch {
    told = "";
    at("status").textContent = "goodgain view has been stopped.";
  }
}

at("entries").addEventListener("change", (event) => {
  const key = event.target.value;
  picked = event.target.checked ? [...picked, key].slice(-2) : picked.filter((k) => k !== key);
  list();
});
at("compare").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = picked.join("+");
});
at("search").addEventListener("input", list);
addEventListener("hashchange", () => { list(); show(); });
setInterval(() => { if (!document.hidden) refresh(); }, SECONDS * 1000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
refresh();
