"""Folders, globs and part files: what is one table, what are several runs, and what has to be said."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.cli import run as command
from goodgain.errors import InputError

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}, "q3": {"c": 1}}
ROWS = [
    ("q1", "a", 0.5), ("q1", "b", 0.9), ("q1", "c", 0.7), ("q2", "x", 3.0), ("q2", "a", 1.0),
    ("q3", "c", 4.0), ("q4", "c", 4.0),
]  # fmt: skip
OTHER = [(query, doc, -score) for query, doc, score in ROWS]
MEASURES = "nDCG@10 AP RR"
EXPECTED = gg.evaluate(QRELS, ROWS, MEASURES)
EXPECTED_OTHER = gg.evaluate(QRELS, OTHER, MEASURES)


def arrow(rows, **more):
    columns = dict(zip(("query", "doc", "score"), map(list, zip(*rows, strict=True)), strict=True))
    return pa.table({**columns, **more})


def write(path, rows, **more):
    """A file in the format of its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        pq.write_table(arrow(rows, **more), path)
        return
    if name.endswith(".csv"):
        text = "query,doc,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in rows)
    elif name.endswith((".json", ".jsonl")):
        text = "".join(f'{{"query": "{q}", "doc": "{d}", "score": {s}}}\n' for q, d, s in rows)
    else:
        text = "".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in rows)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)


def same(result, expected=EXPECTED):
    one = result.runs[0] if hasattr(result, "runs") else result
    assert one.per_query == expected.runs[0].per_query
    assert one.coverage == expected.runs[0].coverage


EXPORTS = {
    "spark": ("part-00000-0a1b-c000.snappy.parquet", "part-00001-0a1b-c000.snappy.parquet"),
    "spark csv": ("part-00000-0a1b-c000.csv", "part-00001-0a1b-c000.csv"),
    "spark csv, compressed": ("part-00000.csv.gz", "part-00001.csv.gz"),
    "spark json": ("part-00000-0a1b-c000.json", "part-00001-0a1b-c000.json"),
    "bigquery": ("export-000000000000.parquet", "export-000000000001.parquet"),
    "bigquery json": ("run000000000000.json", "run000000000001.json"),
    "snowflake": ("data_0_0_0.snappy.parquet", "data_0_1_0.snappy.parquet"),
    "duckdb": ("data_0.parquet", "data_1.parquet"),
    "dask": ("part.0.parquet", "part.1.parquet"),
    "trec": ("part-00000", "part-00001"),
}


@pytest.mark.parametrize("names", EXPORTS.values(), ids=EXPORTS)
def test_an_export_is_one_table(tmp_path, names):
    for name, rows in zip(names, (ROWS[:2], ROWS[2:]), strict=True):
        write(tmp_path / "bm25" / name, rows)
    for path in (tmp_path / "bm25", f"{tmp_path}/bm25/", f"{tmp_path}/bm25/*"):
        result = gg.evaluate(QRELS, path, MEASURES)
        same(result)
        assert result.names == ("bm25",)
    same(gg.evaluate(QRELS, gg.Run(tmp_path / "bm25"), MEASURES))


def test_a_marker_makes_a_table_of_any_names(tmp_path):
    write(tmp_path / "out" / "alpha.parquet", ROWS[:3])
    write(tmp_path / "out" / "beta.parquet", ROWS[3:])
    (tmp_path / "out" / "_SUCCESS").touch()
    (tmp_path / "out" / ".part.crc").write_bytes(b"x")
    same(gg.evaluate(QRELS, tmp_path / "out", MEASURES))


def test_a_folder_named_as_a_table(tmp_path):
    write(tmp_path / "run.parquet" / "one.parquet", ROWS[:3])
    write(tmp_path / "run.parquet" / "two.parquet", ROWS[3:])
    result = gg.evaluate(QRELS, tmp_path / "run.parquet", MEASURES)
    same(result)
    assert result.names == ("run",)


