"""Files that version 0.1 saved still load, with the same numbers and the right directions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.reports import report_text

FOLDER = Path(__file__).parent / "saved_by_0_1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
FILES = sorted(p.name for p in FOLDER.glob("*.json") if p.name != "expected.json")


@pytest.mark.parametrize("name", FILES)
def test_every_kind_loads_and_is_saved_again(name, tmp_path):
    result = gg.load(FOLDER / name)
    result.save(tmp_path / "again.json")
    again = gg.load(tmp_path / "again.json")
    assert type(again) is type(result) and str(again) == str(result)
    assert "<html" in report_text(result)


def test_evaluations():
    result = gg.load(FOLDER / "evaluation.json")
    assert result.means == EXPECTED["means"]
    assert [m.namespace for m in result.measures] == ["ranked"] * 6 + ["cost"] * 2
    assert [m.lower_is_better for m in result.measures] == [
        False, False, False, True, False, False, True, True,
    ]  # fmt: skip
    bounded = gg.load(FOLDER / "evaluation_bounds.json")
    low, high = bounded["new"].bounds("AP")
    assert low <= bounded["new"]["AP"] <= high


def test_a_registered_measure_is_shown_without_its_function():
    result = gg.load(FOLDER / "evaluation_registered.json")
    assert result.means == EXPECTED["registered"]
    assert "wobble" in str(result)


def test_comparisons():
    result = gg.load(FOLDER / "comparison.json")
    assert result["new", "nDCG@10"].improvement > 0
    assert result["new", "Latency"].lower_is_better and result["new", "Latency"].improvement < 0
    columns = gg.load(FOLDER / "comparison_columns.json")
    assert columns["b", "wer"].improvement > 0 and columns["b", "score"].improvement < 0
    assert columns["b", "latency_s"].improvement > 0
    assert "wer ↓" in str(columns)


def test_good_gain():
    result = gg.load(FOLDER / "good_gain.json")
    for measure in ("CG", "SRR"):
        assert {s.name: s.final(measure) for s in result.systems} == EXPECTED[measure]
    assert gg.compare(result, measures="SRR")["new", "SRR"].improvement < 0
