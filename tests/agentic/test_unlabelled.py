"""Without labels gains are unknown, not 0: in the terminal, in notebooks, on pages and in the viewer."""

from __future__ import annotations

import json
import re

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.reports.view import Library, Viewer
from goodgain.reports.view.summaries import summarise


def traces(gains: dict[str, bool]) -> list[dict[str, object]]:
    """Two conversations of each agent; the results of some agents have gains."""
    return [
        {
            "conversation": f"c{n}",
            "system": system,
            "turns": [{"user": "q", "iterations": [
                {"searches": [{"query": "a", "results": [
                    {"url": f"https://example.org/{system}/{n}/{r}", **({"gain": r} if has_gains else {})}
                    for r in range(3)
                ]}]}
            ]}],
        }
        for system, has_gains in gains.items()
        for n in range(2)
    ]  # fmt: skip


@pytest.fixture
def result():
    return gg.good_gain(traces({"a": False, "b": False}))


def test_tables_of_the_terminal(result):
    _, rows = result.summary()
    cells = {row[0]: row[1] for row in rows}
    assert re.fullmatch(r"unknown \[0\.0000, \d+\.\d{4}\]", cells["CG"].text)
    assert cells["SRR"] == 0.0  # needs no labels
    _, compared = result.paired()
    assert {row[2] for row in compared} == {"SRR", "Searches"}
    assert "0.0000 [0" not in result.render()


def test_tables_of_notebooks(result):
    html = result._repr_html_()
    assert "unknown [0.0000" in html


def test_the_page_and_the_viewer(result, tmp_path):
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    data = json.loads(re.search(r'id="data-page">(.*?)</script>', page, re.S)[1])
    elements = [e for section in data["sections"] for e in section["elements"]]
    table = next(e for e in elements if e.get("key") == "agentic")
    row = next(r for r in table["rows"] if r[0] == "CG@i")
    for cell in row[1:]:
        assert cell["value"] is None and cell["text"].startswith("unknown [0.00, ")
        assert "low" not in cell
    folder = tmp_path / "results"
    folder.mkdir()
    result.save(folder / "agents.json")
    with Viewer(Library(folder)) as viewer:
        (entry,) = viewer.library.entries().values()
        rows = summarise(entry).rows
    assert all("CG" not in row.values and row.values["SRR"] == 0 for row in rows)


def test_one_of_two_agents_is_labelled():
    result = gg.good_gain(traces({"a": True, "b": False}))
    cells = {row[0]: row[1:] for row in result.summary()[1]}
    assert cells["CG"][0] == pytest.approx(2.0) and cells["CG"][1].text.startswith("unknown")
    assert {row[2] for row in result.paired()[1]} == {"SRR", "Searches"}


def test_the_verdict_on_labelled_agents_opens_the_terminal_and_the_page(tmp_path, capsys):
    path = tmp_path / "traces.jsonl"
    for labelled, opens in ((True, True), (False, False)):
        lines = map(json.dumps, traces({"a": labelled, "b": labelled}))
        path.write_text("\n".join(lines), encoding="utf-8")
        report = tmp_path / "page.html"
        assert run(["trace", str(path), "--no-plot", "--report", str(report)]) == 0
        assert capsys.readouterr().out.startswith("verdict ") == opens
        page = report.read_text()
        assert ('class="verdict' in page) == opens
        data = json.loads(re.search(r'id="data-page">(.*?)</script>', page, re.S)[1])
        (section,) = [s for s in data["sections"] if s["key"] == "agentic"]
        assert not section["folded"]  # the table of the agents follows, with or without warnings
