// The replay of a conversation: a slider over its searches, with what was gained, repeated and spent by then.

const STATES = {
  good: "new good results", fresh: "new results", stale: "nothing new", empty: "empty", failed: "failed", unread: "unread",
};

// What a search brought, the most important first.
function searchState(search) {
  if (search.unread) return "unread";
  if (search.error) return "failed";
  if (!search.results.length) return "empty";
  return search.good ? "good" : search.fresh ? "fresh" : "stale";
}

class Replay {
  // `timeline` has the results with their places, and moves to them.
  constructor(item, timeline, options) {
    Object.assign(this, { item, timeline, options });
    let first = 0; // number of the first result of a search
    const total = { gain: 0, good: 0, results: 0, duplicates: 0, unlabelled: 0, unread: 0 };
    this.searches = item.iterations.flatMap((iteration, i) => iteration.searches.map((search, s) => {
      total.gain += search.added;
      total.good += search.good;
      total.results += search.results.length;
      total.duplicates += search.results.length - search.fresh;
      total.unlabelled += search.unlabelled;
      total.unread += search.unread ? 1 : 0;
      const begin = first;
      first += search.results.length;
      return { ...search, place: `${i + 1}.${s + 1}`, iteration: i + 1, spent: iteration.spent, begin, state: searchState(search), soFar: { ...total } };
    }));
    this.at = 0;
    this.slider = element("input", {
      type: "range", min: 1, max: this.searches.length, step: 1, value: 1, "aria-label": "Search of the conversation",
      oninput: () => this.go(Number(this.slider.value) - 1),
    });
    this.slider.style.setProperty("--share", (this.searches.length - 1) / this.searches.length); // the thumb stands below its bar
    this.bars = this.searches.map((search, n) => this.bar(search, n));
    this.figures = element("dl", { class: "replay-figures" });
    this.current = element("div", { class: "replay-search" });
    this.box = element("section", { class: "replay", "aria-label": "Replay" },
      element("h3", {}, "Replay"),
      element("div", { class: "replay-track" }, element("div", { class: "replay-bars", "aria-hidden": "true" }, this.bars), this.slider),
      this.legend(), this.figures, this.current);
    this.go(0);
  }

  // Its height is the gain so far, its colour what the search brought.
  bar(search, n) {
    const all = this.searches.at(-1).soFar.gain;
    const bar = element("span", { class: `replay-bar ${search.state}`, title: plain(this.describe(n)), onclick: () => this.go(n) });
    bar.style.setProperty("--height", `${Math.round(all ? (100 * search.soFar.gain) / all : 0)}%`);
    return bar;
  }

  legend() {
    const present = Object.keys(STATES).filter((state) => this.searches.some((search) => search.state === state));
    return element("p", { class: "note samples" }, "Bars: gain so far.",
      present.map((state) => element("span", { class: "sample" }, element("span", { class: `replay-sample ${state}`, "aria-hidden": "true" }), STATES[state])));
  }

  describe(n) {
    const { place, state, query } = this.searches[n];
    return `Search ${n + 1} of ${this.searches.length} (${place}), ${STATES[state]}: ${query || "no query"}`;
  }

  go(n) {
    this.at = n;
    this.slider.value = n + 1;
    this.slider.setAttribute("aria-valuetext", plain(this.describe(n)));
    this.bars.forEach((bar, i) => bar.classList.toggle("past", i <= n));
    this.bars.forEach((bar, i) => bar.classList.toggle("now", i === n));
    this.figures.replaceChildren(...this.soFar(n));
    this.current.replaceChildren(...this.search(n));
  }

  soFar(n) {
    const { soFar, spent, iteration } = this.searches[n];
    const parallel = this.item.iterations[iteration - 1].searches.length > 1;
    const whole = this.searches.at(-1).soFar;
    const labelled = this.item.labelled;
    const isOpen = ({ unlabelled, unread }) => unlabelled + unread > 0; // there may be more
    const least = isOpen(soFar) ? "at least " : "";
    const share = labelled && whole.gain ? ` (${number((100 * soFar.gain) / whole.gain, 0)}% of the ${isOpen(whole) ? "known " : ""}gain)` : "";
    const figure = (name, text) => element("div", {}, element("dt", {}, name), element("dd", {}, text));
    const until = parallel ? `by the end of iteration ${iteration}` : "so far"; // searches of an iteration run in parallel
    return [
      figure("search", `${n + 1} of ${this.searches.length}`),
      figure("gain so far", labelled ? `${least}${number(soFar.gain, 2)}${share}` : "unknown: no labels"),
      figure("new good results", labelled ? `${least}${number(soFar.good, 0)}` : "–"),
      figure("repeats", soFar.results ? `${number(soFar.duplicates, 0)} of ${counted(soFar.results, "result")}${soFar.unread ? " read" : ""}` : "–"),
      ...(whole.unlabelled ? [figure("without a label", number(soFar.unlabelled, 0))] : []),
      ...[["seconds", (v) => seconds(v)], ["tokens", (v) => number(v, 0)], ["cost", (v) => number(v)]]
        .filter(([name]) => this.item.iterations.some((each) => each.spent[name] !== null))
        .map(([name, text]) => figure(`${name} ${until}`, spent[name] === null ? "not known" : text(spent[name]))),
    ];
  }

  search(n) {
    const { query, state, results, error, unread, repeats, begin, place } = this.searches[n];
    return [
      element("div", { class: "search-head" }, element("span", { class: "place" }, place), element("strong", {}, query ? userText(query) : "(no query)"),
        element("span", { class: `state ${state}` }, STATES[state]), repeats ? element("span", { class: "badge" }, "repeated query") : null),
      error ? element("p", { class: "warning" }, userText(error)) : null,
      unread ? element("p", { class: "warning" }, "unread: ", userText(unread)) : null,
      results.length ? element("ol", { class: "results" }, results.map((_, r) => this.result(begin + r))) : null,
    ].filter((child) => child !== null);
  }

  result(n) {
    const result = this.timeline.results[n];
    const { first, title, url } = result;
    return element("li", { class: first === undefined ? "result" : "result muted" },
      element("span", { class: "place" }, this.timeline.jump(n, `Go to result ${result.place}`)), this.timeline.badge(result),
      element("div", { class: "what" }, userText(title || url || "(no title)"), " ",
        first === undefined ? element("span", { class: "mark" }, "new")
          : element("span", { class: "mark" }, "duplicate of ", this.timeline.jump(first, `Go to the first occurrence ${this.timeline.results[first].place} in the timeline`))));
  }
}
