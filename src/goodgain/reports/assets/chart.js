// Charts: Vega-Lite specifications, drawn under a policy that lets no text become code.

// Charts load and link nothing, whatever their specification says.
const blockedLoader = {
  load: () => Promise.reject(new Error("reports do not load resources")),
  sanitize: () => Promise.reject(new Error("charts in reports have no links")),
};
const mounted = new Set();

// A specification whose legends have a fixed number of columns, as chart.py makes it: the width shrinks once the axis is
// drawn, and a legend that then breaks into another row would be cut off.
function fittedLegends(spec, width) {
  if (Array.isArray(spec)) return spec.map((item) => fittedLegends(item, width));
  if (spec === null || typeof spec !== "object") return spec;
  const columns = /^max\(1, floor\(width \/ (\d+)\)\)$/.exec(spec.expr ?? "");
  if (columns) return Math.max(1, Math.floor((0.62 * width) / Number(columns[1])));
  return Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, key === "data" ? value : fittedLegends(value, width)]));
}

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
    const axis = { ...themed.axis, labelLimit: Math.max(70, Math.min(180, Math.floor(width / 3))) }; // as in theme.py
    const spec = { ...fittedLegends(this.chart.spec, width), width: width - 8, autosize: { type: "fit-x", contains: "padding" }, config: { ...themed, axis } };
    const compiled = vegaLite.compile(spec).spec;
    this.view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vega.expressionInterpreter, loader: blockedLoader, renderer: "svg", container: this.box, hover: true,
      logLevel: vega.Error, // do not warn about columns without values
    });
    this.view.run();
    const svg = this.box.querySelector("svg");
    if (svg) svg.setAttribute("aria-hidden", "true");
  }
}

function mountChart(chart, box) {
  const canvas = element("div", { class: "canvas", role: "img", "aria-label": `${chart.title}. ${chart.description}` });
  // Reserve room for axis and legend, so that drawing does not move the content below.
  canvas.style.setProperty("min-height", `${(chart.spec.height ?? 280) + 70}px`);
  const view = new ChartView(chart, canvas);
  const table = {
    ...chart, key: `${chart.key}-data`, note: "",
    columns: chart.columns.map((name, i) => ({ name, kind: chart.rows.every((r) => typeof r[i] !== "string") ? "number" : "text",
      digits: chart.rows.every((r) => r[i] === null || Number.isInteger(r[i])) ? 0 : 4 })),
  };
  const data = element("details", { class: "data", ontoggle: () => {
    if (data.open && data.childElementCount === 1) data.append(new DataTable(tableOfRows(table)).box);
  } }, element("summary", {}, "Show data"));
  const saveButton = (name, onclick) => element("button", { type: "button", class: "quiet", "aria-label": `${name} of ${chart.title}`, onclick }, name);
  box.append(element("figure", { class: "chart", id: `chart-${chart.key}` },
    element("div", { class: "bar" }, element("h3", {}, chart.title), element("div", { class: "tools" },
      saveButton("SVG", () => view.view && view.view.toSVG().then((text) => download(`${chart.key}.svg`, "image/svg+xml", text))),
      saveButton("CSV", () => {
        const { columns, cell, count } = tableOfRows(table);
        const rows = Array.from({ length: count }, (_, r) => columns.map((_, c) => cell(r, c)));
        download(`${chart.key}.csv`, "text/csv", EXPORTS.CSV.write({ columns, rows }));
      }))),
    element("figcaption", {}, chart.description), canvas, data));
  mounted.add(view);
}

// Draw charts when they come near the viewport, and again when their width changes. The library is loaded last.
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

// Print in light colours, including charts that were never scrolled to.
addEventListener("beforeprint", () => {
  for (const view of mounted) view.draw("light");
});
addEventListener("afterprint", redraw);
