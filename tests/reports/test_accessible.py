"""For everyone: axe-core finds nothing serious, keys do everything, a phone and a printer are enough."""

from __future__ import annotations

import pytest
import sample_results
from axe_core_python.sync_playwright import Axe
from page_results import calibration, comparison, evaluation
from playwright.sync_api import expect

import goodgain
from goodgain.reports.view.history import Point, history_page

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = tmp_path_factory.mktemp("page") / "page.html"
    texts = {f"q{i}": f"question number {i}" for i in range(40)}
    documents = {f"d{i}": f"document number {i}" for i in range(600)}
    comparison().report(page, queries=texts, documents=documents)
    return page


@pytest.fixture(scope="module")
def labels_path(tmp_path_factory):
    page = tmp_path_factory.mktemp("labels") / "labels.html"
    calibration().report(page)
    return page


def serious(page) -> list[str]:
    report = Axe().run(page, options=RULES)
    return [
        f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:160]}"
        for v in report["violations"]
        if v["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious(path, look, dark, width):
    opened = look(path, dark=dark, width=width)
    opened.draw_charts()
    page = opened.page
    assert serious(page) == []
    page.locator("#table-queries .open").first.press("Enter")
    expect(page.locator("dialog[open] .lists table")).to_have_count(3)
    assert serious(page) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious_on_labels(labels_path, look, dark):
    opened = look(labels_path, dark=dark)
    opened.draw_charts()
    assert serious(opened.page) == []


def test_keys_reach_and_do_everything(path, look):
    page = look(path).page
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.locator("#table-queries thead .sort").nth(3).focus()
    heading = page.locator("#table-queries thead th").nth(3)
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    page.keyboard.press("Space")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    openers = page.locator("#table-queries .open")
    second, third, fourth = (openers.nth(i).inner_text() for i in (1, 2, 3))
    openers.nth(1).focus()
    page.keyboard.press("Enter")
    title = page.locator("dialog[open] #query-title")
    expect(title).to_have_text(f"Query {second}")
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text(f"Query {third}")
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text(f"Query {fourth}")
    page.keyboard.press("Escape")
    expect(title).to_have_count(0)
    expect(openers.nth(1)).to_be_focused()
    page.locator("#table-queries .pager [aria-label='Next page']").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#table-queries .pager span")).to_have_text("2 / 2")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"


def test_arrow_keys_scroll_a_table_that_has_the_focus(path, look):
    page = look(path, width=390).page
    page.locator("#table-queries .open").first.press("Enter")
    title = page.locator("dialog[open] #query-title")
    before = title.inner_text()
    region = page.locator("dialog[open] #table-list-1 .scroll")
    region.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("e => e.scrollLeft > 0", arg=region.element_handle())
    assert title.inner_text() == before


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_phone_needs_no_scrolling_sideways(path, look, width):
    opened = look(path, width=width)
    opened.draw_charts()
    page = opened.page
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) == 0
    page.locator("#table-queries .open").first.press("Enter")
    dialog = page.locator("dialog[open]")
    assert dialog.evaluate("d => d.scrollWidth - d.clientWidth") == 0


def test_paper_is_light_and_has_every_chart(path, look):
    page = look(path, dark=True).page
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.locator(".canvas svg").count() == page.locator(".canvas").count() > 3
    assert page.locator("#table-queries tbody tr").count() == 40  # nobody turns pages on paper
    expect(page.locator("#table-queries .status")).to_have_text("40 queries")
    assert not page.locator("#table-queries .tools").is_visible()
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 between its margins
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF") and len(pdf) > 20_000
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("#table-queries tbody tr")).to_have_count(25)


def test_motion_is_only_for_those_who_want_it(path, look):
    page = look(path).page
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def optimisation():
    """A race between a system that is right and one that is right every other time."""
    numbers = range(20)
    systems = {
        "right": lambda query: [f"d{query}"],
        "half": lambda query: [f"d{int(query) // 2 * 2}"],
    }
    race = goodgain.Experiment(
        {f"d{i}": f"text {i}" for i in numbers},
        {f"q{i}": str(i) for i in numbers},
        {f"q{i}": {f"d{i}": 1} for i in numbers},
        systems,
        measures="P@1",
        warmup=0,
        control=False,
    )
    return race.optimise("P@1")


def every_kind(folder):
    """A page of each kind that no other test looks at, by its name."""
    all_pairs = goodgain.compare(evaluation(), baseline="all")
    listed = [
        Point(time=86_400.0 * i, result=f"run-{i}.json", system="bm25", value=0.1 * i, note="")
        for i in range(4)
    ]
    results = {
        "one system": sample_results.evaluation(names=("keyword",)),
        "one query": sample_results.comparison(queries=1, by=None),
        "all pairs": all_pairs,
        "agents without labels": sample_results.good_gain(labelled=0.0),
        "two agents": sample_results.good_gain(),
        "experiment": sample_results.experiment(),
        "optimisation": optimisation(),
    }
    paths = {name: folder / f"{name}.html" for name in (*results, "history")}
    for name, result in results.items():
        result.report(paths[name])
    paths["history"].write_text(history_page(listed, "nDCG@10", ""), encoding="utf-8")
    return paths


def test_axe_finds_nothing_serious_on_any_kind_of_page(look, tmp_path):
    for name, path in every_kind(tmp_path).items():
        opened = look(path)
        opened.draw_charts()
        for scheme in ("light", "dark"):
            opened.page.emulate_media(color_scheme=scheme)
            assert serious(opened.page) == [], (name, scheme)
