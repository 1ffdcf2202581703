// Who judges, the views, and the keys.
"use strict";

function alertText(text) {
  at("alert").replaceChildren(element("p", {}, text, " ", element("button", { type: "button", onclick: () => at("alert").replaceChildren() }, "Close")));
}

// Read until the server answers.
async function read(path, more = {}) {
  for (let wait = 500; ; wait = Math.min(2 * wait, 5000)) {
    try {
      const answer = await request(`${path}?${about(more)}`);
      if (at("alert").dataset.reason === "reading") at("alert").replaceChildren();
      at("alert").dataset.reason = "";
      return answer;
    } catch (error) {
      if (error instanceof Refusal && error.login) {
        await logIn();
        continue;
      }
      if (error instanceof Refusal && error.status < 500) throw error;
      alertText(`goodgain judge does not answer${error instanceof Refusal ? `: ${error.message}` : ""}. Start it again; the page continues by itself.`);
      at("alert").dataset.reason = "reading";
      await pause(wait);
    }
  }
}

function form(title, fields, label, submit) {
  const problem = element("p", { class: "warning", role: "alert" });
  const box = element("form", { class: "card start" }, element("h2", { id: "question", tabindex: "-1" }, title), fields, problem,
    element("button", { type: "submit", class: "primary" }, label));
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.textContent = "";
    try {
      await submit(new FormData(box));
    } catch (error) {
      problem.textContent = error instanceof Refusal ? `${error.message}.` : "The server does not answer. Try again.";
    }
  });
  at("main").replaceChildren(box);
  return box;
}

let entering = null;
function logIn() {
  entering ??= new Promise((resolve) => {
    const password = element("input", { type: "password", name: "password", id: "password", autocomplete: "current-password", required: true });
    form("Password", [element("label", { for: "password" }, "The password of this page"), password], "Enter", async (data) => {
      await request("login", { password: data.get("password") });
      entering = null;
      at("main").replaceChildren();
      resolve();
    });
    password.focus();
  });
  return entering;
}

function chooseName(problem = "") {
  at("views").replaceChildren();
  at("who").replaceChildren();
  const names = session.setup.annotators;
  const input = element("input", { id: "name", name: "name", required: true, maxlength: "100", autocomplete: "off", list: "names" });
  input.value = session.annotator || localStorage.getItem(NAME) || "";
  const adjudicates = session.setup.mode === "labels";
  const box = form("Who are you?", [
    element("label", { for: "name" }, "Your name, as it is stored with your labels"), input,
    element("datalist", { id: "names" }, names.map((name) => element("option", { value: name }))),
    adjudicates ? element("label", { class: "check" }, element("input", { type: "checkbox", name: "adjudicator" }), " I only settle disagreements (this name sees other people's labels and cannot label)") : null,
    session.setup.guidelines ? null : element("p", { class: "note" }, "There are no guidelines, only the scale below."),
    element("ul", { class: "scale" }, session.setup.grades.map(({ gain, text }) => element("li", {}, element("b", {}, gainText(gain)), " ", text))),
  ], "Start", async (data) => {
    const answer = await request("start", { annotator: data.get("name"), role: data.get("adjudicator") ? "adjudicator" : "annotator" });
    enter(answer);
    await open(answer.role === "adjudicator" ? "adjudicate" : "judge");
  });
  if (problem) box.querySelector("[role=alert]").textContent = problem;
  input.focus();
}

function enter(answer) {
  session.annotator = answer.annotator;
  session.role = answer.role;
  localStorage.setItem(NAME, answer.annotator);
  at("who").replaceChildren(userText(answer.annotator), " ", element("button", { type: "button", onclick: () => { history.replaceState(null, "", location.pathname); chooseName(); } }, "Change name"));
}

const VIEWS = {
  judge: ["Judge", loadItem],
  agreement: ["Agreement", drawAgreement],
  adjudicate: ["Adjudicate", drawAdjudication],
};