def test_a_folder_of_runs(tmp_path):
    write(tmp_path / "runs" / "bm25.txt", ROWS)
    write(tmp_path / "runs" / "knn.parquet", OTHER)
    for name, rows in (("part-0.csv", OTHER[:2]), ("part-1.csv", OTHER[2:])):
        write(tmp_path / "runs" / "dense" / name, rows)
    result = gg.evaluate(QRELS, tmp_path / "runs", MEASURES)
    assert result.names == ("bm25", "dense", "knn")
    same(result["bm25"])
    same(result["dense"], EXPECTED_OTHER)
    same(result["knn"], EXPECTED_OTHER)
    with pytest.raises(InputError, match="4 files that are not parts of one table"):
        gg.Run(tmp_path / "runs")


def test_numbered_files_could_be_either(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "runs" / "run1.txt", ROWS[:3])
    write(tmp_path / "runs" / "run2.txt", ROWS[3:])
    (tmp_path / "q.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, of in QRELS.items() for d, g in of.items())
    )
    with pytest.raises(InputError, match="could be one run in 2 files or as many runs") as error:
        gg.evaluate(QRELS, "runs")
    assert "runs/*" in error.value.hint and "NAME=runs" in error.value.hint
    assert gg.evaluate(QRELS, "runs/*").names == ("run1", "run2")
    same(gg.evaluate(QRELS, {"bm25": "runs"}, MEASURES))
    assert command(["evaluate", "q.txt", "bm25=runs", "-m", MEASURES, "--format", "csv"]) == 0
    assert command(["evaluate", "q.txt", "runs/*", "-m", MEASURES, "--format", "csv"]) == 0
    out = capsys.readouterr().out
    assert f"bm25,nDCG@10,{EXPECTED['nDCG@10']}" in out and "run2,RR" in out
    assert command(["evaluate", "q.txt", "runs"]) == 2
    assert "hint: several runs: 'runs/*'" in capsys.readouterr().err


def test_globs(tmp_path):
    write(tmp_path / "runs" / "bm25.txt", ROWS)
    write(tmp_path / "runs" / "knn.txt", OTHER)
    write(tmp_path / "runs" / "notes.parquet", OTHER)
    result = gg.evaluate(QRELS, f"{tmp_path}/runs/*.txt", MEASURES)
    assert result.names == ("bm25", "knn")
    same(result["knn"], EXPECTED_OTHER)
    with pytest.raises(InputError, match="no file matches"):
        gg.evaluate(QRELS, f"{tmp_path}/runs/*.csv")
    odd = tmp_path / "run[1].txt"
    write(odd, ROWS)
    same(gg.evaluate(QRELS, odd, MEASURES))


def test_judgments_in_parts(tmp_path):
    for number, query in enumerate(QRELS):
        path = tmp_path / "qrels" / f"fold{number}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "query,doc,gain\n" + "".join(f"{query},{d},{g}\n" for d, g in QRELS[query].items())
        )
    for source in (tmp_path / "qrels", f"{tmp_path}/qrels/*.csv"):
        same(gg.evaluate(source, ROWS, MEASURES))
    (tmp_path / "qrels" / "readme.csv").write_text("query,doc,gain\n")
    with pytest.raises(InputError, match="not parts of one table"):
        gg.Qrels(tmp_path / "qrels")


def test_hive_partitions(tmp_path):
    table = arrow(ROWS, day=["2026-01-01"] * 3 + ["2026-01-02"] * 4)
    ds.write_dataset(
        table, tmp_path / "lake", format="parquet", partitioning=["day"], partitioning_flavor="hive"
    )
    same(gg.evaluate(QRELS, tmp_path / "lake", MEASURES))
    by_query = tmp_path / "by query"
    ds.write_dataset(
        arrow(ROWS), by_query, format="parquet", partitioning=["query"], partitioning_flavor="hive"
    )
    same(gg.evaluate(QRELS, by_query, MEASURES))


