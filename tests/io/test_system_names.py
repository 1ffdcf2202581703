"""Two files of one name are two systems, and an inner dot is part of the name, in every command."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.cli import run

QRELS = "q1 0 a 1\nq2 0 b 1\n"
GOOD, BAD = "q1 Q0 a 1 2 t\nq2 Q0 b 1 2 t\n", "q1 Q0 x 1 2 t\nq2 Q0 b 1 2 t\n"


def trace(gain, conversation="c"):
    result = {"id": "a", "gain": gain}
    return json.dumps(
        {
            "conversation": conversation,
            "turns": [{"iterations": [{"searches": [{"query": "q", "results": [result]}]}]}],
        }
    )


FILES = {
    "qrels.txt": QRELS,
    "x/run.txt": GOOD, "y/run.txt": BAD, "gpt-4.1.txt": GOOD, "gpt-4.5.txt": BAD,
    "x/run.jsonl": trace(3), "y/run.jsonl": trace(2), "gpt-4.1.jsonl": trace(3), "gpt-4.5.jsonl": trace(2),
    "x/run.csv": "query,AP\nq1,1\nq2,1\n", "y/run.csv": "query,AP\nq1,0\nq2,1\n",
    "gpt-4.1.csv": "query,AP\nq1,1\nq2,1\n", "gpt-4.5.csv": "query,AP\nq1,0\nq2,1\n",
}  # fmt: skip
PAIRS = [("x/run", "y/run", ["run#1", "run#2"]), ("gpt-4.1", "gpt-4.5", ["gpt-4.1", "gpt-4.5"])]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)


def rows(capsys, *arguments):
    assert run([*arguments, "--format", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


@pytest.mark.parametrize(("a", "b", "names"), PAIRS)
def test_evaluate(folder, capsys, a, b, names):
    files = [f"{a}.txt", f"{b}.txt"]
    table = {
        r["run"]: float(r["value"])
        for r in rows(capsys, "evaluate", "qrels.txt", *files, "-m", "AP")
    }
    assert table == dict(zip(names, (1, 0.5), strict=True))
    result = gg.evaluate("qrels.txt", files, "AP")
    assert {r.name: r["AP"] for r in result.runs} == table


@pytest.mark.parametrize(("a", "b", "names"), PAIRS)
def test_good_gain(folder, capsys, a, b, names):
    files = [f"{a}.jsonl", f"{b}.jsonl"]
    for by in ("system", "file"):
        result = gg.good_gain(files, by=by)
        assert list(result.names) == names
        assert [result[name].final("CG") for name in names] == [{"c": 3}, {"c": 2}]
    systems = [r["system"] for r in rows(capsys, "trace", *files)]
    assert list(dict.fromkeys(systems)) == names


@pytest.mark.parametrize(("a", "b", "names"), PAIRS)
def test_compare_scores(folder, capsys, a, b, names):
    (row,) = rows(capsys, "compare", "--scores", f"{a}.csv", "--scores", f"{b}.csv")
    assert [row["baseline"], row["system"]] == names
    assert (float(row["baseline_mean"]), float(row["mean"])) == (1, 0.5)


@pytest.mark.parametrize(("a", "b", "names"), PAIRS)
def test_compare_runs(folder, capsys, a, b, names):
    (row,) = rows(capsys, "compare", "qrels.txt", f"{a}.txt", f"{b}.txt", "-m", "AP")
    assert [row["baseline"], row["system"]] == names


@pytest.mark.parametrize(("a", "b", "names"), PAIRS)
def test_gate(folder, a, b, names):
    gate = gg.gate(f"{a}.csv", f"{b}.csv", margin=0.1)
    assert [gate.baseline, gate.candidate] == names


@pytest.mark.parametrize(("a", "b", "names"), PAIRS)
def test_fuse(folder, a, b, names):
    fused = gg.fuse([f"{a}.txt", f"{b}.txt"], "sum").to_dict()
    assert set(fused["q1"]) == {"a", "x"}
    assert gg.fuse([f"{b}.txt", f"{a}.txt"], "sum").to_dict() == fused
    tuned = gg.tune([f"{a}.txt", f"{b}.txt"], "wsum", qrels="qrels.txt", measures="AP", folds=2)
    assert sorted(tuned.singles) == names


def test_equal_names_of_two_results_are_numbered(folder):
    one = gg.evaluate("qrels.txt", "x/run.txt", "AP")
    other = gg.evaluate("qrels.txt", "y/run.txt", "AP")
    assert gg.compare(one, other).systems == ("run#1", "run#2")


def test_name_that_looks_numbered_is_unchanged(folder):
    runs = [gg.Run("x/run.txt"), gg.Run("y/run.txt"), gg.Run("gpt-4.1.txt", name="run#2")]
    result = gg.evaluate("qrels.txt", runs, "AP")
    assert [r.name for r in result.runs] == ["run#1", "run#3", "run#2"]


def test_several_files_of_one_system(folder):
    Path("more.jsonl").write_text(trace(2, "d"))
    result = gg.good_gain({"mine": ["x/run.jsonl", "more.jsonl"]})
    assert result.names == ("mine",)
    assert result["mine"].final("CG") == {"c": 3, "d": 2}
