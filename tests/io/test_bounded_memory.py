"""`memory=` holds for Arrow data of every kind: the same numbers to the last bit, and a bounded peak."""

from __future__ import annotations

import random
import subprocess
import sys

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.errors import InputError
from goodgain.io import arrow_pieces

MEASURES = "nDCG@10 AP RR R@100 NumRet"
QUERIES, DEPTH = 300, 60


def collection():
    rng = random.Random(7)
    qrels = {
        f"q{q}": {f"doc-{rng.randrange(200)}": rng.randrange(4) for _ in range(20)}
        for q in range(0, QUERIES, 2)
    }
    rows = [
        (f"q{q}", f"doc-{d}", round(rng.random(), 2))
        for q in range(QUERIES)
        for d in rng.sample(range(200), DEPTH)
    ]
    return qrels, rows


def as_table(rows):
    return pa.table(dict(zip(("query", "doc", "score"), zip(*rows, strict=True), strict=True)))


QRELS, SORTED = collection()
ORDERS = {
    "sorted": SORTED,
    "shuffled": random.Random(8).sample(SORTED, len(SORTED)),
    "by rank": [SORTED[q * DEPTH + d] for d in range(DEPTH) for q in range(QUERIES)],
    "a query in two places": [*SORTED[100:], *SORTED[:100]],
}


def in_memory(table, folder):
    return table


def chunks(table, folder):
    return pa.Table.from_batches(table.to_batches(max_chunksize=777))


def dictionaries(table, folder):
    return table.set_column(0, "query", table["query"].dictionary_encode())


def integers(table, folder):
    docs = [int(doc[4:]) for doc in table["doc"].to_pylist()]
    return table.set_column(1, "doc", pa.array(docs, pa.int32()))


def reader(table, folder):
    return chunks(table, folder).to_reader()


def parquet_file(table, folder):
    pq.write_table(table, folder / "run.parquet", row_group_size=1000)
    return folder / "run.parquet"


def one_row_group(table, folder):
    pq.write_table(table, folder / "one.parquet")
    return folder / "one.parquet"


def _parts(table, folder):
    (folder / "parts").mkdir()
    for i in range(3):
        part = table.slice(i * 7000, 7000)
        pq.write_table(part, folder / "parts" / f"{i}.parquet", row_group_size=900)
    return folder / "parts"


def parquet_folder(table, folder):
    return {"run": _parts(table, folder)}


def arrow_file(table, folder):
    feather.write_feather(table, folder / "run.feather", compression="lz4", chunksize=1500)
    return folder / "run.feather"


