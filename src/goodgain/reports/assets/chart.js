// Charts: Vega-Lite specifications drawn under a policy that lets no text become code.

// Nothing is fetched and nothing is linked, whatever a specification says.
const nothing = {
  load: () => Promise.reject(new Error("a report loads nothing")),
  sanitize: () => Promise.reject(new Error("a report links nothing from charts")),
};
const mounted = new Set();

class ChartView {
  constructor(chart, box) {
    this.chart = chart;
    this.box = box;
    this.width = 0;
  }

  draw(theme = currentTheme()) {
    const width = Math.floor(this.box.clientWidth);
    if (!width || typeof vega === "undefined") return;
    this.width = width;
    if (this.view) this.view.finalize();
    const themed = block("page").themes[theme];
    const axis = { ...themed.axis, labelLimit: Math.max(70, Math.min(180, Math.floor(width / 3))) }; // as theme.py has it
    const spec = { ...this.chart.spec, width: width - 8, autosize: { type: "fit-x", contains: "padding" }, config: { ...themed, axis } };
    const compiled = vegaLite.compile(spec).spec;
    this.view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vega.expressionInterpreter, loader: nothing, renderer: "svg", container: this.box, hover: true,
      logLevel: vega.Error, // a column without any value is no reason to warn
    });
    this.view.run();
    const picture = this.box.querySelector("svg");
    if (picture) picture.setAttribute("aria-hidden", "true");
  }
}

function mountChart(chart, box) {
  const canvas = element("div", { class: "canvas", role: "img", "aria-label": `${chart.title}. ${chart.description}` });
  // Room for axis and legend, so that what stands below does not move when it is drawn.
  canvas.style.setProperty("min-height", `${(chart.spec.height ?? 280) + 70}px`);
  const view = new ChartView(chart, canvas);
  const table = {
    ...chart, key: `${chart.key}-data`, note: "",
    columns: chart.columns.map((name, i) => ({ name, kind: chart.rows.every((r) => typeof r[i] !== "string") ? "number" : "text",
      digits: chart.rows.every((r) => r[i] === null || Number.isInteger(r[i])) ? 0 : 4 })),
  };
  const data = element("details", { class: "data", ontoggle: () => {
    if (data.open && data.childElementCount === 1) data.append(new DataTable(tableOfRows(table)).box);
  } }, element("summary", {}, "Data as a table"));
  const save = (name, act) => element("button", { type: "button", class: "quiet", "aria-label": `${name} of ${chart.title}`, onclick: act }, name);
  box.append(element("figure", { class: "chart", id: `chart-${chart.key}` },
    element("div", { class: "bar" }, element("h3", {}, chart.title), element("div", { class: "tools" },
      save("SVG", () => view.view && view.view.toSVG().then((text) => download(`${chart.key}.svg`, "image/svg+xml", text))),
      save("CSV", () => {
        const { columns, cell, count } = tableOfRows(table);
        const rows = Array.from({ length: count }, (_, r) => columns.map((_, c) => cell(r, c)));
        download(`${chart.key}.csv`, "text/csv", EXPORTS.CSV.write({ columns, rows }));
      }))),
    element("figcaption", {}, chart.description), canvas, data));
  mounted.add(view);
}

// Drawn when they come near, and again when their width changes; what draws them is loaded last.
addEventListener("DOMContentLoaded", () => {
  const resized = new ResizeObserver((entries) => {
    for (const view of mounted)
      if (view.view && entries.some((e) => e.target === view.box) && Math.abs(view.box.clientWidth - view.width) > 1) view.draw();
  });
  const near = new IntersectionObserver((entries) => {
    for (const view of mounted)
      if (!view.view && entries.some((e) => e.isIntersecting && e.target === view.box)) {
        view.draw();
        near.unobserve(view.box);
        resized.observe(view.box);
      }
  }, { rootMargin: "400px" });
  for (const view of mounted) near.observe(view.box);
});

function redraw() {
  for (const view of mounted) if (view.view) view.draw();
}

// Paper is light, and holds charts that were never scrolled to.
addEventListener("beforeprint", () => {
  for (const view of mounted) view.draw("light");
});
addEventListener("afterprint", redraw);
