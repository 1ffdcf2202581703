"""For everyone: axe-core finds nothing serious, keys do everything, a phone and a printer are enough."""

from __future__ import annotations

import pytest
from axe_core_python.sync_playwright import Axe
from materials import calibration, comparison

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("page") / "page.html"
    texts = {f"q{i}": f"question number {i}" for i in range(40)}
    documents = {f"d{i}": f"document number {i}" for i in range(600)}
    comparison().report(found, queries=texts, documents=documents)
    return found


@pytest.fixture(scope="module")
def labels_path(tmp_path_factory):
    found = tmp_path_factory.mktemp("labels") / "labels.html"
    calibration().report(found)
    return found


def serious(page) -> list[str]:
    found = Axe().run(page, options=RULES)
    return [
        f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:160]}"
        for v in found["violations"]
        if v["impact"] in ("serious", "critical")
    ]


def drawn(page) -> None:
    """Every chart, by scrolling to it."""
    for i in range(page.locator(".canvas").count()):
        page.locator(".canvas").nth(i).evaluate("e => e.scrollIntoView({behavior: 'instant'})")
        page.wait_for_function(
            "i => document.querySelectorAll('.canvas')[i].querySelector('svg')", arg=i
        )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious(path, look, dark, width):
    page = look(path, dark=dark, width=width).page
    drawn(page)
    assert serious(page) == []
    page.locator("#table-queries .open").first.press("Enter")
    assert page.locator("dialog[open] .lists table").count() == 3
    assert serious(page) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious_on_labels(labels_path, look, dark):
    page = look(labels_path, dark=dark).page
    drawn(page)
    assert serious(page) == []


def test_keys_reach_and_do_everything(path, look):
    page = look(path).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("#table-queries thead .sort").nth(3).focus()
    page.keyboard.press("Enter")
    assert page.locator("#table-queries thead th").nth(3).get_attribute("aria-sort") == "descending"
    page.keyboard.press("Space")
    assert page.locator("#table-queries thead th").nth(3).get_attribute("aria-sort") == "ascending"
    opener = page.locator("#table-queries .open").nth(1)
    opener.focus()
    page.keyboard.press("Enter")
    first = page.locator("#query-title").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#query-title").inner_text() != first
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert opener.evaluate("e => e === document.activeElement")
    page.locator("#table-queries .pager [aria-label='Next page']").focus()
    page.keyboard.press("Enter")
    assert page.locator("#table-queries .pager span").inner_text() == "2 / 2"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_phone_needs_no_scrolling_sideways(path, look, width):
    page = look(path, width=width).page
    drawn(page)
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) == 0
    page.locator("#table-queries .open").first.press("Enter")
    inside = "(d => d.scrollWidth - d.clientWidth)(document.querySelector('dialog'))"
    assert page.evaluate(inside) == 0


def test_paper_is_light_and_has_every_chart(path, look):
    page = look(path, dark=True).page
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.locator(".canvas svg").count() == page.locator(".canvas").count() > 3
    assert page.locator("#table-queries tbody tr").count() == 25
    assert not page.locator("#table-queries .tools").is_visible()
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF") and len(pdf) > 20_000


def test_motion_is_only_for_those_who_want_it(path, look):
    page = look(path).page
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
