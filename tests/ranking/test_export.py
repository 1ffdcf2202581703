"""Values per query as files: the same bytes as by Python's own writers, without an object per value."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import struct

import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain import _core
from goodgain.cli import run as command
from goodgain.errors import InputError, UsageError
from goodgain.ranking.export import file_bytes
from goodgain.results.text import render_data

ODD = ["q1", "with,comma", 'with"quote', "line\nbreak", "tab\there", "=1+1", "-5", "-x", "@sum", "ü→😀",
       "\x01\x1f", "\udcff", "+", " q ", "0"]  # fmt: skip


def evaluation(**policy):
    rng = random.Random(4)
    qrels = {q: {f"d{i}": rng.randrange(3) for i in range(8)} for q in ODD}
    one = {q: {f"d{i}": float(rng.randrange(4)) for i in range(12)} for q in ODD[:-2]}
    other = {q: {f"d{i}": rng.random() for i in range(5)} for q in ODD[1:]}
    runs = {"=bm25, tuned": one, 'knn "large"': other}
    return gg.evaluate(qrels, runs, "nDCG@10 AP Accuracy NumRet", **policy)


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("policy", [{}, {"missing": "skip"}, {"ties": "bounds"}], ids=str)
def test_lines_are_those_of_python(form, policy):
    result = evaluation(**policy)
    expected = render_data(form, *result.rows(per_query=True))
    lines = b"".join(file_bytes(result, form))
    assert lines.decode("utf-8", "surrogateescape") == expected
    saved = gg.Evaluation.from_dict(json.loads(json.dumps(result.to_dict())))
    assert b"".join(file_bytes(saved, form)) == lines


def test_an_id_with_a_carriage_return_is_one_cell():
    """Python's own writer quotes it from 3.13 on only."""
    result = gg.evaluate({"a\rb": {"d": 1}}, {"a\rb": {"d": 1.0}}, "AP")
    text = b"".join(file_bytes(result, "csv")).decode()
    assert list(csv.reader(io.StringIO(text, newline="")))[1] == ["run", "a\rb", "AP", "1.0"]


def test_numbers_are_written_as_python_does():
    rng = random.Random(6)
    values = [struct.unpack("d", rng.randbytes(8))[0] for _ in range(3000)]
    values += [rng.random() * 10 ** rng.randrange(-20, 20) for _ in range(3000)]
    values += [0.0, -0.0, 1.0, 1e15, 1e16, 123456789012345680.0, 1e-4, 1e-5, 5e-324, 1.7976931348623157e308,
               math.nan, math.inf, -math.inf, 0.1, 1 / 3, 2.5e-5, 100.0, 9999999999999998.0]  # fmt: skip
    queries = {f"q{i}": {"d": 1} for i in range(len(values))}
    numbers = dict(zip(queries, values, strict=True))
    left = iter(values)
    result = gg.evaluate(
        queries,
        {q: {"d": 1.0} for q in queries},
        gg.register("AnyNumber", lambda gains: next(left)),
        threads=1,
    )
    (label,) = result.runs[0].keys()
    assert len(set(result.runs[0].queries)) == len(values)
    rows = list(csv.reader(io.StringIO(b"".join(file_bytes(result, "csv")).decode())))[1:]
    for (_, query, measure, text), value in zip(rows, result.runs[0].column(label), strict=True):
        assert measure == label and (value != value or query in numbers)
        assert text == ("" if value != value else repr(value))
    for line in b"".join(file_bytes(result, "jsonl")).decode().splitlines():
        row = json.loads(line)
        assert row["value"] is None or repr(row["value"]) in line


