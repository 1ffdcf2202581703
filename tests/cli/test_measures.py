"""`goodgain measures`: the table, and one measure in full."""

from __future__ import annotations

import csv
import io
import json

import pytest

from goodgain.cli import run
from goodgain.measures import definitions

DEFINITIONS = definitions("ranked", "cost")


def test_the_table_lists_every_measure(capsys):
    assert run(["measures", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    named = [r["measure"].split("(")[0].split("@")[0].split("[")[0] for r in rows]
    assert named[: len(DEFINITIONS)] == [d.name for d in DEFINITIONS]
    assert all(r["what it tells"] and r["family"] for r in rows)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.name)
def test_one_measure(definition, capsys):
    assert run(["measures", definition.name]) == 0
    out = capsys.readouterr().out
    facts = [
        definition.summary,
        definition.formula,
        str(definition.range),
        definition.edge_cases,
        definition.citation,
    ]
    facts += [
        *definition.aliases,
        *definition.elsewhere.values(),
        *(p.meaning for p in definition.params),
    ]
    flat = " ".join(out.split())
    assert [fact for fact in facts if " ".join(fact.split()) not in flat] == []


def test_ndcg_by_hand(capsys):
    assert run(["measures", "nDCG"]) == 0
    out = capsys.readouterr().out
    for text in (
        "definition:",
        "range:",
        "0 to 1",
        "edge cases:",
        "citation:",
        "Järvelin",
        "ndcg_cut",
        "gain=linear|exp",
    ):
        assert text in out


@pytest.mark.parametrize(
    "name, ours",
    [
        ("recip_rank", "RR"),
        ("MRR", "RR"),
        ("ndcg_cut_10", "nDCG"),
        ("nDCG@10", "nDCG"),
        ("hit_rate", "Hit"),
    ],
)
def test_other_names(name, ours, capsys):
    assert run(["measures", name, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["measure"] == ours


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "tsv", "markdown", "latex"])
def test_formats(form, capsys):
    assert run(["measures", "--format", form]) == 0
    table = capsys.readouterr().out
    assert run(["measures", "AP", "--format", form]) == 0
    assert "nDCG" in table and "Average precision" in capsys.readouterr().out


def test_output_file(tmp_path, capsys):
    assert run(["measures", "-o", str(tmp_path / "m.txt")]) == 0
    assert capsys.readouterr().out == ""
    assert "nDCG" in (tmp_path / "m.txt").read_text()


def test_an_unknown_measure_names_the_nearest(capsys):
    assert run(["measures", "nDGC"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "'nDGC'" in err and "hint: " in err and "nDCG" in err.split("hint: ")[1]
