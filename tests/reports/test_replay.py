"""The replay of a conversation: figures by search, a slider for mouse and keys, and what is not known."""

from __future__ import annotations

import random

import pytest
import sample_results
from playwright.sync_api import expect
from test_accessible import serious

import goodgain as gg
from goodgain.reports.conversations import page_conversations

A, B, C, D, E = (("a", 4), ("b", 1), ("c", 2), ("d", 3), ("x", None))


def search(query: str, *results: tuple[str, float | None], **more: object) -> dict:
    listed = [
        {"id": name, "title": f"Page {name}", **({} if gain is None else {"gain": gain})}
        for name, gain in results
    ]
    return {"query": query, "latency": 0.5, "tokens": 100, "results": listed, **more}


STEPS = (
    [search("first words", A, B), search("other words", C)],
    [search("first words", A, B)],
    [search("more", D, E)],
    [search("down", error="timed out after 30 s")],
    [search("odd")],
    [search("hosted", unread="the provider kept the results")],
    [search("last <img src=x onerror='window.ran=1'>", ("y", 1))],
)


def trace(name: str, steps=STEPS, system: str = "agent") -> dict:
    turn = {"user": "What?", "iterations": [{"searches": searches} for searches in steps]}
    return {"conversation": name, "system": system, "turns": [turn]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = tmp_path_factory.mktemp("replay") / "agent.html"
    gg.good_gain([trace("c1"), trace("c2", STEPS[:3])]).report(page)
    return page


@pytest.fixture
def slider(path, look):
    page = look(path).page
    page.locator("#table-conversations tbody .open", has_text="c1").press("Enter")
    return page.get_by_role("slider", name="Search of the conversation")


def figures(page) -> dict[str, str]:
    boxes = page.locator("dialog[open] .replay-figures > div").all()
    return {box.locator("dt").inner_text(): box.locator("dd").inner_text() for box in boxes}


def test_the_slider_goes_over_searches(slider):
    page = slider.page
    expect(slider).to_have_attribute("max", "8")
    assert figures(page) == {
        "search": "1 of 8", "gain so far": "4.00 (44% of the known gain)", "new good results": "1",
        "repeats": "0 of 2 results", "seconds by the end of iteration 1": "1.00 s",
        "tokens by the end of iteration 1": "200", "without a label": "0",
    }  # fmt: skip
    current = page.locator(".replay-search")
    assert current.locator(".result").all_inner_texts()[0].split() == [
        "1.1.1",
        "4",
        "Page",
        "a",
        "new",
    ]
    slider.fill("3")
    expect(current.locator("strong")).to_have_text("first words")
    assert current.locator(".state").inner_text() == "nothing new"
    assert current.locator(".badge").inner_text() == "repeated query"
    assert "duplicate of 1.1.1" in current.locator(".result").first.inner_text()
    assert figures(page)["gain so far"] == "6.00 (67% of the known gain)"
    assert figures(page)["repeats"] == "2 of 5 results"
    assert figures(page)["tokens so far"] == "300"


def test_every_kind_of_search_is_marked(slider):
    page = slider.page
    states = []
    for n in range(1, 9):
        slider.fill(str(n))
        expect(page.locator(".replay-figures dd").first).to_have_text(f"{n} of 8")
        states.append(page.locator(".replay-search .state").inner_text())
    assert states == [
        "new good results", "new good results", "nothing new", "new good results", "failed", "empty",
        "unread", "new results",
    ]  # fmt: skip
    bars = page.locator(".replay-bar")
    kinds = [set(bar.get_attribute("class").split()) for bar in bars.all()]
    for kind, expected in zip(
        kinds,
        ["good", "good", "stale", "good", "failed", "empty", "unread", "fresh"],
        strict=True,
    ):
        assert expected in kind
    slider.fill("5")
    assert "timed out after 30 s" in page.locator(".replay-search").inner_text()
    slider.fill("7")
    assert "unread: the provider kept the results" in page.locator(".replay-search").inner_text()
    assert figures(page)["gain so far"].startswith("at least 9.00")
    assert figures(page)["repeats"] == "2 of 7 results read"
    slider.fill("6")
    assert (
        figures(page)["gain so far"] == "at least 9.00 (100% of the known gain)"
    )  # one has no label
    assert figures(page)["without a label"] == "1"
    slider.fill("3")
    assert figures(page)["gain so far"] == "6.00 (67% of the known gain)"


def test_keys_move_the_slider_and_not_the_conversation(slider):
    page = slider.page
    title = page.locator("dialog[open] h2")
    slider.focus()
    for key, place in (
        ("ArrowRight", 2),
        ("ArrowUp", 3),
        ("ArrowLeft", 2),
        ("End", 8),
        ("Home", 1),
    ):
        page.keyboard.press(key)
        expect(slider).to_have_value(str(place))
        expect(page.locator(".replay-figures dd").first).to_have_text(f"{place} of 8")
        expect(title).to_have_text("Conversation c1 of agent")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute(
        "aria-valuetext", "Search 2 of 8 (1.2), new good results: other words"
    )
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")  # from a button it is the next conversation
    expect(title).to_have_text("Conversation c2 of agent")
    expect(page.locator(".replay-figures dd").first).to_have_text("1 of 4")


def test_a_bar_is_a_place_to_click(slider):
    page = slider.page
    page.locator(".replay-bar").nth(3).click()
    expect(slider).to_have_value("4")
    expect(page.locator(".replay-bar.now")).to_have_count(1)
    page.get_by_role("button", name="Go to result 3.1.1").click()
    expect(page.locator("#conversations-result-5")).to_be_focused()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious_in_a_replay(path, look, dark, width):
    opened = look(path, dark=dark, width=width)
    opened.draw_charts()
    assert serious(opened.page) == []
    opened.page.locator("#table-conversations tbody .open").first.press("Enter")
    for place in ("1", "7", "8"):
        opened.page.get_by_role("slider").fill(place)
        assert serious(opened.page) == []
    dialog = opened.page.locator("dialog[open]")
    assert dialog.evaluate("d => d.scrollWidth - d.clientWidth") == 0


def test_a_replay_is_not_printed_but_the_timeline_is(slider):
    page = slider.page
    page.emulate_media(media="print")
    assert not slider.is_visible() and page.locator(".timeline").is_visible()


def test_what_is_not_known_is_not_zero(look, tmp_path):
    page = tmp_path / "unlabelled.html"
    steps = [
        [{"query": "q", "results": [{"id": "a"}, {"id": "b"}]}],
        [{"query": "r", "results": []}],
    ]
    gg.good_gain([trace("c1", steps), trace("c2")]).report(page)
    opened = look(page).page
    rows = opened.locator("#table-conversations tbody tr")
    assert rows.nth(0).locator("td").last.inner_text() == "–"  # no label, no gain
    assert rows.nth(1).locator("td").last.inner_text() == "≥ 9.00"  # something is unread
    heads = opened.locator("#table-conversations thead th").all_inner_texts()
    place = next(i for i, head in enumerate(heads) if head.split() == ["results"])
    assert rows.nth(1).locator("th, td").nth(place).inner_text() == "≥ 8"
    rows.nth(0).locator(".open").press("Enter")
    assert figures(opened)["gain so far"] == "unknown: no labels"
    assert "seconds so far" not in figures(opened)


@pytest.mark.parametrize(
    "settings", [{}, {"gain": "exp"}, {"threshold": 3}, {"unlabelled": "zero"}]
)
@pytest.mark.parametrize("labelled", [1.0, 0.5])
def test_gains_of_searches_add_up_to_those_of_iterations(settings, labelled):
    traces = [sample_results.trace("a", n, labelled) for n in range(30)]
    chance = random.Random(3)
    for each in traces:  # a first occurrence without a label has that of a later duplicate
        for step in each["turns"][0]["iterations"]:
            for one in step["searches"]:
                for result in one["results"]:
                    if chance.random() < 0.3:
                        result.pop("gain", None)
    result = gg.good_gain(traces, **settings)
    system = result.systems[0]
    for item, run in zip(page_conversations(result).items, system.runs.conversations, strict=True):
        assert item["name"] == run
        rows = system.values[system.rows_of(run, "1")]
        gain = good = new = 0
        for step, row in zip(item["iterations"], rows, strict=True):
            gain += sum(s["added"] for s in step["searches"])
            good += sum(s["good"] for s in step["searches"])
            new += sum(s["fresh"] for s in step["searches"])
            assert gain == pytest.approx(row[system.column("CG")])
            assert good == row[system.column("GR@i")] and new == row[system.column("UR@i")]
            unknown = [
                "first" not in r and "gain" not in r for s in step["searches"] for r in s["results"]
            ]
            complete = settings.get("unlabelled") == "zero"
            assert sum(s["unlabelled"] for s in step["searches"]) == (
                0 if complete else sum(unknown)
            )
            assert step["spent"]["tokens"] == row[system.column("Tokens")]
            assert step["spent"]["cost"] is None
