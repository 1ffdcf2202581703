// The item to judge: a question with a document, or with what two systems returned.
"use strict";

const work = { item: null, progress: null, last: null, saving: false, message: "" };
const at = (id) => document.getElementById(id);
const gainText = (gain) => number(gain, Number.isInteger(gain) ? 0 : 2);

function draft(key, value) {
  const name = `goodgain-note ${key}`;
  if (value === undefined) return sessionStorage.getItem(name) || "";
  if (value) sessionStorage.setItem(name, value);
  else sessionStorage.removeItem(name);
  return value;
}

async function loadItem() {
  const key = location.hash.startsWith("#item=") ? location.hash.slice(6) : "";
  show(await read("work", { item: key }));
}

function show(answer) {
  Object.assign(work, { item: answer.item, progress: answer.progress, last: answer.last, next: answer.next, saving: false });
  history.replaceState(null, "", work.item ? `#item=${work.item.key}` : location.pathname);
  if (work.item) clock.start(work.item.key);
  drawItem();
}

function drawItem() {
  const { item } = work;
  const box = at("main");
  box.replaceChildren(progressBar(), ...(work.next ? [element("p", { class: "why" }, userText(work.next))] : []));
  if (!item) {
    box.append(element("section", { class: "card" },
      element("h2", { id: "question", tabindex: "-1" }, "Nothing left to judge"),
      element("p", {}, session.role === "adjudicator"
        ? "You adjudicate under this name. See “Adjudicate”."
        : "Every item in your queue has been labelled, by you or someone else. Thank you.")));
  } else {
    box.append(questionCard(item), session.setup.mode === "sides" ? sidesCard(item) : documentCard(item), answerBar(item));
  }
  if (work.last) box.append(lastCard(work.last));
  at("question").focus({ preventScroll: true });
  scrollTo({ top: 0, behavior: "instant" });
}

function progressBar() {
  const { done, skipped, left } = work.progress;
  const all = done + skipped + left;
  const label = `${counted(done, "label")} by you${skipped ? `, ${skipped} skipped` : ""}; ${left} to go`;
  return element("div", { class: "progress" },
    element("progress", { max: Math.max(1, all), value: done + skipped, "aria-label": "Progress" }), element("span", { id: "progress" }, label));
}

function questionCard(item) {
  const card = element("section", { class: "card question", "aria-label": "Question" },
    element("h2", { id: "question", tabindex: "-1", dir: "auto" }, appendText(element("span"), item.question, BODY_CONTROLS)));
  if (item.narrative) card.append(bodyText(item.narrative));
  return card;
}

function documentCard(item) {
  const terms = wordsOf(item.question);
  const card = element("section", { class: "card document", "aria-label": "Document" });
  if (item.title) card.append(element("h3", { dir: "auto" }, titleText(item.title, terms)));
  card.append(element("p", { class: "address" }, item.url ? webLink(item.url, item.url) : userText(item.doc)));
  if (item.text) card.append(bodyText(item.text, terms));
  else card.append(element("p", { class: "warning" }, "The text of this document is not available here. Follow the link, or skip it."));
  if (item.cut) card.append(element("p", { class: "warning" }, `Cut: the document has ${counted(item.cut, "character")}.`));
  return card;
}

function titleText(text, terms) {
  const line = bodyText(text.replace(/\s+/g, " "), terms).firstElementChild;
  return [...line.childNodes];
}

function sidesCard(item) {
  const terms = wordsOf(item.question);
  const side = (name, content) => element("section", { class: "card side", "aria-label": name },
    element("h3", {}, name),
    content.answer !== null ? bodyText(content.answer, terms) : element("ol", { class: "list" }, content.results.map((result) => element("li", {},
      result.title && element("div", { class: "result-title", dir: "auto" }, titleText(result.title, terms)),
      result.url && element("div", { class: "address" }, webLink(result.url, result.url)),
      result.text ? scrollable(bodyText(result.text, terms), result.text) : element("p", { class: "note" }, "no text"))), content.results.length ? null : element("li", { class: "note" }, "no results")),
    content.answer === "" ? element("p", { class: "note" }, "no answer") : null);
  return element("div", { class: "sides" }, side("Left", item.left), side("Right", item.right));
}

// A long text has a scroll bar of its own, which keys must reach.
function scrollable(box, text) {
  if (text.length > 200 || text.split("\n").length > 6) box.tabIndex = 0;
  return box;
}

