"""Every result as HTML for notebooks: well-formed, escaped, with the numbers of its text."""

from __future__ import annotations

import dataclasses
import re
from html import escape
from html.parser import HTMLParser

import pytest
import sample_results

import goodgain as gg
from goodgain.errors import plain
from goodgain.labels.calibration import Calibration
from goodgain.results.text import HTML_ROWS, Cell, html_table

KINDS = ["Evaluation", "Comparison", "GoodGain", "Stopping", "ExperimentResult", "Calibration", "Labels",
         "GSB", "Gate", "Tuned", "Explanation", "Difference"]  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return sample_results.every_result(tmp_path_factory.mktemp("labels"))


class Tables(HTMLParser):
    """The cells of all tables; tags must close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag == "br":
            if {"td", "th"} & set(self.open):
                self.tables[-1][-1][-1] += " "
        else:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += text


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_is_a_table(results, kind):
    parsed = Tables(results[kind]._repr_html_())
    assert parsed.tables
    for table in parsed.tables:
        assert len(table) > 1 and len({len(row) for row in table}) == 1


def test_the_table_has_the_numbers_of_the_text(results):
    for kind in ("Evaluation", "Comparison", "GoodGain", "Calibration", "ExperimentResult"):
        cells = {
            cell.split(" ")[0]  # without the interval below it
            for table in Tables(results[kind]._repr_html_()).tables
            for row in table[1:]
            for cell in row
        }
        text = str(results[kind])
        numbers = {c for c in cells if c.count(".") == 1 and c.replace(".", "").isdigit()}
        assert len(numbers) > 3, kind
        assert all(number in text for number in numbers), kind


def test_the_best_is_marked_as_in_markdown(results):
    html, markdown = results["Comparison"]._repr_html_(), results["Comparison"].render("markdown")
    best = results["Comparison"].means["hybrid"]["nDCG@10"]
    assert re.search(f"<b>{best:.4f}</b><sup [^<>]*>[*]{{3}}</sup>", html)
    assert f"**{best:.4f}**" in markdown


def test_text_is_escaped():
    for name in sample_results.HOSTILE:
        for result in (
            sample_results.evaluation(("keyword", name, "hybrid")),
            sample_results.comparison((name, "dense", "hybrid")),
            sample_results.good_gain((name, "b")),
        ):
            html = result._repr_html_()
            assert "<script" not in html and "<img" not in html
            assert html.isprintable()
            Tables(html)


def test_long_tables_are_cut_and_counted():
    rows = [[i, 0.5] for i in range(HTML_ROWS + 1234)]
    html = html_table(["n", "value"], rows)
    assert html.count("<tr>") == HTML_ROWS + 1
    assert "and 1,234 more rows" in html
    assert "more rows" not in html_table(["n", "value"], rows[:3])
    assert "and 7 more rows" in html_table(["n", "value"], rows[:3], left_out=7)


def test_labels_are_not_all_read(results):
    html = results["Labels"]._repr_html_()
    assert html.count("<tr>") == 21 and "and 10 more rows" in html


def test_marks_and_numbers_of_cells():
    html = html_table(["a<b", "n"], [["x", Cell("0.5", "**", True)], ["y", Cell("0.4")]], "c & d")
    assert "a&lt;b" in html and "c &amp; d" in html
    room = '<sup style="display: inline-block; width: 2ch; text-align: left">'
    assert (
        f'<td style="text-align: right; padding: 0.25em 0.75em"><b>0.5</b>{room}**</sup></td>'
        in html
    )
    assert f'<td style="text-align: right; padding: 0.25em 0.75em">0.4{room}</sup></td>' in html
    assert ">-<" in html_table(["a"], [[float("nan")]])


def test_a_calibration_is_loaded_as_it_was(results, tmp_path):
    saved = results["Calibration"]
    saved.save(tmp_path / "c.json")
    loaded = Calibration.load(tmp_path / "c.json")
    # As text: what has no interval is NaN, which equals nothing.
    for field in dataclasses.fields(saved):
        assert repr(getattr(loaded, field.name)) == repr(getattr(saved, field.name))
    assert loaded.render() == saved.render()


def test_an_evaluation_has_intervals_the_best_in_bold_and_its_warnings(results):
    from goodgain.stats.intervals import mean_interval

    result = results["Evaluation"]
    html = result._repr_html_()
    for run in result.runs:
        _, low, high, _ = mean_interval(run.values("nDCG@10"))
        assert f"{low:.4f} to {high:.4f}" in html
    assert html.count("<b>") == len(result.measures)
    assert "95% interval over queries" in html
    short = gg.evaluate(
        {"q1": {"a": 1}, "q2": {"b": 1}}, {"x": {"q1": {"a": 1.0}}}, "AP", missing="zero"
    )
    assert any("not in the run" in warning for warning in short.warnings())
    for warning in short.warnings():
        assert warning in short._repr_html_()
    assert "1 warning<" in short._repr_html_()


def test_every_result_shows_its_warnings(results):
    checked = 0
    for kind in (
        "Evaluation",
        "Comparison",
        "GoodGain",
        "Stopping",
        "ExperimentResult",
        "Calibration",
    ):
        html = results[kind]._repr_html_()
        for warning in results[kind].warnings()[:10]:
            assert escape(plain(warning)) in html, kind
            checked += 1
    assert checked > 3


def test_means_of_a_comparison_and_of_agents_have_intervals(results):
    comparison, agents = results["Comparison"], results["GoodGain"]
    low, high = comparison.scores.runs["hybrid"][0].interval("nDCG@10")
    assert f"{low:.4f} to {high:.4f}" in comparison._repr_html_()
    assert " to " not in comparison.render("table").partition("differences")[0].split("\n\n")[-1]
    figure = agents.systems[0].figure("CG")
    assert f"{figure.low:.4f} to {figure.high:.4f}" in agents._repr_html_()
    assert "<b>" in agents._repr_html_()


def test_cells_have_padding_of_their_own(results):
    """marimo takes the padding away from tables."""
    html = results["Evaluation"]._repr_html_()
    assert html.count("padding: 0.25em 0.75em") == html.count("<td") + html.count("<th ")


def test_a_trace_has_a_timeline():
    trace = {
        "conversation": "c<1>",
        "system": "agent",
        "turns": [{
            "user": "What <b>is</b> it?", "answer": "This.",
            "iterations": [
                {"searches": [{"query": "first", "tokens": 1200, "latency": 0.5, "results": [
                    {"id": "a", "title": "Page <a>", "gain": 3}, {"id": "b"}]}]},
                {"searches": [{"query": "second", "error": "timed out", "results": []},
                              {"query": "first", "results": [{"id": "a", "title": "Page <a>"}]}]},
            ],
        }],
    }  # fmt: skip
    html = gg.Trace.from_dict(trace)._repr_html_()
    (table,) = Tables(html).tables
    assert table[0] == ["search", "query", "results", "gains", "seconds", "tokens", "problem"]
    assert [row[:3] for row in table[1:]] == [
        ["1.1", "first", "2"], ["2.1", "second", "0"], ["2.2", "first", "1"],
    ]  # fmt: skip
    assert table[1][3] == "3 –" and table[1][5] == "1,200" and table[2][-1] == "failed: timed out"
    assert "What &lt;b&gt;is&lt;/b&gt; it?" in html and "<a>" not in html and "This." in html
    result = gg.good_gain([trace])
    (conversation,) = result.conversations.read({("agent", "c<1>")})
    (counted,) = Tables(conversation._repr_html_()).tables
    assert counted[0][3] == "repeats"
    assert [row[3] for row in counted[1:]] == ["0", "0", "1"]
    assert "repeated query" in counted[3][-1]
    assert "No searches" in gg.Trace("empty")._repr_html_()


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_notebook_html_is_readable_in_a_browser(results, browser, dark):
    """As a cell's output on a page that resets every padding, as marimo does."""
    back, front = ("#16181c", "#eceef2") if dark else ("#ffffff", "#1b1d22")
    context = browser.new_context(viewport={"width": 1000, "height": 800})
    page = context.new_page()
    try:
        for kind in ("Evaluation", "Comparison", "GoodGain"):
            page.set_content(
                f"<style>* {{ padding: 0; margin: 0 }} body {{ background: {back}; color: {front} }}</style>"
                + results[kind]._repr_html_()
            )
            cell = page.locator("td").first
            assert cell.evaluate("e => parseFloat(getComputedStyle(e).paddingLeft)") > 8
            assert cell.evaluate("e => getComputedStyle(e).color") == (
                "rgb(236, 238, 242)" if dark else "rgb(27, 29, 34)"
            )
    finally:
        context.close()
