// Ranked lists side by side: the same document is marked in all of them, and can be opened and followed from one to the other.

function listsOf(queries, row) {
  const { data, lists, systems } = queries;
  const { measures } = lists.packed;
  const selected = data.measures[queries.measure].name;
  const box = element("div", { class: `lists of-${systems.length}` });
  const marked = new Marked(box);
  const draw = (measure) => {
    const all = systems.map((s) => lists.list(s, row, measure));
    const largest = Math.max(...all.flatMap((items) => items.map((item) => Math.abs(item.contribution))), 1e-9);
    const places = all.map((items) => new Map(items.map((item) => [item.doc, item])));
    const base = queries.reference === null ? null : places[0];
    box.replaceChildren(...systems.map((s, i) => oneList(queries, { row, system: s, side: i, items: all[i], measure, base: i ? base : null, places, largest, marked })));
  };
  if (!measures.length) {
    draw(null);
    return element("div", {}, element("h3", {}, "Ranked lists"),
      element("p", { class: "note" }, "None of these measures is a sum over ranks, so the documents have no contributions."), box);
  }
  const first = measures.includes(selected) ? selected : measures[0];
  const select = element("select", { "aria-label": "Measure of the contributions", onchange: () => draw(select.value) },
    measures.map((m) => element("option", { value: m, selected: m === first }, m)));
  draw(first);
  return element("div", {}, element("div", { class: "bar" }, element("h3", {}, "Ranked lists"),
    element("label", {}, "Contribution of each document to ", select)), box);
}

// Marks a document wherever it is listed, below the pointer or the focus, and goes to it in another list.
class Marked {
  constructor(box) {
    this.box = box;
    for (const [enter, leave] of [["pointerover", "pointerleave"], ["focusin", "focusout"]]) {
      box.addEventListener(enter, (event) => this.mark(event.target.closest("tr")?.querySelector("[data-doc]")?.dataset.doc));
      box.addEventListener(leave, () => this.mark());
    }
  }

  places(doc) {
    return [...this.box.querySelectorAll(`[data-doc="${doc}"]`)];
  }

  mark(doc) {
    for (const line of this.box.querySelectorAll("tr.same")) line.classList.remove("same");
    const places = doc === undefined ? [] : this.places(doc);
    if (places.length > 1) for (const place of places) place.closest("tr").classList.add("same");
  }

  go(doc, side) {
    const place = this.places(doc).find((each) => each.dataset.side === String(side));
    place.focus({ preventScroll: true });
    place.scrollIntoView({ block: "center", inline: "nearest" });
    this.mark(String(doc));
  }
}

function rankChange(item, base) {
  if (base === null) return { value: null, text: "" };
  const before = base.get(item.doc);
  if (!before) return { value: null, text: "new" };
  const up = before.rank - item.rank;
  return { value: up, text: up === 0 ? "=" : `${up > 0 ? "▲" : "▼"}${Math.abs(up)}`, spoken: up === 0 ? "" : `${up > 0 ? "up" : "down"} ${Math.abs(up)}` };
}

function gainText(gain) {
  return number(gain, Number.isInteger(gain) ? 0 : 2);
}

function gainBadge(gain, packed) {
  return gain === null
    ? element("span", { class: "gain unknown" }, "unjudged")
    : element("span", { class: `gain gain-${gainLevel(gain, packed.gains.at(-1))}` }, gainText(gain));
}

// The id of a document with its link and title, and its text on request.
function documentCell(packed, doc) {
  const title = packed.titles && packed.titles[doc];
  const text = packed.texts && packed.texts[doc];
  const opener = text && text.length > 0 ? element("details", { class: "document", ontoggle: () => {
    if (opener.open && opener.childElementCount === 1) opener.append(appendText(element("div", { class: "document-text", tabindex: "0", role: "region", "aria-label": plain(`Text of ${packed.ids[doc]}`) }), text, TEXT_CONTROLS));
  } }, element("summary", { "aria-label": plain(`Text of ${packed.ids[doc]}`) }, "text")) : null;
  return [webLink((packed.links && packed.links[doc]) || packed.ids[doc], packed.ids[doc]),
    title ? element("span", { class: "subtext" }, userText(title.trim().replace(/\s*\n\s*/g, " · "))) : null, opener];
}

