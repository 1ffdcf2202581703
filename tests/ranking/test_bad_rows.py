"""Rows of a run that cannot be used: an error, or left out and counted, in every form of input."""

from __future__ import annotations

import math

import pytest

from goodgain import Evaluation, Qrels, evaluate
from goodgain.cli import run as command
from goodgain.errors import InputError

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}}
ROWS = [
    ("q1", "a", 2.0),
    ("q1", "b", math.nan),
    ("q1", "a", 1.0),
    ("q2", "x", 2.0),
    ("q2", "a", math.inf),
]
LINES = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in ROWS)


def rows(folder):
    return ROWS


def pairs(folder):
    found: dict[str, list[tuple[str, float]]] = {}
    for query, doc, score in ROWS:
        found.setdefault(query, []).append((doc, score))
    return found


def trec(folder):
    path = folder / "run.txt"
    path.write_text("# made by hand\n\n" + LINES)
    return path


def delimited(folder):
    path = folder / "run.csv"
    path.write_text("query,doc,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in ROWS))
    return path


def arrow(folder):
    pa = pytest.importorskip("pyarrow")
    query, doc, score = (list(column) for column in zip(*ROWS, strict=True))
    return pa.table({"query": query, "doc": doc, "score": score})


@pytest.mark.parametrize("form", [rows, pairs, trec, delimited, arrow])
@pytest.mark.parametrize("threads", [1, 2])
def test_bad_rows_are_left_out_and_counted(form, threads, tmp_path):
    run = form(tmp_path)
    with pytest.raises(InputError):
        evaluate(QRELS, run, "NumRet")
    result = evaluate(QRELS, run, "NumRet RR", skip_bad=True, threads=threads)
    scores = result.runs[0]
    assert scores.column("NumRet") == [1.0, 1.0]
    assert scores.coverage.bad_rows == 3
    assert "not a finite number" in scores.coverage.bad_example
    assert any("3 bad rows skipped, for example: the score" in w for w in result.warnings())
    again = Evaluation.from_dict(result.to_dict())
    assert again.runs[0].coverage == scores.coverage


def test_lines_of_every_kind_of_damage(tmp_path):
    """Also where a line cannot even be left: a quote that is never closed ends that line only."""
    (tmp_path / "run.csv").write_text('query,doc,score\nq1,a,1\nq1,"b"x,2\nq1,b\n"q1,c,1\nq2,a,1\n')
    scores = evaluate(QRELS, tmp_path / "run.csv", "NumRet", skip_bad=True).runs[0]
    assert scores.column("NumRet") == [1.0, 1.0]
    assert scores.coverage.bad_rows == 3
    assert scores.coverage.bad_example.endswith("run.csv:3)")


def test_scattered_queries_are_read_again_without_their_bad_lines(tmp_path):
    lines = LINES.splitlines(keepends=True)
    (tmp_path / "run.txt").write_text("".join([*lines[::2], "nonsense\n", *lines[1::2]]))
    scores = evaluate(QRELS, tmp_path / "run.txt", "NumRet", skip_bad=True).runs[0]
    assert scores.column("NumRet") == [1.0, 1.0]
    assert scores.coverage.bad_rows == 4


def test_missing_ids(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(
        {"query": ["q1", None, "q1"], "doc": ["a", "a", None], "score": [1.0, 2.0, 3.0]}
    )
    scores = evaluate(Qrels(QRELS), table, "NumRet", skip_bad=True).runs[0]
    assert scores.column("NumRet") == [1.0, 0.0]
    assert (scores.coverage.bad_rows, scores.coverage.missing_queries) == (2, 1)


def test_repeats_that_a_policy_allows_are_not_bad():
    scores = evaluate(QRELS, ROWS[::2], "NumRet", skip_bad=True, duplicates="first").runs[0]
    assert scores.coverage.bad_rows == 1  # the score that is infinite, and not the document


def test_judgements_are_never_skipped():
    with pytest.raises(InputError, match="finite"):
        evaluate({"q1": {"a": math.nan}}, {"q1": {"a": 1.0}}, "RR", skip_bad=True)


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    (tmp_path / "run.txt").write_text(LINES)
    assert command(["evaluate", "qrels.txt", "run.txt", "-m", "NumRet"]) == 2
    assert command(["evaluate", "qrels.txt", "run.txt", "-m", "NumRet", "--skip-bad"]) == 0
    assert "3 bad rows skipped" in capsys.readouterr().err
