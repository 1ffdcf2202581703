"""Runs and judgments in object stores, read from a server that speaks S3."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lake_tables
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from s3_store import put, s3_server, upload

import goodgain as gg
from goodgain.cli import run as command
from goodgain.errors import InputError

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}}
ROWS = [
    ("q1", "a", 0.5),
    ("q1", "b", 0.9),
    ("q1", "c", 0.7),
    ("q2", "x", 3.0),
    ("q2", "a", 1.0),
    ("q3", "c", 1.0),
]
MEASURES = "nDCG@10 AP RR"
EXPECTED = gg.evaluate(QRELS, ROWS, MEASURES)
CSV = "query,doc,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in ROWS)


def parquet(rows, **more):
    columns = dict(zip(("query", "doc", "score"), map(list, zip(*rows, strict=True)), strict=True))
    out = pa.BufferOutputStream()
    pq.write_table(pa.table({**columns, **more}), out, row_group_size=2)
    return out.getvalue().to_pybytes()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="module")
def lake(store):
    system, _ = store
    put(
        system,
        "qrels.txt",
        "".join(f"{q} 0 {d} {g}\n" for q, of in QRELS.items() for d, g in of.items()),
    )
    put(system, "run.csv", CSV)
    put(system, "run.csv.gz", gzip.compress(CSV.encode()))
    put(system, "run.parquet", parquet(ROWS))
    put(system, "export/_SUCCESS", "")
    put(system, "export/part-00000-x.parquet", parquet(ROWS[:3]))
    put(system, "export/part-00001-x.parquet", parquet(ROWS[3:]))
    put(system, "text/part-00000.csv", CSV[: CSV.index("q2")])
    put(system, "text/part-00001.csv", "query,doc,score\n" + CSV[CSV.index("q2") :])
    put(system, "runs/bm25.csv", CSV)
    put(system, "runs/knn.parquet", parquet([(q, d, -s) for q, d, s in ROWS]))
    put(system, "hive/day=1/system=bm25/part-0.parquet", parquet(ROWS[:4]))
    put(system, "hive/day=2/system=bm25/part-0.parquet", parquet(ROWS[4:]))
    put(system, "hive/day=2/system=knn/part-0.parquet", parquet(ROWS))
    put(system, "odd names/run 1%?.csv", CSV)
    return system


def same(run):
    assert run.per_query == EXPECTED.runs[0].per_query
    assert run.coverage == EXPECTED.runs[0].coverage


@pytest.mark.parametrize(
    "key",
    ["run.csv", "run.csv.gz", "run.parquet", "export", "export/", "export/part-*.parquet", "text",
     "odd names/run 1%?.csv"],
)  # fmt: skip
def test_one_run(lake, key):
    result = gg.evaluate("s3://lake/qrels.txt", f"s3://lake/{key}", MEASURES)
    assert len(result.runs) == 1
    same(result.runs[0])
    facts = result.inputs()[1]
    assert facts["name"] == f"s3://lake/{key}" and facts["bytes"] >= 70 and "sha256" not in facts


@pytest.mark.parametrize("key", ["runs", "runs/*", "ru*s/*"])
def test_several_runs(lake, key):
    result = gg.evaluate(QRELS, f"s3://lake/{key}", MEASURES)
    assert result.names == ("bm25", "knn")
    same(result["bm25"])


def test_hive_partitions_by_system(lake):
    result = gg.evaluate(QRELS, "s3://lake/hive", MEASURES)
    assert result.names == ("bm25", "knn")
    same(result["bm25"])
    same(result["knn"])


def test_the_command(lake, capsys):
    assert (
        command(
            ["evaluate", "s3://lake/qrels.txt", "s3://lake/runs/", "-m", "AP", "--format", "csv"]
        )
        == 0
    )
    assert f"bm25,AP,{EXPECTED['AP']}" in capsys.readouterr().out
    assert command(["evaluate", "s3://lake/qrels.txt", "s3://lake/nothing.csv"]) == 2
    assert capsys.readouterr().err.startswith("goodgain: file not found: 's3://lake/nothing.csv'")


def test_documents_of_queries_without_judgments_are_not_fetched(lake, store):
    rows = [(f"q{q:04}", f"document-{q}-{d}", float(-d)) for q in range(400) for d in range(50)]
    out = pa.BufferOutputStream()
    columns = dict(zip(("query", "doc", "score"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(
        pa.table(columns), out, row_group_size=1000, compression="none", use_dictionary=["query"]
    )
    put(lake, "large.parquet", out.getvalue().to_pybytes())
    before = log_lines(store)
    result = gg.evaluate({"q0001": {"document-1-0": 1}}, "s3://lake/large.parquet", "RR")
    assert result["RR"] == 1 and result.runs[0].coverage.unjudged_queries == 399
    requests = [line for line in log_lines(store)[len(before) :] if "GET /lake/large" in line]
    assert 20 < len(requests) < 60  # the queries and scores of 20 groups, the documents of one


def log_lines(store):
    return store[1].read_text().splitlines()


def test_what_cannot_be_read(lake):
    for url, message in (
        ("s3://lake/missing/", "file not found"),
        ("s3://lake/none*.csv", "no file matches"),
        ("https://example.org/run.txt", "cannot open 'https://example.org/'"),
        ("warehouse://x/run.txt", "cannot open 'warehouse://x/'"),
    ):
        with pytest.raises(InputError, match=message) as error:
            gg.evaluate(QRELS, url)
        assert error.value.hint


def test_file_urls(tmp_path):
    (tmp_path / "run.csv").write_text(CSV)
    same(gg.evaluate(QRELS, f"file://{tmp_path}/run.csv", MEASURES).runs[0])


@pytest.mark.parametrize(
    "key", ["run.csv.gz", "run.parquet", "export", "text/", "export/part-*.parquet"]
)
def test_options_in_the_url(lake, monkeypatch, key):
    host = lake.split("/")[2]
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    options = f"?endpoint_override={host}&scheme=http&region=us-east-1"
    result = gg.evaluate(QRELS, f"s3://lake/{key}{options}", MEASURES)
    same(result.runs[0])
    assert result.names == (key.partition(".")[0].partition("/")[0],)


def test_several_runs_and_options(lake, monkeypatch):
    host = lake.split("/")[2]
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    options = f"?endpoint_override={host}&scheme=http"
    for key in ("runs", "runs/*"):
        assert gg.evaluate(QRELS, f"s3://lake/{key}{options}", MEASURES).names == ("bm25", "knn")


@pytest.mark.parametrize("options", ["", "?endpoint_override=HOST&scheme=http&region=us-east-1"])
def test_tables_with_a_log_of_their_own(lake, tmp_path, options, monkeypatch):
    """Only rows of the newest version count in a store too."""
    address = lake
    wanted = gg.evaluate(lake_tables.QRELS, lake_tables.rows(3), MEASURES).means["run"]
    if options:
        options = options.replace("HOST", address.split("/")[2])
        monkeypatch.delenv("AWS_ENDPOINT_URL")
    place = f"tables{len(options)}"
    upload(address, lake_tables.delta_versions(tmp_path / "delta"), f"{place}/delta")
    upload(address, lake_tables.iceberg_versions(tmp_path), f"{place}/iceberg")
    for form in ("delta", "iceberg"):
        result = gg.evaluate(lake_tables.QRELS, f"s3://lake/{place}/{form}{options}", MEASURES)
        assert list(result.means.values()) == [wanted]
        facts = result.inputs()[1]
        assert (facts["format"], facts["files"]) == (form, 1) and int(facts["version"]) >= 2
    with pytest.raises(InputError, match="is a Delta table, whose files may hold deleted rows"):
        gg.evaluate(lake_tables.QRELS, f"s3://lake/{place}/delta/*.parquet{options}")
    with pytest.raises(InputError, match="contains a table with its own log"):
        gg.Run(f"s3://lake/{place}{options}")
