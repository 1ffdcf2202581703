"""Every result as HTML for notebooks: well-formed, escaped, with the numbers of its text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
import sample_results

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
        if tag != "br":
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
            cell
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
    assert f'<td style="text-align: right"><b>0.5</b>{room}**</sup></td>' in html
    assert f'<td style="text-align: right">0.4{room}</sup></td>' in html
    assert ">-<" in html_table(["a"], [[float("nan")]])


def test_a_calibration_is_loaded_as_it_was(results, tmp_path):
    saved = results["Calibration"]
    saved.save(tmp_path / "c.json")
    loaded = Calibration.load(tmp_path / "c.json")
    assert loaded == saved
    assert loaded.render() == saved.render()
