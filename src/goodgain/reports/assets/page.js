// The page: header, sections, and the switch between light and dark.

const dark = matchMedia("(prefers-color-scheme: dark)");

function currentTheme() {
  return document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
}

// A file on disk may have no storage: then the choice lasts as long as the page.
function remembered(value) {
  try {
    if (value !== undefined) localStorage.setItem("goodgain-theme", value);
    return localStorage.getItem("goodgain-theme");
  } catch {
    return null;
  }
}

function themeButton() {
  const button = element("button", { type: "button", class: "quiet", id: "theme", onclick: () => {
    const next = currentTheme() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    remembered(next);
    show();
    redraw();
  } });
  const show = () => {
    button.textContent = currentTheme() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Show the page in ${currentTheme() === "dark" ? "light" : "dark"} colours`);
  };
  dark.addEventListener("change", () => {
    show();
    redraw();
  });
  show();
  return button;
}

const PARTS = {
  text: (part, box) => box.append(element("p", { class: part.style }, part.pieces.map((p) => (p.user ? userText(p.text) : p.strong ? element("strong", {}, p.text) : p.text)))),
  table: (part, box) => box.append(new DataTable(tableOfRows(part)).box),
  chart: mountChart,
  widget: (part, box) => widgets[part.name](part, box),
};

function build() {
  const page = block("page");
  const known = ["light", "dark"].find((theme) => theme === remembered());
  if (known) document.documentElement.dataset.theme = known;
  document.getElementById("title").replaceChildren(userText(page.title));
  document.getElementById("made").textContent = page.made;
  document.getElementById("tools").append(themeButton());
  const main = document.getElementById("main");
  const places = document.getElementById("places");
  for (const section of page.sections) {
    places.append(element("li", {}, element("a", { href: `#${section.key}` }, section.title)));
    const box = element("section", { id: section.key, "aria-labelledby": `${section.key}-title` },
      element("h2", { id: `${section.key}-title` }, section.title));
    main.append(box);
    let row = null; // charts that follow each other stand side by side where there is room
    for (const part of section.parts) {
      if (part.kind === "chart" && !row) box.append((row = element("div", { class: "charts" })));
      if (part.kind !== "chart") row = null;
      PARTS[part.kind](part, row ?? box);
    }
  }
}

build();