def arrow_stream(table, folder):
    with pa.ipc.new_stream(folder / "run.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=1500)
    return folder / "run.arrow"


def dataset(table, folder):
    return ds.dataset(_parts(table, folder))


def partitions(table, folder):
    queries = pa.array([int(query[1:]) % 3 for query in table["query"].to_pylist()])
    for part in range(3):
        (folder / f"part={part}").mkdir()
        own = table.filter(pa.compute.equal(queries, part))
        pq.write_table(own, folder / f"part={part}" / "a.parquet", row_group_size=900)
    return ds.dataset(folder, partitioning="hive")


def filtered(table, folder):
    more = pa.concat_tables([table, as_table([("q0", "another", 99.0)])])
    pq.write_table(more, folder / "more.parquet", row_group_size=900)
    return ds.dataset(folder / "more.parquet").filter(ds.field("doc") != "another")


def scanner(table, folder):
    return dataset(table, folder).scanner(batch_size=500)


def duckdb_relation(table, folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(table)


def polars_frame(table, folder):
    return pytest.importorskip("polars").from_arrow(table)


FORMS = (
    in_memory, chunks, dictionaries, reader, parquet_file, one_row_group, parquet_folder,
    arrow_file, arrow_stream, dataset, filtered, scanner, duckdb_relation, polars_frame,
)  # fmt: skip


def values(result):
    run = result.runs[0]
    return {
        query: [value.hex() for value in scores.values()] for query, scores in run.per_query.items()
    }, run.coverage


@pytest.fixture(scope="module")
def expected():
    run = {}
    for query, doc, score in SORTED:
        run.setdefault(query, {})[doc] = score
    return values(gg.evaluate(QRELS, run, MEASURES, threads=1))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_the_same_bits_for_any_memory(form, order, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_pieces, "_HELD", 10_000)
    table = as_table(ORDERS[order])
    for number, options in enumerate(({}, {"memory": 1}, {"memory": "100KB", "threads": 2})):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert values(gg.evaluate(QRELS, form(table, folder), MEASURES, **options)) == expected


@pytest.mark.parametrize("memory", [1, None])
def test_partitions_of_a_dataset(memory, expected, tmp_path):
    source = partitions(as_table(SORTED), tmp_path)
    assert values(gg.evaluate(QRELS, source, MEASURES, memory=memory)) == expected
    as_run = {"query": "query", "doc": "doc", "score": "score", "run": "part"}
    result = gg.evaluate(QRELS, source, MEASURES, memory=memory, columns=as_run)
    assert [run.name for run in result.runs] == ["0", "1", "2"]
    assert sum(run.coverage.documents for run in result.runs) == len(SORTED) // 2  # judged


def test_integer_ids(tmp_path):
    qrels = {q: {int(d[4:]): gain for d, gain in docs.items()} for q, docs in QRELS.items()}
    table = as_table(ORDERS["shuffled"])
    results = [
        values(gg.evaluate(qrels, integers(table, tmp_path), MEASURES, memory=m)) for m in (None, 1)
    ]
    assert results[0] == results[1]
    with pytest.raises(InputError, match="document ids are text in the judgments"):
        gg.evaluate(QRELS, integers(table, tmp_path), MEASURES)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_duplicate_has_its_row(form, tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_pieces, "_HELD", 10_000)
    rows = list(ORDERS["shuffled"])
    first = next(i for i, row in enumerate(rows) if row[0] == "q4")
    rows.insert(15_000, rows[first])
    with pytest.raises(InputError, match=r"duplicate document 'doc-.*' for query 'q4'") as error:
        gg.evaluate(QRELS, form(as_table(rows), tmp_path), MEASURES, memory=1)
    assert error.value.where.endswith(", row 15001")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_bad_row_has_its_place(form, tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_pieces, "_HELD", 10_000)
    rows = list(SORTED)
    for place in (17_000, 12_345):  # of an unjudged query, and of a judged one
        rows[place] = (*rows[place][:2], float("nan"))
    source = form(as_table(rows), tmp_path)
    if form not in (reader, scanner):
        with pytest.raises(InputError, match="not a finite number") as error:
            gg.evaluate(QRELS, source, MEASURES, memory=1)
        assert error.value.where.endswith("row 12346")
    result = gg.evaluate(QRELS, source, MEASURES, memory=1, skip_bad=True)
    assert result.runs[0].coverage.bad_rows == 2
    assert "row 12346" in str(result.warnings())


def test_a_stream_can_be_evaluated_twice(monkeypatch, expected, tmp_path):
    monkeypatch.setattr(arrow_pieces, "_HELD", 10_000)
    run = gg.Run(reader(as_table(ORDERS["shuffled"]), tmp_path))
    for _ in range(2):
        assert values(gg.evaluate(QRELS, run, MEASURES)) == expected
    assert len(run.rows()[0]) == len(SORTED)


def test_a_stream_of_several_runs(monkeypatch, expected, tmp_path):
    monkeypatch.setattr(arrow_pieces, "_HELD", 10_000)
    table = as_table(SORTED)
    named = [table.append_column("run", pa.array([n] * len(table))) for n in ("bm25", "dense")]
    both = pa.concat_tables(named)
    for source in (both, both.to_reader(max_chunksize=999), parquet_file(both, tmp_path)):
        result = gg.evaluate(QRELS, source, MEASURES, memory=1)
        assert [run.name for run in result.runs] == ["bm25", "dense"]
        assert [values(result)[0], result.runs[1].coverage] == list(expected)


# --- peaks, in processes of their own ---

PEAK = """
import sys
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.dataset as ds
import goodgain as gg

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

path, form = sys.argv[1:3]
source = {
    "parquet": lambda: path,
    "dataset": lambda: ds.dataset(path),
    "reader": lambda: pa.RecordBatchReader.from_batches(
        pq.read_schema(path), pq.ParquetFile(path).iter_batches(10_000, use_threads=False)
    ),
}[form]
qrels = {f"q{q}": {f"doc-{q * 31 % 977}": 1} for q in range(3000)}
gg.evaluate(qrels, pa.table({"query": ["q1"], "doc": ["d"], "score": [1.0]}), "AP")
few = pa.RecordBatchReader.from_batches(pq.read_schema(path), [next(pq.ParquetFile(path).iter_batches(100))])
gg.evaluate(qrels, few, "AP")
before = peak()
value = gg.evaluate(qrels, source(), "AP", memory="16MB")["AP"]
print(peak() - before, value.hex())
"""


@pytest.fixture(scope="module")
def large_run(tmp_path_factory):
    """Three million rows in any order: some 130 MB as Arrow data."""
    import numpy as np

    rng = np.random.default_rng(5)
    n = 3_000_000
    place = rng.permutation(n)
    ids = [pa.array([f"{kind}{i}" for i in range(3000)]) for kind in ("q", "doc-")]
    table = pa.table(
        {
            "query": ids[0].take(pa.array(place % 3000)),
            "doc": ids[1].take(pa.array(place // 3000)),
            "score": rng.random(n),
        }
    )
    folder = tmp_path_factory.mktemp("large")
    pq.write_table(table, folder / "run.parquet")
    pq.write_table(table, folder / "groups.parquet", row_group_size=100_000)
    qrels = {f"q{q}": {f"doc-{q * 31 % 977}": 1} for q in range(3000)}
    return folder, gg.evaluate(qrels, table, "AP")["AP"].hex()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "form, file", [("parquet", "run"), ("reader", "run"), ("dataset", "groups")]
)
def test_the_peak_is_bounded(form, file, large_run):
    """pyarrow decodes whole row groups of a dataset; of files we read parts of them."""
    folder, value = large_run
    path = folder / f"{file}.parquet"
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path), form], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    megabytes, printed = done.stdout.split()
    assert printed == value
    assert float(megabytes) < 64
