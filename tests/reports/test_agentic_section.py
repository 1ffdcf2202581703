"""The agentic section in a browser: figures, charts, timelines, duplicates, hostile and many traces."""

from __future__ import annotations

import json
import re

import pytest
import sample_results
from playwright.sync_api import expect

import goodgain as gg
from goodgain.reports import conversations
from goodgain.reports.conversations import page_conversations
from goodgain.reports.theme import LIGHT

SCRIPTS = (
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 2</script>",
    '"><img src=x onerror="window.ran=3">',
    "{{constructor.constructor('window.ran=4')()}} ${window.ran=5}",
    "‮dlrow\x1b[31m\x00",
)


def one_result(text: str, gain: float | None = None, **more: str) -> dict:
    result = {
        "title": text,
        "snippet": f"{text} and enough words to make a key of its own, at last",
        **more,
    }
    return result | ({} if gain is None else {"gain": gain})


@pytest.fixture(scope="module")
def result() -> gg.GoodGain:
    """Two searches; the second iteration brings the first page again, with other parameters."""
    page = {"url": "https://example.org/a?utm_source=x"}
    again = {"url": "https://example.org/a?utm_source=y"}
    first = {"searches": [
        {"query": "first words", "tool": "web", "latency": 0.5, "tokens": 120,
         "results": [one_result("Alpha", 4, **page), one_result("Beta", 1, url="javascript:window.ran=9")]},
        {"query": "other words", "latency": 1.5, "tokens": 80, "results": [one_result("Gamma", 2)]},
    ]}  # fmt: skip
    second = {"searches": [
        {"query": "First  words", "latency": 0.0046, "tokens": 50,
         "results": [one_result("Alpha", **again), one_result("Delta"), one_result("Epsilon", 0)]},
    ]}  # fmt: skip
    third = {
        "searches": [
            {"query": "last", "latency": 1, "tokens": 10, "error": "timed out", "results": []}
        ]
    }
    turn = {"user": "What is it?", "answer": "It is so.", "iterations": [first, second, third]}
    return gg.good_gain([
        {"conversation": "c1", "system": "a", "turns": [turn]},
        {"conversation": "c2", "system": "a", "turns": [{"iterations": [first]}]},
    ])  # fmt: skip


@pytest.fixture
def page(result, look, tmp_path):
    path = tmp_path / "agent.html"
    result.report(path)
    return look(path).page


def open_first(page) -> None:
    page.locator("#table-conversations tbody .open", has_text="c1").press("Enter")
    page.locator("dialog[open] .timeline").wait_for()


def test_the_section_has_the_figures_of_the_result(page, result):
    section = page.locator("#agentic")
    assert (
        "2 conversations with 6 searches; only the last turn of each is scored"
        in section.inner_text()
    )
    rows = page.locator("#table-agentic tbody tr")
    cells = {rows.nth(i).locator("th, td").first.inner_text(): rows.nth(i).locator("td").first.inner_text()
             for i in range(rows.count())}  # fmt: skip
    assert (
        cells["conversations"] == "2"
        and cells["duplicates"] == "1"
        and cells["labelled"] == "87.5%"
    )
    cg = result.figure("CG")
    assert cells["CG@i"].startswith(f"{cg.value:.3f} [{cg.lower:.3f}, {cg.upper:.3f}]")


def test_charts_are_drawn(page):
    for key in (
        "gain",
        "gain-MarginalGain",
        "efficiency",
        "budget-searches",
        "budget-seconds",
        "budget-tokens",
    ):
        figure = page.locator(f"#chart-{key}")
        figure.scroll_into_view_if_needed()
        expect(figure.locator("svg path").nth(3)).to_be_attached()
    assert page.locator("#chart-budget-cost").count() == 0  # the traces have no costs


def test_a_timeline_shows_iterations_searches_and_results(page):
    open_first(page)
    dialog = page.locator("dialog[open]")
    assert dialog.locator("h2").inner_text() == "Conversation c1 of a"
    assert "What is it?" in dialog.inner_text() and "It is so." in dialog.inner_text()
    assert [h.inner_text() for h in dialog.locator("h3").all()] == [
        "Replay", "Searches", "Iteration 1", "Iteration 2", "Iteration 3", "Answer"
    ]  # fmt: skip
    notes = dialog.locator(".iterations > li > .note").all_inner_texts()
    assert (
        notes[0]
        == "2 searches · 3 results · 2 new good results · 0 duplicates · gain 6.00 · cumulative gain 6.00"
    )
    second = (
        "1 search · 3 results · 0 new good results · 1 duplicate · gain 0.00 · cumulative gain 6.00"
    )
    assert notes[1] == second
    assert dialog.locator(".search h4").all_inner_texts() == [
        "first words", "other words", "First words", "last"
    ]  # fmt: skip
    assert dialog.locator(".search").nth(2).locator(".badge").inner_text() == "repeated query"
    assert "web · 0.50 s · 120 tokens" in dialog.locator(".search").first.inner_text()
    assert "4.6 ms · 50 tokens" in dialog.locator(".search").nth(2).inner_text()
    last = dialog.locator(".search").nth(3).inner_text()
    assert "timed out" in last and "No results." in last


