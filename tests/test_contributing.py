"""CONTRIBUTING.md: its example package works, and every place that it names exists."""

from __future__ import annotations

import json
import re
import sys
import tomllib
import types
from pathlib import Path

import pytest

import goodgain as gg

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return text


@pytest.fixture
def package(install_plugin):
    """The package of the page, installed."""
    groups = tomllib.loads(block("toml"))["project"]["entry-points"]
    moved = {
        group: {
            name: value.replace("my_package.extensions", "my_extensions")
            for name, value in names.items()
        }
        for group, names in groups.items()
    }
    install_plugin(moved, my_extensions=block("python"))
    return moved


def test_every_group_has_an_example(package):
    assert set(package) == {
        "goodgain.measures", "goodgain.trace_formats", "goodgain.retrievers", "goodgain.judges",
    }  # fmt: skip


def test_a_measure(package):
    qrels = {"q": {"a": 2, "b": 3, "c": 4}}
    run = {"q": {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}}
    assert gg.evaluate(qrels, run, "TopGain P@1")["TopGain"] == 3


def test_a_trace_format(package, tmp_path):
    path = tmp_path / "traces.jsonl"
    searches = [["rivers", ["d1", "d2"]], ["streams", ["d2", "d3"]]]
    path.write_text(json.dumps({"question": "where?", "my_searches": searches}) + "\n")
    (trace,) = gg.read_traces(path)
    assert [[r.id for r in s.results] for t in trace.turns for i in t.iterations for s in i.searches] == [
        ["d1", "d2"], ["d2", "d3"],
    ]  # fmt: skip


def test_a_retriever(package):
    from goodgain.experiment.retrievers import make

    corpus = {"d1": "a river under a bridge", "d2": "a river", "d3": "stones"}
    retriever = make("shortest", {"limit": 1})
    qrels = {"q1": {"d2": 1}}
    experiment = gg.Experiment(
        corpus,
        {"q1": "river"},
        qrels,
        {"shortest": retriever, "none": lambda query: []},
        measures="RR",
    )
    assert experiment.run(progress=False).scores["shortest"]["RR"] == 1


def test_a_judge(package):
    pairs = [("q1", "d1", "rivers of France", "The Seine, the Loire and other rivers of France")]
    assert gg.label(pairs, "overlap").to_dict() == {"q1": {"d1": 3}}


def test_a_section(tmp_path, monkeypatch):
    """A module and a name in ORDER are all that a section needs."""
    from goodgain.reports import sections
    from goodgain.reports.elements import Section, Text

    module = types.ModuleType("goodgain.reports.sections.hello")
    module.section = lambda contents: Section("hello", "Hello", [Text(["from a new section"])])
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(sections, "ORDER", (*sections.ORDER, "hello"))
    path = tmp_path / "page.html"
    gg.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR").report(path)
    assert "from a new section" in path.read_text(encoding="utf-8")


def test_every_place_it_names_exists():
    places = re.findall(r"`((?:src|tests|scripts|docs|benchmarks)/[\w/.*]+)`", TEXT)
    assert len(places) > 10
    assert [place for place in places if not list(ROOT.glob(place.rstrip("/")))] == []