def test_totals_are_exact_sums():
    rng = random.Random(8)
    for size in (1, 2, 3, 10, 500):
        values = [rng.uniform(-1, 1) * 10 ** rng.randrange(-12, 12) for _ in range(size)]
        queries = {f"q{i}": {"d": 1} for i in range(size)}
        left = iter(values)
        measure = gg.register("AnyValue", lambda gains, left=left: next(left))
        result = gg.evaluate(queries, {q: {"d": 1.0} for q in queries}, measure, threads=1)
        column = result.runs[0].column(measure)
        assert sorted(column) == sorted(values)
        assert result[measure] == math.fsum(column) / size


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("policy", [{}, {"missing": "skip"}, {"ties": "bounds"}], ids=str)
def test_arrow_files(tmp_path, suffix, policy):
    result = evaluation(**policy)
    with pytest.raises(InputError, match="not valid UTF-8"):
        result.write(tmp_path / f"odd{suffix}")
    assert not (tmp_path / f"odd{suffix}").exists()
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"b": 1}, "q3": {"c": 1}}
    runs = {"x": {"q1": {"a": 1.0, "b": 1.0}}, "y": {"q1": {"b": 1.0}, "q2": {"b": 2.0}}}
    result = gg.evaluate(qrels, runs, "AP Accuracy", **policy)
    result.write(tmp_path / f"scores{suffix}")
    read = (pq.read_table if suffix == ".parquet" else feather.read_table)(
        tmp_path / f"scores{suffix}"
    )
    columns, rows = result.rows(per_query=True)
    assert read.column_names == columns
    plain = [[None if v != v else v for v in row] for row in rows]
    assert [list(row.values()) for row in read.to_pylist()] == plain
    assert [f.type for f in result.to_arrow().schema] == [f.type for f in read.schema]
    result.write(tmp_path / f"means{suffix}", per_query=False)
    means = (pq.read_table if suffix == ".parquet" else feather.read_table)(
        tmp_path / f"means{suffix}"
    )
    assert [list(row.values())[2] for row in means.to_pylist()] == [
        None if row[2] != row[2] else row[2] for row in result.rows()[1]
    ]


def test_files_by_their_suffix(tmp_path):
    result = evaluation()
    for name in ("s.csv", "s.tsv", "s.jsonl", "s.csv.gz"):
        result.write(tmp_path / name)
    assert (tmp_path / "s.csv").read_bytes() == b"".join(file_bytes(result, "csv"))
    assert len((tmp_path / "s.csv.gz").read_bytes()) < len((tmp_path / "s.csv").read_bytes())
    with pytest.raises(UsageError, match="cannot write"):
        result.write(tmp_path / "s.xlsx")


def test_the_command_writes_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "r.txt").write_text("q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n")
    asked = ["evaluate", "q.txt", "r.txt", "-m", "AP RR", "--per-query", "-q"]
    assert command([*asked, "-o", "s.parquet"]) == 0
    assert pq.read_table("s.parquet").column("value").to_pylist() == [1.0, 0.0, 1.0, 0.0]
    assert command([*asked, "--format", "csv"]) == 0
    out = capsys.readouterr().out
    assert out == "run,query,measure,value\nr,q1,AP,1.0\nr,q2,AP,0.0\nr,q1,RR,1.0\nr,q2,RR,0.0\n"
    assert command([*asked, "--format", "jsonl", "-o", "s.jsonl"]) == 0
    assert (tmp_path / "s.jsonl").read_text().splitlines()[1] == (
        '{"run": "r", "query": "q2", "measure": "AP", "value": 0.0}'
    )


def test_no_list_of_values_is_made(monkeypatch):
    """Neither totals nor rows per query go through lists of Python objects."""
    result = evaluation()

    def refused(self, label, bound):
        raise AssertionError("a list")

    monkeypatch.setattr(type(result.runs[0]._values), "column", refused)
    monkeypatch.setattr(type(result.runs[0]._values), "queries", refused)
    assert b"".join(file_bytes(result, "csv"))
    assert result.means["=bm25, tuned"]["nDCG@10"] > 0
    assert result.runs[0].count("nDCG@10") == len(ODD)
    assert _core.score_total is not None