async function open(view) {
  session.view = view;
  const names = Object.keys(VIEWS).filter((name) => name !== "adjudicate" || session.setup.mode === "labels");
  at("views").replaceChildren(
    ...names.map((name) => element("button", { type: "button", "aria-current": name === view ? "page" : null, onclick: () => open(name) }, VIEWS[name][0])),
    element("button", { type: "button", id: "show-guidelines", "aria-expanded": String(!at("guidelines").hidden), "aria-controls": "guidelines", "aria-keyshortcuts": "g", onclick: toggleGuidelines }, "Guidelines"),
    element("button", { type: "button", "aria-keyshortcuts": "?", onclick: showKeys }, "Keys"));
  if (view !== "judge") history.replaceState(null, "", `#${view}`);
  try {
    await VIEWS[view][1]();
  } catch (error) {
    chooseName(`${error.message}.`);
  }
}

function toggleGuidelines() {
  const pane = at("guidelines");
  pane.hidden = !pane.hidden;
  at("show-guidelines").setAttribute("aria-expanded", String(!pane.hidden));
  if (!pane.hidden) pane.focus();
}

const shortcutsOn = () => localStorage.getItem(SHORTCUTS) !== "off";

function showKeys() {
  const dialog = at("dialog");
  const rows = [
    ...choices().filter((choice) => choice.keys.length).map((choice) => [choice.keys.map((key) => ({ ArrowLeft: "←", ArrowRight: "→" })[key] || key).join(" or "), choice.name || `label ${choice.sign}`]),
    ["u", "undo your last label"], ["s", "skip, with a reason"], ["n", "write a note (Escape leaves it)"], ["g", "guidelines"], ["?", "this list"],
  ];
  const box = element("input", { type: "checkbox", id: "shortcuts" });
  box.checked = shortcutsOn();
  box.addEventListener("change", () => localStorage.setItem(SHORTCUTS, box.checked ? "on" : "off"));
  dialog.replaceChildren(element("h2", { id: "dialog-title" }, "Keys"), element("dl", {}, rows.flatMap(([key, text]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)])),
    element("label", { class: "check", for: "shortcuts" }, box, " Single keys work"),
    element("div", { class: "tools" }, element("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.showModal();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !session.annotator) return;
  const { target } = event;
  if (target.id === "note" && event.key === "Escape") {
    at("question").focus();
    return;
  }
  if (target.closest("input, textarea, select, [contenteditable]") || !shortcutsOn()) return;
  if (at("dialog").open) {
    const button = at("dialog").querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (button) {
      event.preventDefault();
      button.click();
    }
    return;
  }
  if (event.key === "?") return showKeys();
  if (event.key === "g" && at("show-guidelines")) return toggleGuidelines();
  if (session.view !== "judge") return undefined;
  const choice = choices().find((one) => one.keys.includes(event.key));
  const scrolls = event.key.startsWith("Arrow") && target.closest(".scroll, pre, #guidelines");
  if (choice && work.item && !scrolls) {
    event.preventDefault();
    return void vote(choice.value);
  }
  if (event.key === "u") return void undo();
  if (event.key === "s" && work.item) {
    event.preventDefault();
    return openSkip();
  }
  if (event.key === "n" && work.item) {
    event.preventDefault();
    at("note").focus();
  }
  return undefined;
});

function fillGuidelines() {
  const { guidelines, grades, mode } = session.setup;
  const scale = element("ul", { class: "scale" }, grades.map(({ gain, text }) => element("li", {}, element("b", {}, gainText(gain)), " ", text)));
  at("guidelines").tabIndex = -1;
  at("guidelines").replaceChildren(element("h2", {}, "Guidelines"), guidelines ? markdown(guidelines) : "", mode === "labels" ? element("h3", {}, "Scale") : "", mode === "labels" ? scale : "");
}

async function begin() {
  session.setup = await read("setup");
  at("title").replaceChildren(userText(session.setup.title));
  document.title = `${session.setup.title}: goodgain judge`;
  fillGuidelines();
  for (const entry of pending()) { // from before a reload
    try {
      at("status").textContent = (await deliver(entry)).message;
    } catch (error) {
      alertText(`An earlier label was not saved: ${error.message}.`);
    }
  }
  const name = localStorage.getItem(NAME);
  const view = location.hash.slice(1);
  if (!name) return chooseName();
  try {
    enter(await request("start", { annotator: name, role: null }));
  } catch (error) {
    return chooseName(error instanceof Refusal ? `${error.message}.` : "");
  }
  return open(view in VIEWS ? view : session.role === "adjudicator" ? "adjudicate" : "judge");
}

begin();