function oneList(queries, { row, system, side, items, measure, base, places, largest, marked }) {
  const { data, lists, systems } = queries;
  const { packed } = lists;
  const drawMove = (i, cell) => cell.spoken
    ? [element("span", { "aria-hidden": "true", class: cell.value > 0 ? "up" : "down" }, cell.text), element("span", { class: "hidden" }, cell.spoken)]
    : [element("span", { class: "quiet-text" }, cell.text)];
  const drawDoc = (i) => {
    const { doc } = items[i];
    const elsewhere = systems.flatMap((s, at) => {
      const other = at === side ? undefined : places[at].get(doc);
      return other ? [element("button", { type: "button", class: "chip", "aria-label": plain(`Go to it in ${data.systems[s]}, rank ${other.rank}`), onclick: () => marked.go(doc, at) },
        userText(data.shorts[s]), ` #${other.rank}`)] : [];
    });
    return element("div", { "data-doc": doc, "data-side": side, tabindex: "-1" }, documentCell(packed, doc),
      elsewhere.length ? element("span", { class: "chips" }, elsewhere) : null);
  };
  const drawContribution = (i) => {
    const { contribution } = items[i];
    const bar = element("span", { class: contribution < 0 ? "bar-fill worse" : "bar-fill", "aria-hidden": "true" });
    bar.style.setProperty("width", `${(100 * Math.abs(contribution)) / largest}%`);
    return [contribution ? number(contribution) : element("span", { class: "quiet-text" }, "0"), element("span", { class: "bar-track" }, bar)];
  };
  const columns = [
    { name: "#", kind: "number", digits: 0, help: "rank", of: (i) => items[i].rank },
    ...(base === null ? [] : [{ name: "moved", kind: "text", help: "ranks up or down from the reference", of: (i) => rankChange(items[i], base), draw: drawMove }]),
    { name: "document", kind: "text", wide: true, of: (i) => packed.ids[items[i].doc], draw: drawDoc },
    { name: "gain", kind: "number", help: "from the judgments", of: (i) => items[i].gain, draw: (i) => gainBadge(items[i].gain, packed) },
    ...(measure === null ? [] : [{ name: "adds", kind: "number", help: `contribution to ${measure}`, of: (i) => items[i].contribution, draw: drawContribution }]),
    ...(items.some((item) => !Number.isNaN(item.score)) ? [{ name: "score", kind: "number", of: (i) => ({ value: items[i].score, text: String(Number(items[i].score.toPrecision(5))) }) }] : []),
  ];
  const name = data.systems[system] + (system === data.baseline ? " (baseline)" : side === 0 && queries.reference !== null ? " (reference)" : "");
  const table = new DataTable({
    key: `list-${system}`, title: plain(name), columns, count: items.length,
    cell: (i, column) => displayCell(columns[column], columns[column].of(i)),
    note: "",
  }, { search: false });
  table.box.append(...belowList(queries, row, system, measure, items, base));
  return table.box;
}