def test_gains_have_their_colours(page):
    open_first(page)

    def colour(selector: str) -> str:
        return page.locator(selector).evaluate("e => getComputedStyle(e).backgroundColor")

    def rgb(text: str) -> str:
        return f"rgb({', '.join(str(int(text[i : i + 2], 16)) for i in (1, 3, 5))})"

    for n, level in ((0, 4), (1, 1), (2, 2), (5, 0)):
        assert colour(f"#conversations-result-{n} .gain") == rgb(LIGHT.gains[level][0])
        assert colour(f".strip .cell >> nth={n}") == rgb(LIGHT.gains[level][0])
    assert page.locator("#conversations-result-4 .gain").inner_text() == "no label"
    assert page.locator("#conversations-result-3 .gain").inner_text() == "4"  # that of the first


def test_a_duplicate_leads_to_its_first_occurrence(page):
    open_first(page)
    repeat = page.locator("#conversations-result-3")
    assert (
        "Duplicate of 1.1.1. Shared key: url; decided by step 2: the URLs match"
        in repeat.inner_text()
    )
    assert page.locator(".result.repeat").count() == 1
    page.locator(".strip .cell.repeated").press("Enter")
    expect(repeat).to_be_focused()
    repeat.get_by_role("button", name="Go to the first occurrence 1.1.1").click()
    first = page.locator("#conversations-result-0")
    expect(first).to_be_focused()
    expect(first).to_be_in_viewport()
    expect(page.locator(".target")).to_have_id("conversations-result-0")
    assert "Duplicated at 2.1.1" in first.inner_text()
    first.get_by_role("button", name="Go to duplicate 2.1.1").click()
    expect(repeat).to_be_focused()


def test_links_are_of_the_web_only(page):
    open_first(page)
    links = page.locator("dialog[open] a")
    assert {a.get_attribute("href") for a in links.all()} == {
        "https://example.org/a?utm_source=x", "https://example.org/a?utm_source=y"
    }  # fmt: skip
    assert all(a.get_attribute("rel") == "noopener noreferrer" for a in links.all())
    assert "javascript:window.ran=9" in page.locator("#conversations-result-1").inner_text()


def test_by_keyboard_and_by_address(result, look, tmp_path):
    path = tmp_path / "agent.html"
    result.report(path)
    page = look(path).page
    page.locator("#table-conversations tbody .open").first.focus()
    page.keyboard.press("Enter")
    title = page.locator("dialog[open] h2")
    expect(title).to_have_text("Conversation c1 of a")
    expect(page).to_have_url(path.as_uri() + "#conversations=0")
    page.keyboard.press("Escape")
    expect(title).to_have_count(0)
    expect(page).to_have_url(path.as_uri())
    page.goto(path.as_uri() + "#conversations=1")
    page.reload()
    expect(title).to_have_text("Conversation c2 of a")
    page.get_by_role("button", name="Previous conversation").press("Enter")
    expect(title).to_have_text("Conversation c1 of a")
    expect(page.get_by_role("button", name="Previous conversation")).to_be_disabled()
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text("Conversation c2 of a")
    page.keyboard.press("ArrowRight")  # there is none
    expect(title).to_have_text("Conversation c2 of a")
    page.keyboard.press("ArrowLeft")
    expect(title).to_have_text("Conversation c1 of a")


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(result, look, tmp_path, dark):
    from axe_core_python.sync_playwright import Axe

    path = tmp_path / "agent.html"
    result.report(path)
    page = look(path, dark=dark).page
    for opened in (False, True):
        if opened:
            open_first(page)
        serious = [
            v for v in Axe().run(page)["violations"] if v["impact"] in ("serious", "critical")
        ]
        assert not serious, [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in serious]


def test_a_phone_does_not_scroll_sideways(result, look, tmp_path):
    path = tmp_path / "agent.html"
    result.report(path)
    page = look(path, width=390).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    open_first(page)
    assert page.locator("dialog[open]").evaluate("d => d.scrollWidth <= d.clientWidth")


