"""The page in a browser: it reads, sorts, searches, exports and turns dark, and asks nothing of anyone."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from page_results import comparison
from playwright.sync_api import expect

from goodgain.reports.chart import Chart
from goodgain.reports.elements import (
    Cell,
    Section,
    Table,
    Text,
    UserText,
    count_columns,
    number_columns,
    text_columns,
)
from goodgain.reports.page import page_html


@pytest.fixture
def page(look, tmp_path):
    path = tmp_path / "page.html"
    comparison().report(path, queries={f"q{i}": f"question number {i}" for i in range(40)})
    opened = look(path)
    opened.draw_charts()
    return opened.page


def chart(key: str = "points") -> Chart:
    """A small chart whose marks, axes and tooltips need expressions."""
    spec = {
        "data": {"values": [{"x": i, "y": i * i} for i in range(9)]},
        "mark": {"type": "point", "tooltip": True},
        "transform": [{"calculate": "datum.y + 1", "as": "z"}],
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "z", "type": "quantitative", "axis": {"format": ".1f"}},
        },
    }
    return Chart(
        key=key,
        title="Squares",
        description="Numbers and their squares.",
        spec=spec,
        columns=["x", "y"],
        rows=[[i, i * i] for i in range(9)],
    )


def column(page, index: int, table: str = "queries") -> list[str]:
    rows = page.locator(f"#table-{table} tbody tr")
    return [rows.nth(i).locator("th, td").nth(index).inner_text() for i in range(rows.count())]


def downloaded(page, click) -> str:
    with page.expect_download() as waiting:
        click()
    return waiting.value.path().read_text()


def exported(page, table: str, format_: str) -> str:
    page.locator(f"#table-{table} summary", has_text="Export").click()
    button = page.locator(f"#table-{table} .menu-items button", has_text=re.compile(f"^{format_}$"))
    return downloaded(page, button.click)


def test_summary_says_what_was_found(page):
    card = page.locator(".verdict").inner_text()
    pair = comparison()["hybrid", "nDCG@10"]
    assert "hybrid is better than bm25 by nDCG@10." in card
    assert f"nDCG@10 {pair.mean:.3f} vs {pair.baseline_mean:.3f}" in card
    assert "on 40 queries" in card and "ms slower" in card
    assert "3 systems on 40 queries" in page.locator("#summary").inner_text()


def test_leaderboard_has_means_intervals_stars_and_the_best(page):
    rows = page.locator("#table-leaderboard tbody tr")
    assert rows.count() == 3
    first = rows.first
    assert first.locator("th").inner_text() == "hybrid"
    rank, cell = first.locator("td").nth(0), first.locator("td").nth(1)
    assert rank.inner_text() == "1"
    assert cell.locator("strong").inner_text() == f"{comparison().means['hybrid']['nDCG@10']:.3f}"
    assert cell.locator("sup").inner_text() == "***"
    assert re.fullmatch(r"0\.\d{3} to 0\.\d{3}", cell.locator(".subtext").inner_text())


def test_queries_sort_by_any_column(page):
    heads = page.locator("#table-queries thead .sort")
    names = [heads.nth(i).inner_text() for i in range(heads.count())]
    assert names == [
        "query",
        "text",
        "group",
        "bm25",
        "dense",
        "hybrid",
        "dense - bm25",
        "hybrid - bm25",
        "words",
        "relevant",
        "unjudged %",
    ]
    sorted_by = page.locator("#table-queries thead th")
    heads.nth(7).click()
    expect(sorted_by.nth(7)).to_have_attribute("aria-sort", "descending")
    down = [float(v) for v in column(page, 7)]
    assert down == sorted(down, reverse=True) and len(set(down)) > 5
    heads.nth(7).click()
    expect(sorted_by.nth(7)).to_have_attribute("aria-sort", "ascending")
    up = [float(v) for v in column(page, 7)]
    assert up == sorted(up) and up[0] < down[-1]
    heads.nth(0).click()
    expect(sorted_by.nth(0)).to_have_attribute("aria-sort", "ascending")
    assert column(page, 0)[:12] == [f"q{i}" for i in range(12)]


def test_queries_are_searched_filtered_and_paged(page):
    table = page.locator("#table-queries")
    status = table.locator(".status")
    expect(status).to_have_text("1–25 of 40 queries")
    first = [float(v) for v in column(page, 7)]
    assert first == sorted(first)  # the worst regressions of the best system
    table.get_by_label("Next page").click()
    expect(status).to_have_text("26–40 of 40 queries")
    assert len(column(page, 0)) == 15
    table.get_by_label("Search: All queries").fill("number 17")
    expect(status).to_have_text("1 of 40 queries")
    assert column(page, 0) == ["q17"]
    table.get_by_label("Search: All queries").fill("")
    table.get_by_label("Filter by difference").select_option(label="hybrid worse")
    pair = comparison()["hybrid", "nDCG@10"]
    expect(status).to_have_text(f"{pair.losses} of 40 queries")
    worse = [float(v) for v in column(page, 7)]
    assert worse and max(worse) < 0
    odd = [q for q in column(page, 0) if int(q[1:]) % 2]
    assert 0 < len(odd) < len(worse)
    table.get_by_label("Filter by group").select_option(label="long")
    expect(status).to_have_text(f"{len(odd)} of 40 queries")
    assert sorted(column(page, 0)) == sorted(odd)


def test_measure_of_the_table_can_be_changed(page):
    page.get_by_label("Measure", exact=True).select_option(label="AP")
    scores = comparison().scores
    differences = {
        q: v - scores.values("bm25", "AP")[q] for q, v in scores.values("hybrid", "AP").items()
    }
    worst = min(differences, key=differences.__getitem__)
    first = page.locator("#table-queries tbody tr").first
    expect(first.locator("th")).to_have_text(worst)
    expect(first.locator("th, td").nth(3)).to_have_text(f"{scores.values('bm25', 'AP')[worst]:.4f}")


def test_every_format_is_exported(page):
    scores = comparison().scores
    rows = list(csv.DictReader(io.StringIO(exported(page, "queries", "CSV"))))
    assert len(rows) == 40
    for row in rows:
        assert (
            float(row["hybrid"]) == scores.values("hybrid", "nDCG@10")[row["query"]]
        )  # to the last bit
    items = json.loads(exported(page, "leaderboard", "JSON"))
    means = {item["system"]: item["nDCG@10"] for item in items}
    assert means == {s: m["nDCG@10"] for s, m in comparison().means.items()}
    assert items[0]["nDCG@10 low"] < items[0]["nDCG@10"] < items[0]["nDCG@10 high"]
    markdown = exported(page, "leaderboard", "Markdown").splitlines()
    assert markdown[0].startswith("| system | rank | nDCG@10 | AP |") and set(markdown[1]) <= set(
        "| -:"
    )
    assert re.match(
        r"\| hybrid \| 1 \| \\\*\\\*\\\* \*\*0\.\d{3}\*\* \[0\.\d{3}, 0\.\d{3}\]", markdown[2]
    )
    latex = exported(page, "differences", "LaTeX")
    assert (
        latex.startswith("\\begin{tabular}{llr") and "d\\_z" in latex and "$\\downarrow$" in latex
    )


def test_theme_is_switched_and_saved(look, tmp_path):
    path = tmp_path / "page.html"
    comparison().report(path)
    page = look(path).page
    root = page.locator("html")
    expect(root).to_have_css("background-color", "rgb(255, 255, 255)")
    page.locator("#theme").click()
    expect(root).to_have_css("background-color", "rgb(22, 24, 28)")
    page.reload()
    expect(root).to_have_css("background-color", "rgb(22, 24, 28)")


def test_charts_are_drawn_under_the_policy(look, tmp_path):
    path = tmp_path / "chart.html"
    path.write_text(page_html("Charts", [Section("one", "One", [chart()])]))
    opened = look(path)
    page = opened.page
    expect(page.locator("#chart-points svg path[aria-roledescription=point]")).to_have_count(9)
    svg = downloaded(page, page.get_by_label("SVG of Squares").click)
    assert svg.startswith("<svg") and "aria-roledescription" in svg
    table = downloaded(page, page.get_by_label("CSV of Squares").click)
    assert table.splitlines()[:3] == ["x,y", "0,0", "1,1"]
    page.locator("#chart-points summary", has_text="Show data").click()
    expect(page.locator("#table-points-data tbody tr")).to_have_count(9)
    page.locator("#theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#chart-points svg")).to_have_count(1)


def test_a_page_has_no_script_but_its_own(tmp_path):
    text = page_html("A", [Section("one", "One", [Text(["x"]), chart()])])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src &#x27;none&#x27;; script-src &#x27;sha256-")
    assert "unsafe" not in policy and "http" not in policy
    assert len(re.findall(r"<script>", text)) == policy.split("style-src")[0].count("sha256-") == 4


def test_cells_show_their_text_and_mark(look, tmp_path):
    table = Table(
        "cells", "Cells", [*text_columns("a"), *number_columns("b"), *count_columns("c")],
        [["x", Cell(value=1.5, text="one and a half", mark="*", best=True), 12345], ["y", float("nan"), None],
         ["z", 0.99999, 7]],
    )  # fmt: skip
    path = tmp_path / "cells.html"
    path.write_text(page_html("Cells", [Section("s", "S", [Text([UserText("u")], "lead"), table])]))
    page = look(path).page
    assert column(page, 1, "cells") == ["one and a half*\n(best)", "–", "0.9999"]
    assert column(page, 2, "cells") == ["12,345", "–", "7"]