// The choices with their keys: the grades of the scale, or left, same, right.
function choices() {
  if (session.setup.mode === "sides") {
    return [
      { value: "left", keys: ["ArrowLeft"], sign: "←", name: "Left is better" },
      { value: "same", keys: ["0", "="], sign: "0", name: "Same" },
      { value: "right", keys: ["ArrowRight"], sign: "→", name: "Right is better" },
    ];
  }
  return session.setup.grades.map(({ gain, text }) => ({
    value: gain, sign: gainText(gain), name: text || (gain === session.setup.grades[0].gain ? "lowest" : ""),
    keys: Number.isInteger(gain) && gain >= 0 && gain <= 9 ? [String(gain)] : [],
  }));
}

function answerBar(item) {
  const note = element("textarea", { id: "note", rows: "1", maxlength: "10000", "aria-label": "Note", placeholder: "Note (n)", oninput: (event) => draft(item.key, event.target.value) });
  note.value = draft(item.key) || item.note || "";
  const [first] = session.setup.grades;
  const buttons = choices().map((choice) => element("button", {
    type: "button", class: `choice${session.setup.mode === "labels" ? ` gain-${Math.min(4, Math.max(0, choice.value - first.gain))}` : ""}`,
    "aria-keyshortcuts": choice.keys.join(" ") || null, "data-value": choice.value, onclick: () => vote(choice.value),
  }, element("b", {}, choice.sign), " ", choiceName(choice.name)));
  return element("section", { class: "answer-bar", "aria-label": "Your label" },
    item.earlier !== null && item.earlier !== undefined ? element("p", { class: "note" }, `Your label before: ${choiceText(item.earlier)}`) : null,
    element("div", { class: "choices", role: "group", "aria-label": "Choices" }, buttons),
    element("div", { class: "tools" }, note,
      element("button", { type: "button", "aria-keyshortcuts": "s", onclick: openSkip }, "Skip"),
      element("button", { type: "button", "aria-keyshortcuts": "u", disabled: !work.last, onclick: undo }, "Undo")));
}

// The beginning of a description, which is all that a phone shows, and the rest.
function choiceName(text) {
  const [short, ...rest] = text.split(/(?=:)/);
  return [element("span", {}, short), element("span", { class: "more" }, rest.join(""))];
}

function choiceText(value) {
  if (value === null) return "skipped";
  return typeof value === "number" ? gainText(value) : { left: "left is better", right: "right is better", same: "same" }[value] || value;
}

// The last label, as the server stored it. The model's label is here only because the server sent it after the vote.
function lastCard(last) {
  const what = last.status === "skipped" ? ["skipped (", userText(last.reason), ")"] : choiceText(last.choice);
  const models = (last.models || []).map(({ model, gain }) => element("li", {}, userText(model), `: ${gain === null ? "no label" : gainText(gain)}`));
  return element("section", { class: "last", "aria-label": "Your last label" },
    element("p", {}, element("span", { class: "saved" }, "Saved: "), what, " · ", userText(last.name), last.seconds ? ` · ${number(last.seconds, 1)} s` : null),
    models.length ? element("ul", { class: "models", "aria-label": "Labels of models" }, models) : null);
}

async function act(path, body) {
  if (work.saving) return;
  work.saving = true;
  at("main").classList.add("saving");
  at("status").textContent = "Saving …";
  try {
    const answer = await save(path, body);
    at("status").textContent = answer.message;
    show(answer);
  } catch (error) {
    at("status").textContent = "";
    alertText(`Not saved: ${error.message}.`);
    work.saving = false;
    if (error.status === 409 || error.status === 400) await loadItem();
  } finally {
    at("main").classList.remove("saving");
  }
}

function vote(choice, reason = "") {
  const { item } = work;
  if (!item || work.saving) return Promise.resolve();
  const note = at("note").value.trim();
  draft(item.key, "");
  return act("vote", { item: item.key, seen: item.seen, choice, reason, note, seconds: clock.seconds() });
}

function undo() {
  if (!work.last) return Promise.resolve();
  return act("undo", { item: work.last.item });
}

function openSkip() {
  if (!work.item || work.saving) return;
  const dialog = at("dialog");
  const close = (reason) => {
    dialog.close();
    if (reason) vote(null, reason);
  };
  const reasons = session.setup.reasons;
  dialog.replaceChildren(element("h2", { id: "dialog-title" }, "Skip: why?"),
    element("div", { class: "stack" }, reasons.map((reason, i) => element("button", { type: "button", "data-key": String(i + 1), onclick: () => close(reason) }, element("b", {}, `${i + 1} `), reason))),
    element("div", { class: "tools" }, element("button", { type: "button", onclick: () => close("") }, "Cancel")));
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.showModal();
}