def test_leading_zeros_of_a_partition_are_kept(tmp_path):
    for query in ("007", "8"):
        write(tmp_path / "run" / f"qid={query}" / "part-0.parquet", [("x", "a", 1.0)])
    files = [*tmp_path.rglob("*.parquet")]
    for file in files:
        pq.write_table(pa.table({"doc": ["a"], "score": [1.0]}), file)
    result = gg.evaluate(
        {"007": {"a": 1}, "8": {"a": 1}, "7": {"b": 1}}, tmp_path / "run", "RR", missing="skip"
    )
    assert result.runs[0].per_query == {"007": {"RR": 1.0}, "8": {"RR": 1.0}}
    (tmp_path / "run" / "qid=007" / "part-0.parquet").rename(tmp_path / "moved.parquet")
    (tmp_path / "run" / "qid=007").rmdir()
    integers = pa.table({"query": [8], "doc": ["a"], "gain": [1]})
    assert gg.evaluate(integers, tmp_path / "run", "RR")["RR"] == 1


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_partitions_by_run(tmp_path, suffix):
    for name, rows in (("bm25", ROWS), ("knn", OTHER)):
        write(tmp_path / "lake" / f"run={name}" / f"part-0.{suffix}", rows[:3])
        write(tmp_path / "lake" / f"run={name}" / f"part-1.{suffix}", rows[3:])
    result = gg.evaluate(QRELS, tmp_path / "lake", MEASURES)
    assert result.names == ("bm25", "knn")
    same(result["bm25"])
    same(result["knn"], EXPECTED_OTHER)


def test_partitions_that_text_cannot_hold(tmp_path):
    write(tmp_path / "lake" / "query=q1" / "part-0.csv", ROWS[:3])
    with pytest.raises(InputError, match=r"folders 'query=...'"):
        gg.evaluate(QRELS, tmp_path / "lake")


