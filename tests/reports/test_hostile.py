"""Texts that want to be code: wherever user text appears, it is displayed and nothing runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from page_results import comparison
from playwright.sync_api import expect

import goodgain
from goodgain import Run
from goodgain.reports.page import json_text

HOSTILE = [
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 2</script>",
    "<!--<script>window.ran = 3",
    '"><img src=x onerror="window.ran = 4">',
    "'><svg onload=window.ran=5>",
    "javascript:window.ran=6",
    "JaVaScRiPt:window.ran=7//",
    "data:text/html,<script>parent.ran=8</script>",
    "https://example.org/\"onmouseover=\"window.ran=9",
    "${window.ran = 10} {{window.ran = 11}} <%= window.ran = 12 %> #{1}",
    "$title $policy $data $$",
    "datum.x = (window.ran = 13)",
    "evil\u202e txt.exe \u2066inside\u2069 \u200b\u061c",
    "line\u2028break\u2029and \u0000nul \u0007bell \x1b[31mred",
    "bytes that are no text: \udcff\udcfe",
    "__proto__",
    "constructor",
    "=HYPERLINK(\"http://example.org\")",
]  # fmt: skip
LONG = "x" * 1_000_000


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page about hostile systems, queries, groups and documents, and where it is."""
    folder = tmp_path_factory.mktemp("hostile")
    texts = [*HOSTILE, LONG]
    qrels = {f"{t}": {f"{d}": i % 4 for i, d in enumerate(texts)} for t in texts}
    runs = [
        Run(
            {
                q: {d: float((i * 7 + k) % 11) for i, d in enumerate(docs)}
                for q, docs in qrels.items()
            },
            name=name,
            latency=dict.fromkeys(qrels, 0.01 * (k + 1)),
        )
        for k, name in enumerate([*HOSTILE[:4], HOSTILE[15], LONG])
    ]
    result = goodgain.evaluate(qrels, runs, "nDCG@10 AP Latency")
    comparison = goodgain.compare(result, by={q: texts[i % 5] for i, q in enumerate(qrels)})
    path = folder / "hostile.html"
    comparison.report(
        path,
        title=HOSTILE[1],
        queries=[{"id": t, "text": t} for t in texts],
        documents=[{"id": t, "text": t, "title": t, "url": t} for t in texts],
    )
    return path


def test_nothing_runs_and_everything_is_shown(pages, look):
    path = pages
    assert path.stat().st_size < 4_000_000  # texts of a megabyte are cut
    opened = look(path)
    page = opened.page
    assert page.locator("h1").inner_text() == HOSTILE[1]
    assert HOSTILE[0] in page.locator("#table-leaderboard").inner_text()
    visible = page.locator("#table-queries tbody").inner_text()
    assert HOSTILE[1] in visible and "\\u202e" in visible and "\\x1b[31mred" in visible
    assert "[cut: 1,000,000 characters]" in page.content()
    opened.draw_charts()
    assert page.locator(".canvas svg").count() >= 3
    for i in range(len(HOSTILE)):
        page.evaluate("i => document.querySelectorAll('#table-queries .open')[i].click()", i)
        expect(page.locator("dialog[open] .lists tbody tr").nth(10)).to_be_attached()
        page.mouse.move(640, 500)
        page.locator("dialog[open] .close").press("Enter")
        expect(page.locator("dialog[open]")).to_have_count(0)
    assert page.evaluate("window.ran") is None


def test_notes_and_what_judges_wrote_are_only_text(look, tmp_path):
    """Notes of results, reasons of tests, and everything in the passport of a judge, from a saved file."""
    judge = {
        "setting": HOSTILE[0],
        "model": HOSTILE[1],
        "prompt": HOSTILE[2],
        "passport": {
            "created": "2026-01-01T00:00:00",
            "agreement": {"name": HOSTILE[3], "value": 0.5, "low": 0.4, "high": 0.6, "n": 9},
            "canaries": [{"kind": HOSTILE[4], "good": False, "right": 1, "labelled": 2}],
            "drift": HOSTILE[9],
        },
    }
    compared = comparison()
    facts = [{"name": text, "kind": "qrels", "judge": judge} for text in HOSTILE[:2]]
    pairs = [replace(pair, note=HOSTILE[i % 5]) for i, pair in enumerate(compared.pairs)]
    path = tmp_path / "notes.html"
    marked = replace(compared, notes=tuple(HOSTILE), inputs=tuple(facts), pairs=tuple(pairs))
    marked.save(tmp_path / "notes.json")
    goodgain.Comparison.load(tmp_path / "notes.json").report(path)
    page = look(path).page
    for text in (HOSTILE[0], HOSTILE[3], HOSTILE[9]):
        assert text in page.locator("main").inner_text()
    assert "\\u202e" in page.locator("main").inner_text()
    assert "\u202e" not in page.locator("main").inner_text()


def test_links_go_only_to_the_web(pages, look):
    page = look(pages).page
    page.locator("#table-queries .open").first.press("Enter")
    expect(page.locator("dialog[open] .lists")).to_be_visible()
    links = page.locator("a[href]").evaluate_all(
        "all => all.map(a => [a.getAttribute('href'), a.rel, a.target])"
    )
    outside = [link for link in links if not link[0].startswith("#")]
    assert outside  # the one address among the texts
    for address, rel, target in outside:
        assert address.startswith("https://example.org/")
        assert rel == "noopener noreferrer" and target == "_blank"


def test_texts_cannot_turn_the_line_around(pages, look):
    page = look(pages).page
    text = page.locator("bdi", has_text="txt.exe").first
    assert "\u202e" not in text.inner_text()
    assert page.evaluate("e => getComputedStyle(e).unicodeBidi", text.element_handle()) == "isolate"


def test_a_policy_stops_what_is_slipped_in(pages, look, tmp_path):
    """The policy is there and works: even markup inside the page does not run."""
    text = pages.read_text()
    bad = tmp_path / "bad.html"
    bad.write_text(text.replace("</main>", "</main><script>window.ran = 1</script><img src=http://localhost:9/x>"
                                "<p style='color:red' onclick='window.ran = 2'>x</p>"))  # fmt: skip
    opened = look(bad)
    opened.page.evaluate("document.querySelector('p[onclick]').click()")
    for _ in range(300):  # console messages arrive a moment later
        stopped = [p for p in opened.problems if "Content Security Policy" in p or "violates" in p]
        if len(stopped) >= 3:
            break
        opened.page.wait_for_timeout(100)
    assert len(stopped) >= 3
    assert opened.page.evaluate("window.ran") is None
    opened.problems.clear()
    opened.requests = [url for url in opened.requests if url.startswith("file:")]


def test_json_inside_a_page():
    for text in (*HOSTILE, LONG, "half a pair \ud800"):
        encoded = json_text({"a": [text]})
        assert "<" not in encoded and "\u2028" not in encoded
        encoded.encode("utf-8")
        assert json.loads(encoded) == {"a": [text]}
