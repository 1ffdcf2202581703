// How far annotators agree, and the disagreements that somebody settles.
"use strict";

function interval(figure) {
  if (figure.value === null) return `not defined: ${figure.why}`;
  const ends = figure.low === null ? `no interval: ${figure.why}` : `[${number(figure.low, 2)}, ${number(figure.high, 2)}]`;
  return `${number(figure.value, 2)} ${ends}`;
}

function table(caption, columns, rows) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, element("table", {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, columns.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, i) => element(i ? "td" : "th", i ? {} : { scope: "row" }, cell)))))));
}

async function drawAgreement() {
  const data = await read("agreement");
  const box = at("main");
  box.replaceChildren(element("h2", { id: "question", tabindex: "-1" }, "Agreement"));
  if (data.gsb) box.append(element("p", { class: "lead" }, userText(data.gsb)));
  box.append(element("p", {}, userText(data.sentence)));
  if (data.figures.length) {
    box.append(table("Agreement between people", ["", "value and 95% interval", "pairs", "queries"], data.figures.map((figure) => [userText(figure.name), interval(figure), number(figure.pairs, 0), number(figure.queries, 0)])));
    box.append(element("p", { class: "note" }, "Intervals come from the jackknife over queries. Skipped items and adjudicated labels do not count."));
  }
  if (data.people.length) {
    box.append(table("Annotators", ["", "labels", "skipped", "median time"], data.people.map((person) => [userText(person.name), number(person.labels, 0), number(person.skipped, 0), person.seconds === null ? "–" : `${number(person.seconds, 1)} s`])));
    box.append(element("p", { class: "note" }, `The clock stops while the page is hidden, and counts at most ${session.setup.idle} seconds between two interactions.`));
  }
  at("question").focus();
}

async function drawAdjudication() {
  const data = await read("disagreements");
  const box = at("main");
  box.replaceChildren(element("h2", { id: "question", tabindex: "-1" }, "Adjudicate"),
    element("p", {}, data.items.length ? `${counted(data.items.length, "disagreement")} to settle${data.settled ? `, ${data.settled} settled` : ""}.` : `No disagreement to settle${data.settled ? `; ${data.settled} settled` : ""}.`));
  if (data.hidden) {
    box.append(element("p", { class: "note" }, `${counted(data.hidden, "disagreement")} about items that you have not judged yourself ${data.hidden === 1 ? "is" : "are"} not here, because seeing other people's labels would influence you. Judge them first, or adjudicate under a name that does not label.`));
  }
  data.items.forEach((item, i) => box.append(disagreement(item, i)));
  at("question").focus();
}

function disagreement(item, i) {
  const name = `Disagreement ${i + 1}`;
  const note = element("input", { type: "text", maxlength: "10000", "aria-label": `Note on disagreement ${i + 1}`, placeholder: "Note" });
  const settle = async (gain) => {
    try {
      const answer = await save("adjudicate", { item: item.key, choice: gain, note: note.value.trim(), seconds: clock.seconds() });
      at("status").textContent = answer.message;
    } catch (error) {
      alertText(`Not saved: ${error.message}.`);
    }
    await drawAdjudication();
  };
  if (!i) clock.start(item.key);
  return element("section", { class: "card", "aria-label": name },
    element("h3", { dir: "auto" }, appendText(element("span"), item.question, BODY_CONTROLS)),
    item.title && element("h4", { dir: "auto" }, userText(item.title)),
    element("p", { class: "address" }, item.url ? webLink(item.url, item.url) : userText(item.doc)),
    element("details", {}, element("summary", {}, "Text"), bodyText(item.text, wordsOf(item.question))),
    table(`Labels on disagreement ${i + 1}`, ["", "label", "note"], item.votes.map((one) => [userText(one.annotator), one.status === "skipped" ? element("span", {}, "skipped: ", userText(one.reason)) : gainText(one.gain), userText(one.note)])),
    element("div", { class: "choices", role: "group", "aria-label": `Settle disagreement ${i + 1}` },
      session.setup.grades.map(({ gain, text }) => element("button", { type: "button", class: "choice", "data-value": gain, title: text || null, onclick: () => settle(gain) }, element("b", {}, gainText(gain))))),
    element("div", { class: "tools" }, note));
}