def test_types_that_differ_between_parts(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    pq.write_table(arrow(ROWS[:3]), folder / "part-0.parquet")
    later = pa.table({
        "query": ["q2", "q2", "q3", "q4"], "doc": ["x", "a", "c", "c"],
        "score": pa.array([3, 1, 4, 4], pa.int32()), "when": pa.array([0, 1, 2, 3], pa.timestamp("us")),
    })  # fmt: skip
    pq.write_table(later, folder / "part-1.parquet")
    same(gg.evaluate(QRELS, folder, MEASURES))
    pq.write_table(
        pa.table({"query": [1], "doc": ["x"], "score": [1.0]}), folder / "part-2.parquet"
    )
    with pytest.raises(InputError, match="have different columns"):
        gg.evaluate(QRELS, folder)


def test_places_of_bad_lines(tmp_path):
    write(tmp_path / "run" / "part-0.csv", ROWS[:3])
    write(tmp_path / "run" / "part-1.csv", ROWS[3:])
    with (tmp_path / "run" / "part-1.csv").open("a") as file:
        file.write("q5,a,high\n")
    with pytest.raises(InputError, match="'high' is not a number") as error:
        gg.evaluate(QRELS, tmp_path / "run")
    assert error.value.where == f"{tmp_path}/run/part-1.csv:6"
    write(tmp_path / "run" / "part-1.csv", ROWS[3:])
    (tmp_path / "run" / "part-2.csv").write_text("doc,query,score\na,q1,3\n")
    with pytest.raises(InputError, match="is not that of the first file"):
        gg.evaluate(QRELS, tmp_path / "run")


@pytest.mark.parametrize(
    ("table", "files", "log"),
    [
        ("delta", "*.parquet", "_delta_log/0.json"),
        ("hudi", "*.parquet", ".hoodie/hoodie.properties"),
        ("days", "day=1/*.parquet", "_delta_log/0.json"),
        ("days", "day=*/*.parquet", "_delta_log/0.json"),
        ("iceberg", "data/*.parquet", "metadata/v1.metadata.json"),
        ("iceberg", "data/day=1/*.parquet", "metadata/v1.metadata.json"),
    ],
)
def test_a_glob_is_no_way_around_the_log_of_a_table(tmp_path, table, files, log):
    folder = tmp_path / table
    for i in range(2):
        write(folder / files.replace("=*", "=1").replace("*", f"part-{i}"), ROWS)
    assert gg.evaluate(QRELS, str(folder / files.replace("=*", "=1").replace("*", "part-0")))
    (folder / log).parent.mkdir(exist_ok=True)
    (folder / log).write_text("{}")
    with pytest.raises(InputError, match="table, whose files may hold deleted rows"):
        gg.evaluate(QRELS, str(folder / files))


def test_refusals(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty' is a directory without files"):
        gg.evaluate(QRELS, tmp_path / "empty")
    write(tmp_path / "delta" / "part-0.parquet", ROWS)
    (tmp_path / "delta" / "_delta_log").mkdir()
    with pytest.raises(InputError, match="the delta table cannot be opened"):
        gg.evaluate(QRELS, tmp_path / "delta")
    write(tmp_path / "iceberg" / "data" / "part-0.parquet", ROWS)
    (tmp_path / "iceberg" / "metadata").mkdir()
    (tmp_path / "iceberg" / "metadata" / "v1.metadata.json").write_text("{}")
    with pytest.raises(InputError, match="the iceberg table cannot be opened"):
        gg.evaluate(QRELS, tmp_path / "iceberg")
    write(tmp_path / "hudi" / "part-0.parquet", ROWS)
    (tmp_path / "hudi" / ".hoodie").mkdir()
    with pytest.raises(InputError, match="is a Hudi table, whose files may hold deleted rows"):
        gg.evaluate(QRELS, tmp_path / "hudi")
    write(tmp_path / "half" / "part-0.parquet", ROWS)
    (tmp_path / "half" / "_temporary").mkdir()
    with pytest.raises(InputError, match="has not finished"):
        gg.evaluate(QRELS, tmp_path / "half")
    write(tmp_path / "mixed" / "part-0.parquet", ROWS)
    write(tmp_path / "mixed" / "part-1.csv", ROWS)
    with pytest.raises(InputError, match="could be one run in 2 files"):
        gg.evaluate(QRELS, tmp_path / "mixed")


def test_provenance_of_a_folder(tmp_path):
    write(tmp_path / "run" / "part-0.parquet", ROWS[:3])
    write(tmp_path / "run" / "part-1.parquet", ROWS[3:])
    result = gg.evaluate(QRELS, tmp_path / "run", MEASURES)
    facts = result.inputs()[1]
    assert facts["kind"] == "file" and len(facts["sha256"]) == 64
    assert facts["bytes"] == sum(f.stat().st_size for f in (tmp_path / "run").iterdir())
    write(tmp_path / "run" / "part-1.parquet", ROWS[4:])
    with pytest.raises(InputError, match="has changed since"):
        result.runs[0].tables()


def test_compare_and_gate_take_every_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    judged = [f"{q} 0 {d} {g}\n" for q, of in QRELS.items() for d, g in of.items()]
    (tmp_path / "q.txt").write_text("".join(judged))
    write(tmp_path / "runs" / "bm25.txt", ROWS)
    write(tmp_path / "runs" / "knn.parquet", OTHER)
    write(tmp_path / "runs" / "zero.csv", OTHER)
    asked = ["-m", "AP", "--format", "json", "-q"]
    assert command(["compare", "q.txt", "runs/", *asked]) == 0
    out = capsys.readouterr().out
    assert all(f'"{name}"' in out for name in ("bm25", "knn", "zero"))
    assert command(["gate", "q.txt", "runs/", "runs/bm25.txt", "-m", "AP"]) == 2
    assert "expected a baseline and a candidate, got 4 runs" in capsys.readouterr().err


def test_convert_folders(tmp_path, capsys):
    for number, rows in enumerate((ROWS[:3], ROWS[3:])):
        write(tmp_path / "run" / f"part-{number}.parquet", rows)
        write(tmp_path / "text" / f"part-{number}.csv", rows)
    for name in ("run", "text"):
        target = tmp_path / f"{name}.txt"
        assert command(["convert", str(tmp_path / name), str(target)]) == 0
        same(gg.evaluate(QRELS, target, MEASURES))
    both = pa.concat_tables(
        [arrow(ROWS, run=["a"] * len(ROWS)), arrow(OTHER, run=["b"] * len(OTHER))]
    )
    pq.write_table(both, tmp_path / "both.parquet")
    assert command(["convert", str(tmp_path / "both.parquet"), str(tmp_path / "x.txt")]) == 2
    assert "the table holds 2 runs" in capsys.readouterr().err