def test_hostile_traces_do_nothing(look, tmp_path):
    for i, text in enumerate(SCRIPTS):
        long = text + "x" * 1_000_000
        search = {
            "query": long, "tool": text, "error": text,
            "results": [
                {"id": text, "title": long, "snippet": long, "url": f"https://example.org/{i}?{text}",
                 "type": text, "content": text, "gain": 3},
                {"title": text, "url": "javascript:window.ran=6", "snippet": long, "ids": {text: text}},
                {"title": text, "url": "data:text/html,<script>window.ran=7</script>"},
                {"url": f"https://example.org/{i}?{text}", "snippet": long},
            ],
        }  # fmt: skip
        turn = {"user": long, "answer": text, "iterations": [{"searches": [search, search]}]}
        traces = [{"conversation": text, "system": text, "turns": [turn]}]
        result = gg.good_gain(traces)
        path = tmp_path / f"hostile{i}.html"
        result.report(path)
        assert path.stat().st_size < 3_000_000
        page = look(path).page
        page.locator("#table-conversations tbody .open").press("Enter")
        dialog = page.locator("dialog[open]")
        expect(dialog).to_contain_text("[cut: 1,0")
        visible = dialog.inner_text()
        if i < 4:
            assert text in visible
        else:
            assert "\\u202edlrow\\x1b[31m\\x00" in visible
        for a in dialog.locator("a").all():
            assert a.get_attribute("href").startswith("https://example.org/")
        assert dialog.locator("script, img").count() == 0
        page.locator(".strip .cell.repeated").first.press("Enter")


def test_very_many_conversations_are_chosen_by_a_rule(monkeypatch):
    result = sample_results.good_gain(count=40)
    assert page_conversations(result).note == "" and len(page_conversations(result).items) == 80
    monkeypatch.setattr(conversations, "MAX_RESULTS", 300)
    selection = page_conversations(result)
    count = sum(
        len(s["results"]) for c in selection.items for i in c["iterations"] for s in i["searches"]
    )
    assert 250 < count <= 300
    assert selection.note == (
        f"Showing {len(selection.items)} of 80 conversations (for each system the first, and those with "
        "the highest and the lowest CG)."
    )
    names = {(c["system"], c["name"]) for c in selection.items}
    for s in result.systems:
        gains = s.final("CG")
        assert (s.name, "c0") in names
        assert (s.name, max(gains, key=gains.get)) in names
        assert (s.name, min(gains, key=gains.get)) in names
    assert [c["system"] for c in selection.items] == sorted(c["system"] for c in selection.items)


def test_a_page_stays_below_its_size(monkeypatch):
    result = sample_results.good_gain(count=20)
    whole = len(json.dumps(page_conversations(result).items))
    monkeypatch.setattr(conversations, "MAX_BYTES", whole // 2)
    selection = page_conversations(result)
    assert 10 < len(selection.items) < 40
    assert len(json.dumps(selection.items)) <= whole // 2
    assert selection.note.endswith("conversations (to limit the size of the page).")


def test_conversations_that_are_gone_are_said_to_be(look, tmp_path):
    file = tmp_path / "traces.jsonl"
    file.write_text(json.dumps(sample_results.trace("a", 1)) + "\n")
    result = gg.good_gain(file)
    file.unlink()
    path = tmp_path / "gone.html"
    result.report(path)
    text = look(path).page.locator("#agentic").inner_text()
    assert "The conversations cannot be shown" in text and "cannot be read again" in text


def test_without_labels_and_with_several_results(look, tmp_path):
    from goodgain.reports import report

    path = tmp_path / "two.html"
    report(sample_results.good_gain(labelled=0), sample_results.good_gain(("x",)), output=path)
    page = look(path).page
    assert page.locator("#table-conversations-1, #table-conversations-2").count() == 2
    assert "UR@i by iteration" in page.locator("#chart-gain-UR-i-1").inner_text()
    page.locator("#table-conversations-2 tbody .open").first.press("Enter")
    expect(page.locator("dialog[open] h2")).to_have_text(re.compile("of x$"))


def test_texts_are_read_in_one_piece():
    search = {"query": "two\nlines", "results": [{"title": "a\tb", "snippet": "one\n\n  two"}]}
    turn = {"user": "what\nis it", "iterations": [{"searches": [search]}]}
    (item,) = page_conversations(gg.good_gain([{"conversation": "c", "turns": [turn]}])).items
    (search,) = item["iterations"][0]["searches"]
    assert (item["user"], search["query"]) == ("what is it", "two lines")
    assert [(r["title"], r["text"]) for r in search["results"]] == [("a b", "one two")]
