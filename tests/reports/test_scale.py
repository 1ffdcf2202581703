"""Many queries: pages of 7,000 and 10,000 queries and three systems are built quickly, small, and responsive.

Bounds are generous and the best of some tries counts, so that a busy machine does not fail;
benchmarks/report.py has the numbers.
"""

from __future__ import annotations

import time

import pytest
from page_results import many_queries
from playwright.sync_api import expect

from goodgain.reports import ranked_lists

pytestmark = pytest.mark.slow

TRIES = 4


@pytest.fixture(scope="module", params=[(7000, 100), (10_000, 10)], ids=["7000", "10000"])
def big(request, tmp_path_factory):
    """The page, its number of queries, and the seconds of the processor that the page alone took."""
    queries, depth = request.param
    comparison, texts = many_queries(queries=queries, depth=depth)
    path = tmp_path_factory.mktemp("big") / "big.html"
    start = time.process_time()
    comparison.report(path, queries=texts)
    return path, queries, time.process_time() - start


def test_it_is_soon_made_and_small(big):
    path, _, seconds = big
    assert seconds < 10  # 2 s on a quiet machine; 5 s is the bar of the benchmark
    assert path.stat().st_size < 15_000_000


def test_it_is_soon_seen(big, look):
    page = look(big[0]).page
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    best = float("inf")
    for _ in range(TRIES):
        best = min(best, page.wait_for_function(paint).json_value())
        if best <= 3000:  # milliseconds; 1,000 is the bar of the benchmark
            break
        page.reload()
    assert best <= 3000
    expect(page.locator("#table-queries .status")).to_have_text(f"1–25 of {big[1]:,} queries")


def test_it_is_sorted_searched_and_filtered_without_lag(big, look):
    page = look(big[0]).page
    timed = """(act) => {
      const start = performance.now();
      act();
      document.body.offsetHeight;
      return performance.now() - start;
    }"""
    acts = {
        "sort numbers": "document.querySelectorAll('#table-queries thead .sort')[4].click()",
        "sort texts": "document.querySelectorAll('#table-queries thead .sort')[1].click()",
        "search": "(s => { s.value = 'question 69'; s.dispatchEvent(new Event('input')) })"
        "(document.querySelector('#table-queries input'))",
        "filter": "(s => { s.value = '4'; s.dispatchEvent(new Event('change')) })"
        "(document.querySelector('[aria-label=\"Filter by difference\"]'))",
        "open": "document.querySelector('#table-queries .open').click()",
        "next": "document.querySelector('[aria-label=\"Next query\"]').click()",
    }
    best = dict.fromkeys(acts, float("inf"))
    for _ in range(TRIES):
        for name, act in acts.items():
            best[name] = min(best[name], page.evaluate(f"({timed})(() => {{ {act} }})"))
        expect(page.locator("dialog[open] .lists tbody tr")).to_have_count(3 * ranked_lists.SHALLOW)
        expect(page.locator("dialog[open] .lead")).to_contain_text("question 69")
        if max(best.values()) < 500:  # some 20 ms on a quiet machine
            break
        page.reload()
    assert max(best.values()) < 500, best


def test_lists_that_would_be_too_large_are_limited_to_the_queries_that_differ_most(
    tmp_path, look, monkeypatch
):
    from page_results import comparison

    monkeypatch.setattr(ranked_lists, "MAX_BYTES", 8000)
    path = tmp_path / "few.html"
    comparison().report(path)
    page = look(path).page
    note = page.locator("#table-queries .note").inner_text()
    count = int(note.partition("only the ")[2].split()[0])
    assert 1 <= count < 20
    scores = comparison().scores
    values = {s: scores.values(s, "nDCG@10") for s in ("bm25", "dense", "hybrid")}
    spread = {q: max(abs(values[s][q] - values["bm25"][q]) for s in values) for q in values["bm25"]}
    order = sorted(spread, key=lambda q: -spread[q])
    for query, there in ((order[0], True), (order[count - 1], True), (order[-1], False)):
        page.get_by_label("Search: All queries").fill(query)
        page.get_by_role("button", name=query, exact=True).press("Enter")
        dialog = page.locator("dialog[open]")
        expect(dialog.locator("h2")).to_have_text(f"Query {query}")
        assert (dialog.locator(".lists").count() == 1) == there, query
        page.locator("dialog .close").click()
