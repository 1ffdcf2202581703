"""Two agents on one conversation, on the page: where they part, and what each found."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from test_accessible import serious
from test_replay import search, trace

import goodgain as gg

HOSTILE = "<img src=x onerror='window.ran=1'>"
BEFORE = [[search("start", ("a", 4), ("b", 0))], [search(f"old words {HOSTILE}", ("c", 2))]]
AFTER = [*BEFORE[:1], [search("new words", ("d", 3), ("a", 4))], [search("more", ("e", 0))]]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = tmp_path_factory.mktemp("trajectories") / "agents.html"
    traces = [
        trace("c1", BEFORE, "before"),
        trace("c1", AFTER, "after"),
        trace("alone", BEFORE, "before"),
    ]
    gg.good_gain(traces).report(page)
    return page


@pytest.mark.browser
@pytest.mark.parametrize("row", [0, 1])
def test_a_conversation_of_two_agents_is_compared(path, look, row):
    page = look(path).page
    page.locator("#table-conversations tbody .open", has_text="c1").nth(row).press("Enter")
    section = page.locator("dialog[open]").get_by_role("region", name="Comparison of two systems")
    expect(section).to_contain_text("They diverge at iteration 2: before searched for 'old words")
    expect(section).to_contain_text(
        "Of 3 good results both returned 1, only before 1, only after 1."
    )
    steps = section.locator("table").first.locator("tbody tr")
    expect(steps).to_have_count(3)
    expect(steps.nth(1)).to_contain_text("2 (they part)")
    expect(steps.nth(2)).to_contain_text("more")
    found = section.locator("table").nth(1).locator("tbody tr", has_text="Page d")
    expect(found).to_contain_text("never")
    expect(found).to_contain_text("2.1 #1")
    assert page.evaluate("window.ran") is None


@pytest.mark.browser
def test_a_conversation_of_one_agent_is_not(path, look):
    page = look(path).page
    page.locator("#table-conversations tbody .open", has_text="alone").press("Enter")
    expect(page.locator("dialog[open] .timeline")).to_be_visible()
    expect(page.locator("dialog[open] .trajectories")).to_have_count(0)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_accessible_and_fits(path, look, width, dark):
    opened = look(path, dark=dark, width=width)
    page = opened.page
    page.locator("#table-conversations tbody .open", has_text="c1").first.press("Enter")
    page.locator("dialog[open] .trajectories").scroll_into_view_if_needed()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    opened.well()
