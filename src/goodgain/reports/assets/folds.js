// Sections that fold open, and the copy button of the verdict.

const FOLDS = "main details.fold";

// A section whose content is shown when its heading is opened.
function foldedSection(section, heading) {
  const body = element("div", { class: "fold-body" });
  const fold = element("details", { class: "fold" },
    element("summary", {}, heading, section.hint ? element("span", { class: "note" }, plain(section.hint)) : null), body);
  return [fold, body];
}

// Open whatever hides an element.
function reveal(node) {
  for (let fold = node?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

// The section that the address names, or the table that its filters belong to, is opened.
function revealTarget() {
  const name = decodeURIComponent(location.hash.slice(1));
  reveal(parameters().has("query") || QUERY_PARAMETERS.some((each) => parameters().has(each)) ? document.getElementById("queries")?.querySelector(FOLDS + " > *") : document.getElementById(name)?.querySelector("details.fold > *"));
}

function foldsButton() {
  const folds = () => [...document.querySelectorAll(FOLDS)];
  const button = element("button", { type: "button", class: "quiet", id: "folds", onclick: () => {
    const open = folds().some((fold) => !fold.open);
    for (const fold of folds()) fold.open = open;
    button.textContent = open ? "Close all" : "Open all";
  } }, "Open all");
  return folds().length ? button : null;
}

// The verdict as text, as people paste it into a message.
function copyButton() {
  const card = document.querySelector(".verdict");
  if (!card) return;
  const lines = [card.querySelector(".verdict-head").innerText];
  for (const description of card.querySelectorAll("dd")) {
    const text = description.cloneNode(true);
    for (const drawing of text.querySelectorAll("svg")) drawing.remove();
    const term = description.previousElementSibling;
    lines.push(`${term.tagName === "DT" ? term.textContent + ": " : ""}${text.textContent}`);
  }
  const status = element("span", { class: "note", role: "status" });
  const button = element("button", { type: "button", class: "quiet copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(lines.join("\n"));
      status.textContent = "Copied";
    } catch {
      status.textContent = "This browser does not let pages copy; select the text instead";
    }
    setTimeout(() => (status.textContent = ""), 4000);
  } }, "Copy");
  card.prepend(element("div", { class: "tools verdict-tools" }, status, button));
}

addEventListener("hashchange", revealTarget);

// Paper has no folds: everything is opened for it, and closed again.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll(`${FOLDS}:not([open])`)) {
    fold.dataset.printed = "";
    fold.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const fold of document.querySelectorAll(`${FOLDS}[data-printed]`)) {
    delete fold.dataset.printed;
    fold.open = false;
  }
});
