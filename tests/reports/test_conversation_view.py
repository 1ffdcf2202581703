"""A conversation on the page: every search in a row, long conversations, any two of three agents."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from test_accessible import serious

import goodgain as gg

LENGTH = 88
HOSTILE = "<img src=x onerror='window.ran=1'>"


def trace(system: str, length: int, offset: int = 0) -> dict:
    iterations = []
    for i in range(length):
        if i % 20 == 7:
            search = {"query": f"query {i}", "error": f"HTTP 503 {HOSTILE}", "results": []}
        else:
            # Every second page was returned before.
            pages = [offset + i // 2 * 2, 1000 + i]
            search = {
                "query": f"query {i}", "latency": 0.5, "tokens": 100 + i, "cost": 0.01,
                "results": [
                    {"id": str(p), "title": f"Page {p}", "gain": 0 if p % 3 else 4} for p in pages
                ],
            }  # fmt: skip
        iterations.append({"searches": [search]})
    turn = {"user": "What?", "answer": "This.", "iterations": iterations}
    return {"conversation": "c1", "system": system, "turns": [turn]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = tmp_path_factory.mktemp("long") / "agents.html"
    traces = [trace("alpha", LENGTH), trace("beta", 20, 2), trace("gamma", 5, 4)]
    gg.good_gain(traces).report(page)
    return page


def opened(look, path, row: int = 0, **options):
    page = look(path, **options).page
    page.locator("#table-conversations tbody .open").nth(row).press("Enter")
    return page.locator("dialog[open]")


def test_the_table_of_conversations_has_counts_errors_and_cost(path, look):
    page = look(path).page
    table = page.locator("#table-conversations")
    heads = table.locator("thead .sort").all_inner_texts()
    row = dict(
        zip(
            heads,
            [c.inner_text() for c in table.locator("tbody tr").first.locator("th, td").all()],
            strict=True,
        )
    )
    failed = sum(i % 20 == 7 for i in range(LENGTH))
    seen, new = set(), 0
    for i in range(LENGTH):
        if i % 20 != 7:
            for p in (i // 2 * 2, 1000 + i):
                new += p not in seen
                seen.add(p)
    results = 2 * (LENGTH - failed)
    assert (row["question"], row["searches"], row["failed"]) == ("What?", str(LENGTH), str(failed))
    assert (row["results"], row["new"], row["duplicates"]) == (
        str(results),
        str(new),
        str(results - new),
    )


def test_every_search_is_a_row(path, look):
    dialog = opened(look, path)
    table = dialog.locator("#table-conversations-searches")
    expect(table.locator(".status")).to_have_text(f"1–25 of {LENGTH} searches")
    heads = table.locator("thead .sort").all_inner_texts()
    assert heads == [
        "search", "query", "results", "new", "repeats", "good", "gain so far", "latency", "tokens",
        "cost", "what happened",
    ]  # fmt: skip
    rows = [
        [c.inner_text() for c in r.locator("th, td").all()] for r in table.locator("tbody tr").all()
    ]
    assert rows[1][:6] == ["2.1", "query 1", "2", "1", "1", "0"]  # page 0 again, page 1001 new
    assert rows[7][1] == "query 7" and rows[7][-1] == f"failed: HTTP 503 {HOSTILE}"
    assert rows[0][7:10] == ["0.50 s", "100", "0.0100"]
    assert dialog.page.evaluate("window.ran") is None


def test_long_conversations_fold_and_a_search_leads_to_its_results(path, look):
    dialog = opened(look, path)
    steps = dialog.locator(".timeline details.step")
    expect(steps).to_have_count(LENGTH)
    assert dialog.locator(".timeline details.step[open]").count() == 0
    assert dialog.locator(".timeline").evaluate("e => e.getBoundingClientRect().height") < 5500
    dialog.get_by_label("Go to search 5.1", exact=True).click()
    expect(steps.nth(4)).to_have_attribute("open", "")
    expect(dialog.locator(".result.target")).to_be_in_viewport()
    expect(dialog.locator(".strip").get_by_text("failed").first).to_be_visible()


def test_any_two_of_three_agents_are_compared(path, look):
    dialog = opened(look, path, 1)  # beta
    select = dialog.get_by_label("Compare with")
    assert select.locator("option").all_inner_texts() == ["alpha", "gamma"]
    section = dialog.get_by_role("region", name="Comparison of two systems")
    expect(section.locator("h3").first).to_have_text("alpha and beta on this conversation")
    select.select_option(label="gamma")
    expect(section.locator("h3").first).to_have_text("beta and gamma on this conversation")
    heads = section.locator("table").first.locator("thead .sort").all_inner_texts()
    assert "beta: repeats" in heads
    expect(section.locator("table").first.locator("tbody tr").nth(7)).to_contain_text("[1 failed]")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_is_accessible_and_fits(path, look, width, dark):
    dialog = opened(look, path, 0, width=width, dark=dark)
    dialog.get_by_label("Go to search 1.1", exact=True).click()
    assert serious(dialog.page) == []
    assert dialog.evaluate("d => d.scrollWidth - d.clientWidth") == 0
