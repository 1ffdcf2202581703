// Requests to the server, the votes that it has not confirmed, and the clock.
"use strict";

const session = { setup: null, annotator: "", role: "annotator", offline: false };
const PENDING = `goodgain-pending ${location.pathname} `;
const NAME = `goodgain-annotator ${location.pathname}`;
const SHORTCUTS = "goodgain-shortcuts";

class Refusal extends Error {
  constructor(status, answer) {
    super(answer.error || `status ${status}`);
    this.status = status;
    this.login = Boolean(answer.login);
  }
}

async function request(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { cache: "no-store", ...options });
  let answer = {};
  try {
    answer = await response.json();
  } catch {
    throw response.ok ? new Error("the reply was cut off") : new Refusal(response.status, {});
  }
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

const about = (more = {}) => new URLSearchParams({ annotator: session.annotator, ...more });

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// What was sent and not confirmed, oldest first. It survives a reload, and the server takes an id only once.
function pending() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PENDING));
  return keys.map((key) => ({ key, ...JSON.parse(localStorage.getItem(key)) })).sort((a, b) => a.time - b.time);
}

const pause = (milliseconds) => new Promise((resolve) => {
  const timer = setTimeout(resolve, milliseconds);
  hurry = () => { clearTimeout(timer); resolve(); };
});
let hurry = () => {};

// Send until the server confirms; the answer is what it says then. A refusal ends it.
async function deliver(entry) {
  for (let wait = 500; ; wait = Math.min(2 * wait, 5000)) {
    try {
      const answer = await request(entry.path, entry.body);
      localStorage.removeItem(entry.key);
      notSaved(null);
      return answer;
    } catch (error) {
      if (error instanceof Refusal && error.login) {
        await logIn();
        continue;
      }
      if (error instanceof Refusal && error.status < 500 && error.status !== 404 && error.status !== 429) {
        localStorage.removeItem(entry.key);
        throw error;
      }
      notSaved(error instanceof Refusal ? error.message : "the server does not answer");
      await pause(wait);
    }
  }
}

// A vote, an undo or an adjudication: stored in the browser first, then sent.
async function save(path, body) {
  const id = newId();
  const entry = { key: PENDING + id, path, body: { id, annotator: session.annotator, ...body }, time: Date.now() };
  localStorage.setItem(entry.key, JSON.stringify({ path, body: entry.body, time: entry.time }));
  return deliver(entry);
}

function notSaved(reason) {
  const box = document.getElementById("alert");
  session.offline = reason !== null;
  if (reason === null) box.replaceChildren();
  else if (!box.hasChildNodes() || box.dataset.reason !== reason) {
    box.replaceChildren(
      element("p", {}, `Not saved: ${reason}. The page keeps your last action and tries again until it is saved. `,
        element("button", { type: "button", onclick: () => hurry() }, "Try now")));
  }
  box.dataset.reason = reason ?? "";
}

addEventListener("online", () => hurry());

// --- the time that a label takes: without hidden pages, and with at most `idle` seconds between two interactions ---

const clock = {
  key: "", elapsed: 0, since: null,
  start(key) {
    const last = JSON.parse(sessionStorage.getItem("goodgain-clock") || "null");
    this.key = key;
    this.elapsed = last && last.key === key ? last.elapsed : 0;
    this.since = document.hidden ? null : performance.now();
  },
  add() {
    if (this.since === null) return;
    const now = performance.now();
    this.elapsed += Math.min((now - this.since) / 1000, session.setup ? session.setup.idle : 60);
    this.since = now;
  },
  seconds() {
    this.add();
    return Math.round(this.elapsed * 10) / 10;
  },
  rest() {
    this.add();
    this.since = null;
    sessionStorage.setItem("goodgain-clock", JSON.stringify({ key: this.key, elapsed: this.elapsed }));
  },
};
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clock.rest();
  else clock.since = performance.now();
});
addEventListener("pagehide", () => clock.rest());
for (const sign of ["keydown", "pointerdown", "pointermove", "scroll", "wheel", "touchmove"]) {
  addEventListener(sign, () => clock.add(), { passive: true, capture: true });
}
