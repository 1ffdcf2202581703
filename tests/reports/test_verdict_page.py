"""The page that decides, in a browser: the verdict, folds, matrices, and how tall it is."""

from __future__ import annotations

import json
import random
import re

import pytest
import sample_results
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect
from test_accessible import serious

import goodgain as gg
from goodgain.reports import report_text

SCREEN = 900  # pixels of a screen's height


def many_systems(count: int, queries: int = 53):
    """Runs of systems whose names share a long beginning."""
    chance = random.Random(1)
    qrels = {
        f"{301 + i}": {f"d{d}": chance.choice((0, 0, 0, 1, 2)) for d in range(40)}
        for i in range(queries)
    }
    runs = []
    for s in range(count):
        skill = 0.3 + 1.2 * ((s * 7) % count) / count
        lists = {
            q: {d: skill * g + chance.gauss(0, 1) for d, g in docs.items()}
            for q, docs in qrels.items()
        }
        runs.append(
            gg.Run(
                lists,
                name=f"team-november/run-{s:02d}",
                latency={q: 0.01 * (s + 1) * chance.uniform(0.8, 1.2) for q in qrels},
            )
        )  # fmt: skip
    return gg.evaluate(qrels, runs, "nDCG@10 AP RR Recall@20 Latency")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = tmp_path_factory.mktemp("verdict") / "page.html"
    gg.compare(many_systems(14)).report(page)
    return page


def page_data(path) -> dict:
    text = path.read_text()
    return json.loads(re.search(r'id="data-page">(.*?)</script>', text, re.S)[1])


def test_fourteen_systems_are_at_most_three_screens(path, look):
    page = look(path, folded=True).page
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height <= 3 * SCREEN
    assert page.locator("main details.fold[open]").count() == 0
    expect(page.locator("#table-leaderboard tbody tr")).to_have_count(14)
    expect(page.locator("#table-queries")).to_be_hidden()


def test_axe_finds_nothing_on_a_folded_page(path, look):
    for dark in (False, True):
        assert serious(look(path, dark=dark, folded=True).page) == []
    report = Axe().run(look(path, width=390, folded=True).page)
    assert [v["id"] for v in report["violations"] if v["impact"] in ("serious", "critical")] == []


def test_sections_open_from_links_and_all_at_once(path, look):
    page = look(path, folded=True).page
    page.locator("#section-links a", has_text="Queries").click()
    expect(page.locator("#table-queries")).to_be_visible()
    expect(page.locator("#table-difference-matrix")).to_be_hidden()
    page.locator("#folds").click()
    expect(page.locator("#table-difference-matrix")).to_be_visible()
    expect(page.locator("#folds")).to_have_text("Close all")
    page.locator("#folds").click()
    expect(page.locator("#table-queries")).to_be_hidden()
    page.goto(path.as_uri() + "#differences")
    expect(page.locator("#table-pairwise")).to_be_visible()


def test_the_card_needs_no_script_and_can_be_copied(path, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    card = page.locator(".verdict")
    expect(card.locator(".verdict-word")).to_have_text("Better")
    text = card.inner_text()
    assert "95% interval" in text and "Latency" in text and "Next" in text
    assert card.locator("svg").count() == 1 and card.locator("button").count() == 0
    context.close()
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(path.as_uri())
    page.locator(".verdict button", has_text="Copy").click()
    expect(page.locator(".verdict [role=status]")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Better") and "By how much: nDCG@10" in copied
    context.close()


def test_paper_has_no_folds(path, look):
    page = look(path, folded=True).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main details.fold:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details.fold[open]").count() == 0


def test_matrices_have_every_system_and_short_names(path, look):
    page = look(path).page
    rows = page.locator("#table-pairwise tbody tr")
    assert rows.count() == 14
    names = rows.locator("th").all_inner_texts()
    assert names == page.locator("#table-pairwise thead th").all_inner_texts()[1:]
    assert all(re.fullmatch(r"…\d\d", name) for name in names)
    best = page.locator("#table-leaderboard tbody tr").first
    assert best.locator("th").inner_text() == names[0]
    cells = page.locator("#table-leaderboard td").all_inner_texts()
    assert any(re.match(r"\d+ ms", cell) for cell in cells)
    text = page.locator("main").inner_text()
    assert "−" not in text  # one kind of minus


def test_systems_have_the_same_colours_in_every_chart(path):
    domains = []

    def walk(node):
        if isinstance(node, dict):
            color = node.get("color")
            if isinstance(color, dict) and color.get("field") == "system" and "scale" in color:
                domains.append(tuple(color["scale"]["domain"]))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    groups = {f"q{q}": ("short", "long")[q % 2] for q in range(60)}
    text = report_text(sample_results.comparison(by=groups))
    page = json.loads(re.search(r'id="data-page">(.*?)</script>', text, re.S)[1])
    for section in page["sections"]:
        for element in section["elements"]:
            walk(element.get("spec"))
    assert len(domains) > 3 and len(set(domains)) == 1
    assert domains[0] == sample_results.NAMES


def test_the_legend_of_effects_is_whole(path, look):
    opened = look(path)
    opened.draw_charts()
    for width in (1280, 800, 390):
        opened.page.set_viewport_size({"width": width, "height": 900})
        canvas = opened.page.locator("#chart-effects .canvas")
        canvas.evaluate("e => e.scrollIntoView({behavior: 'instant'})")
        opened.page.wait_for_timeout(300)
        labels = canvas.locator(".role-legend-label text")
        assert {*labels.all_text_contents()} >= {"worse", "not significant", "better"}
        inside = canvas.evaluate("""e => {
          const svg = e.querySelector('svg').getBoundingClientRect();
          return [...e.querySelectorAll('.role-legend-label text')].every((t) => {
            const box = t.getBoundingClientRect();
            return box.top >= svg.top - 1 && box.right <= svg.right + 1;
          });
        }""")
        assert inside, width


def test_equal_warnings_are_joined():
    qrels = {f"q{i}": {"a": 1} for i in range(20)}
    runs = [
        gg.Run({q: {"a": 1.0 + s} for q in list(qrels)[: 18 - (s == 4)]}, name=f"s{s}")
        for s in range(5)
    ]
    text = report_text(gg.evaluate(qrels, runs, "RR"))
    page = json.loads(re.search(r'id="data-page">(.*?)</script>', text, re.S)[1])
    warnings = [
        "".join(span["text"] for span in element["spans"])
        for section in page["sections"]
        for element in section["elements"]
        if element.get("style") == "warning"
    ]
    expected = (
        "4 systems s0, s1, s2, s3: 2 of 20 judged queries are not in the run and count as empty"
    )
    assert len(warnings) == 2 and warnings[0].startswith(expected)
    assert warnings[1].startswith("s4: 3 of 20 judged queries")


def test_the_whole_command_is_in_the_provenance():
    command = "goodgain compare " + " ".join(f"run-{i}.txt" for i in range(200))
    text = report_text(sample_results.evaluation(), command=command)
    assert (
        command in text and "[cut:" not in text.partition('"Provenance"')[2].partition("inputs")[0]
    )
