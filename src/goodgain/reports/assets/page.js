// The page: header, sections, and the switch between light and dark colours.

const dark = matchMedia("(prefers-color-scheme: dark)");

function currentTheme() {
  return document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
}

// The saved theme. A file on disk may have no storage; then the choice lasts until the page is closed.
function savedTheme(value) {
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
    savedTheme(next);
    update();
    redraw();
  } });
  const update = () => {
    button.textContent = currentTheme() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${currentTheme() === "dark" ? "light" : "dark"} colours`);
  };
  dark.addEventListener("change", () => {
    update();
    redraw();
  });
  update();
  return button;
}

function drawSpan({ text, user, strong, address }) {
  if (address && address.startsWith("#")) return element("a", { href: address }, userText(text));
  return user ? userText(text) : strong ? element("strong", {}, plain(text)) : plain(text);
}

const RENDERERS = {
  text: (item, box) => box.append(element("p", { class: item.style }, item.spans.map(drawSpan))),
  table: (item, box) => box.append(new DataTable(tableOfRows(item)).box),
  chart: mountChart,
  widget: (item, box) => widgets[item.name](item, box),
};

function build() {
  const page = block("page");
  const theme = ["light", "dark"].find((name) => name === savedTheme());
  if (theme) document.documentElement.dataset.theme = theme;
  document.getElementById("title").replaceChildren(userText(page.title));
  document.getElementById("generated").textContent = page.generated;
  const main = document.getElementById("main");
  const links = document.getElementById("section-links");
  for (const section of page.sections) {
    links.append(element("li", {}, element("a", { href: `#${section.key}` }, section.title)));
    const heading = element("h2", { id: `${section.key}-title` }, section.title);
    const place = element("section", { id: section.key, "aria-labelledby": `${section.key}-title` });
    main.append(place);
    let box = place;
    if (section.folded) {
      const [fold, body] = foldedSection(section, heading);
      place.append(fold);
      box = body;
    } else place.append(heading);
    let row = null; // consecutive charts are side by side if there is room
    for (const item of section.elements) {
      if (item.kind === "chart" && !row) box.append((row = element("div", { class: "charts" })));
      if (item.kind !== "chart") row = null;
      RENDERERS[item.kind](item, row ?? box);
    }
  }
}

build();
document.getElementById("tools").append(...[foldsButton(), themeButton()].filter(Boolean));
copyButton();
revealTarget();
