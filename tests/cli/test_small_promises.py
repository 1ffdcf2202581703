"""Sentences and signs that were wrong: nouns, zeros, measures without bounds, gains in explanations."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import UsageError
from goodgain.verification import selftest


def test_bounds_of_zero_have_no_sign():
    search = {"query": "q", "results": [{"id": "d"}]}
    turn = {"user": "u", "iterations": [{"searches": [search]}]}
    result = gg.good_gain([{"conversation": "c", "turns": [turn]}])
    for per_conversation in (False, True):
        columns, rows = result.rows(per_conversation)
        for row in rows:
            for name in ("value", "lower", "upper"):
                value = row[columns.index(name)]
                assert value is None or value != 0 or math.copysign(1, value) == 1, row


def test_selftest_of_measures_without_bounds():
    assert selftest(measures="NumQ NumRet", queries=5).passed
    with pytest.raises(UsageError, match="no definition of Latency") as refused:
        selftest(measures="Latency", queries=5)
    assert "ranked measures" in refused.value.hint


def test_explanations_of_coverage_count_documents():
    qrels = {"q": {"d0": 0, "d1": 1, "d2": 0}}
    ranking = {"q": {f"d{i}": 5.0 - i for i in range(5)}}
    terms = gg.explain(qrels, ranking, "Judged@5", query="q").terms
    assert [(t.gain, round(t.contribution, 3)) for t in terms] == [
        (1, 0.2), (1, 0.2), (1, 0.2), (0, 0), (0, 0),
    ]  # fmt: skip
    for measure in ("Judged@5", "Unjudged@5", "NumRet", "P@5", "R@5", "nDCG@5", "AP"):
        for term in gg.explain(qrels, ranking, measure, query="q").terms:
            if term.discount == term.discount and measure != "nDCG@5":
                assert term.gain * term.discount == pytest.approx(term.contribution), measure


def test_means_of_agents_are_over_conversations(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, gain in (("before", 1), ("after", 2)):
        lines = []
        for i in range(4):
            search = {"query": "q", "results": [{"id": f"d{i}", "gain": gain + i % 2}]}
            turn = {"user": "u", "iterations": [{"searches": [search]}]}
            lines.append(json.dumps({"conversation": f"c{i}", "turns": [turn]}) + "\n")
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    assert (
        run(["compare", "--traces", "before.jsonl", "--traces", "after.jsonl", "-m", "CG", "-q"])
        == 0
    )
    said = capsys.readouterr().out
    assert "mean over conversations" in said and "mean over queries" not in said


def test_ids_of_the_command_line_are_utf_8_in_any_locale(tmp_path):
    (tmp_path / "qrels.txt").write_text("é 0 d 1\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text("é Q0 d 1 2.5 t\n", encoding="utf-8")
    command = [sys.executable, "-m", "goodgain", "explain", "qrels.txt", "run.txt", "-m", "RR"]
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(
        [*command, "--query", "é", "-o", "out.txt"],
        cwd=tmp_path, env={**os.environ, **ascii_only}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").startswith("RR of query é: 1.0000")