// Notes below a list: the value, documents further down, and documents of the reference that dropped out.
function belowList(queries, row, system, measure, items, base) {
  const { data, lists, values } = queries;
  const from = lists.systems[system];
  if (!from) return [element("p", { class: "note" }, "The ranked list of this system is not available.")];
  const notes = [];
  const rest = from.retrieved[row] - items.length;
  if (!items.length) notes.push("No documents were retrieved.");
  else if (rest > 0) notes.push(`${counted(rest, "more document")} further down.`);
  const index = measure === null ? -1 : data.measures.findIndex((m) => m.name === measure);
  if (index >= 0 && !Number.isNaN(values[system][index][row])) {
    const start = from.bases[measure] ? from.bases[measure][row] : 0;
    const value = (from.values[measure] ?? values[system][index])[row]; // of the listed seed, if there are several
    const listed = items.reduce((sum, item) => sum + item.contribution, 0);
    const below = value - listed - (Number.isNaN(start) ? 0 : start);
    const sources = [start ? `${number(start)} without any judgments` : "", Math.abs(below) > 1e-6 ? `${number(below, 4, true)} from further down` : ""].filter(Boolean);
    notes.push(`${measure} ${number(value)}${sources.length ? ` (including ${sources.join(" and ")})` : ""}.`);
  }
  const paragraphs = [element("p", { class: "note" }, notes.join(" "))];
  if (base) {
    const listed = new Set(items.map((item) => item.doc));
    const dropped = [...base.values()].filter((item) => !listed.has(item.doc));
    if (dropped.length)
      paragraphs.push(element("p", { class: "note" }, `Dropped out of the top ${lists.packed.depth}: `,
        dropped.flatMap((item, i) => [i ? ", " : "", userText(lists.packed.ids[item.doc]),
          ` (was rank ${item.rank}, ${item.gain === null ? "unjudged" : `gain ${gainText(item.gain)}`})`]), "."));
  }
  return paragraphs;
}

// The relevant documents in the ideal order, and where each system has them; what a system missed has a dash.
function idealOrder(queries, row) {
  const { data, lists, systems } = queries;
  const { packed } = lists;
  const ideal = lists.ideal(row, systems);
  const total = lists.relevant.totals[row];
  if (!ideal.length) return element("p", { class: "note" }, "No document was judged relevant for this query.");
  const rank = (i, at) => {
    const value = ideal[i].ranks[at];
    return value === undefined ? { value: null, text: "not known" } : value === 0 ? { value: null, text: "missed" } : value;
  };
  const missed = systems.map((s, at) => {
    const below = ideal.filter(({ ranks }) => ranks[at] > packed.depth).length;
    const never = ideal.filter(({ ranks }) => ranks[at] === 0).length;
    return ideal[0].ranks[at] === undefined ? null
      : [userText(data.shorts[s]), ` missed ${never.toLocaleString("en-US")} and has ${below.toLocaleString("en-US")} below rank ${packed.depth}`];
  }).filter((text) => text !== null);
  const columns = [
    { name: "#", kind: "number", digits: 0, help: "rank in the ideal order", of: (i) => i + 1 },
    { name: "document", kind: "text", wide: true, of: (i) => packed.ids[ideal[i].doc], draw: (i) => element("div", {}, documentCell(packed, ideal[i].doc)) },
    { name: "gain", kind: "number", help: "from the judgments", of: (i) => ideal[i].gain, draw: (i) => gainBadge(ideal[i].gain, packed) },
    ...systems.map((s, at) => ({ name: data.systems[s], short: data.shorts[s], kind: "number", digits: 0, help: "rank in the list of this system", of: (i) => rank(i, at) })),
  ];
  const table = new DataTable({
    key: "query-ideal", title: "Relevant documents in the ideal order", columns, count: ideal.length, note: "",
    cell: (i, column) => {
      const cell = displayCell(columns[column], columns[column].of(i));
      return column < 3 ? cell : { ...cell, tone: cell.value === null ? "worse" : cell.value > packed.depth ? "muted" : "" };
    },
  }, { nouns: ["relevant document", "relevant documents"], search: false });
  table.box.classList.add("ideal");
  table.box.append(element("p", { class: "note" }, `Of ${counted(total, "relevant document")}${total > ideal.length ? `, the ${ideal.length} best of which are listed` : ""}: `,
    missed.flatMap((text, i) => [i ? "; " : "", ...text]), missed.length ? ". " : "", "Documents of equal gain are in the order of the judgments."));
  return table.box;
}
