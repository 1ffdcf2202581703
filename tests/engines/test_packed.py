"""Packing and measuring like the executors, without Spark: any batches, several windows, damage."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hard_rows import collection

import goodgain as gg
from goodgain.ranking.evaluator import recipe

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
worker = pytest.importorskip("goodgain.engines.spark.worker")
shipped_qrels = pytest.importorskip("goodgain.engines.spark.broadcasts")
ShippedQrels, stream_of = shipped_qrels.ShippedQrels, shipped_qrels.stream_of

RUN = {"query": "query", "doc": "doc", "value": "score"}
QRELS = {"query": "query", "doc": "doc", "value": "gain", "target": "target", "aspect": "aspect"}


def table(rows, names):
    columns = list(zip(*rows, strict=True))
    return pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})


def pieces(rows, names, roles, size):
    batches = table(rows, names).to_batches(max_chunksize=size)
    return pa.Table.from_batches(worker.packed(iter(batches), task(roles)))


def task(roles, here=None):
    return worker.PackTask(
        columns=roles, is_run=roles is RUN, name="rows", number=0, files=None, lines=None, here=here
    )


def job(measures, judged, **facts):
    _, planned = recipe(measures, None, "default", False)
    gains = [row[2] for row in judged]
    return worker.Job(
        request=planned.request, name="run", width=len(planned.measures), skips_missing=False,
        logarithms=frozenset(), qrels=None, facts=(max(gains), True, True), call="",
    )  # fmt: skip


def measured(both, what, size):
    ordered = both.sort_by([("query", "ascending"), ("kind", "ascending"), ("place", "ascending")])
    table = pa.Table.from_batches(
        worker.measured(iter(ordered.to_batches(max_chunksize=size)), {0: what})
    )
    rows = table.filter(pa.compute.is_valid(table["query"])).sort_by("place")
    reports = table["report"].drop_null().to_pylist()
    return rows, [worker.Report.from_json(text) for text in reports]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_any_size_of_batches(size):
    judged, ranked = collection(40)
    both = pa.concat_tables([
        pieces(judged, ("query", "doc", "gain", "target", "aspect"), QRELS, size),
        pieces(ranked, ("query", "doc", "score"), RUN, size),
    ])  # fmt: skip
    measures = ["nDCG@10", "AP", "DR", "alpha_nDCG", "ERR_IA"]
    rows, reports = measured(both, job(measures, judged), size)
    local = gg.evaluate(gg.Qrels(judged), ranked, measures).runs[0]
    assert rows["query"].to_pylist() == local.queries
    for i, measure in enumerate(measures):
        assert repr(rows[f"v{i}"].to_pylist()) == repr(local.column(measure))
        total = reports[0].sums[i]
        assert total.value / total.count == local[measure]


@pytest.mark.slow
def test_a_query_in_several_windows():
    """More than 16 MB of rows are sent before the partition ends, so a query has several pieces."""
    rng = random.Random(1)
    ids = [f"document-with-a-long-name-{i:09}" for i in range(500_000)]
    ranked = [(f"q{i % 3}", doc, rng.random()) for i, doc in enumerate(ids)]
    judged = [(f"q{i % 3}", ids[i], 1.0, None, None) for i in range(0, 500_000, 1000)]
    packed = pieces(ranked, ("query", "doc", "score"), RUN, 50_000)
    assert len(packed) > 3
    assert sum(len(piece) for piece in packed["piece"].to_pylist()) > 16 << 20
    marks = pieces(
        [(q, d, g) for q, d, g, *_ in judged],
        ("query", "doc", "gain"),
        {**RUN, "value": "gain"},
        999,
    )
    marks = marks.set_column(2, "kind", pa.repeat(pa.scalar(0, pa.int8()), len(marks)))
    rows, reports = measured(pa.concat_tables([marks, packed]), job("AP NumRet", judged), 2)
    local = gg.evaluate(
        {q: {d: 1.0 for p, d, *_ in judged if p == q} for q in ("q0", "q1", "q2")}, ranked, "AP"
    )
    assert dict(zip(rows["query"].to_pylist(), rows["v0"].to_pylist(), strict=True)) == {
        q: v["AP"] for q, v in local.runs[0].per_query.items()
    }
    assert reports[0].totals["documents"] == 500_000


def tasks(rows, cuts, what):
    """The concatenated pieces of several tasks that measure where they read."""
    task_pieces = []
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(rows)], strict=True)):
        part = table(rows[begin:end], ("query", "doc", "score")) if begin < end else None
        batches = worker.packed(
            iter(part.to_batches(max_chunksize=3) if part else []), task(RUN, what)
        )
        pieces_here = pa.Table.from_batches(list(batches))
        places = pa.compute.add(pieces_here["place"], number << 40)
        task_pieces.append(pieces_here.set_column(3, "place", places))
    return pa.concat_tables(task_pieces)


def judgments(judged):
    """Judgments as pieces, and as every task has them."""
    columns = ("query", "doc", "gain", "target", "aspect")
    shipped = ShippedQrels.of([stream_of(table(judged, columns))], QRELS, "qrels")
    return pieces(judged, columns, QRELS, 1000), shipped


@pytest.mark.parametrize("seed", range(30))
def test_measured_where_they_are_read(seed):
    """In any division into tasks, contiguous queries give the same values; scattered ones are detected."""
    rng = random.Random(seed)
    judged, scattered = collection(30, seed=seed)
    marks, shipped = judgments(judged)
    what = job(["nDCG@10", "AP", "DR", "NumRet"], judged)
    contiguous = sorted(scattered, key=lambda row: row[0])
    apart = list(contiguous)
    apart.append(apart.pop(0))  # one row of the first query after all others
    for rows, is_contiguous in ((contiguous, True), (apart, contiguous[0][0] == apart[-2][0])):
        cuts = sorted(rng.choices(range(len(rows) + 1), k=rng.randint(0, 5)))
        both = pa.concat_tables([marks, tasks(rows, cuts, replace(what, qrels=shipped))])
        values, reports = measured(both, what, rng.choice([1, 5, 1000]))
        # The first and last query of each task are passed on as rows, so they may be scattered.
        assert not (is_contiguous and reports[0].retry)
        if not reports[0].retry:
            local = gg.evaluate(gg.Qrels(judged), rows, ["nDCG@10", "AP", "DR", "NumRet"]).runs[0]
            assert values["query"].to_pylist() == local.queries
            for i, measure in enumerate(["nDCG@10", "AP", "DR", "NumRet"]):
                assert repr(values[f"v{i}"].to_pylist()) == repr(local.column(measure))
            totals = reports[0].totals
            assert totals["documents"] == len(rows) and totals["rows"] == len(local.queries)


@pytest.mark.parametrize("seed", range(20))
def test_pieces_of_files_in_any_order(seed):
    """A task gets pieces of several files; a query that may go on elsewhere is not measured at once."""
    rng = random.Random(seed)
    judged, ranked = collection(30, seed=seed)
    marks, shipped = judgments(judged)
    what = job(["nDCG@10", "AP", "NumRet"], judged)
    rows = sorted(ranked, key=lambda row: row[0])
    cuts = sorted({0, len(rows), *rng.sample(range(len(rows)), 9)})
    splits = [
        table(rows[begin:end], ("query", "doc", "score")).append_column(
            worker.SPLIT, pa.array([begin] * (end - begin), pa.int64())
        )
        for begin, end in pairwise(cuts)
    ]
    rng.shuffle(splits)
    parts = [marks]
    for number in range(3):
        whole = pa.concat_tables(splits[number::3]).combine_chunks()  # batches cross the splits
        batches = worker.packed(
            iter(whole.to_batches(max_chunksize=rng.choice([3, 50]))),
            task(RUN, replace(what, qrels=shipped)),
        )
        found = pa.Table.from_batches(list(batches))
        places = pa.compute.add(found["place"], number << 40)
        parts.append(found.set_column(3, "place", places))
    both = pa.concat_tables(parts)
    assert both["kind"].to_pylist().count(worker.MEASURED)
    values, reports = measured(both, what, 1000)
    assert reports[0].retry == ""
    local = gg.evaluate(gg.Qrels(judged), rows, ["nDCG@10", "AP", "NumRet"]).runs[0]
    assert values["query"].to_pylist() == local.queries
    for i, measure in enumerate(["nDCG@10", "AP", "NumRet"]):
        assert repr(values[f"v{i}"].to_pylist()) == repr(local.column(measure))


def test_rows_that_come_again_are_detected():
    judged = [("a", "d", 1.0, None, None), ("b", "d", 1.0, None, None), ("c", "d", 1.0, None, None)]
    shipped = ShippedQrels.of(
        [stream_of(table([row[:3] for row in judged], ("query", "doc", "gain")))],
        {**RUN, "value": "gain"},
        "qrels",
    )
    what = replace(job(["AP"], judged), qrels=shipped)
    rows = [(query, f"d{i}", 1.0) for i, query in enumerate("aabbcc")]
    both = tasks([*rows, ("b", "late", 1.0)], [6], what)
    assert sorted(both["kind"].to_pylist()) == [1, 1, 1, 2]
    assert measured(both, what, 10)[1][0].retry == worker.SCATTERED
    assert measured(tasks(rows, [], what), what, 10)[1][0].retry == ""


def test_damaged_pieces_are_an_error_and_no_crash():
    judged, ranked = collection(5)
    packed = pieces(ranked, ("query", "doc", "score"), RUN, 100)
    cut = [piece[: len(piece) // 2] for piece in packed["piece"].to_pylist()]
    damaged = packed.set_column(4, "piece", pa.array(cut, pa.binary()))
    _, reports = measured(damaged, job("AP", judged), 100)
    assert reports[0].error is not None and "truncated piece" in reports[0].error[1]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("kind", 7, "unknown kind 7"),
        ("piece", bytes(16), "without any row"),
    ],
)
def test_pieces_that_no_packer_writes_are_an_error(column, value, message):
    judged, _ = collection(5)
    packed = pieces(judged, ("query", "doc", "gain", "target", "aspect"), QRELS, 100)
    place = packed.column_names.index(column)
    values = packed[column].to_pylist()
    values[0] = value
    damaged = packed.set_column(place, column, pa.array(values, packed[column].type))
    _, reports = measured(damaged, job("AP", judged), 100)
    assert reports[0].error is not None and message in reports[0].error[1]


def test_a_judged_query_without_judgments_is_an_error():
    judged, ranked = collection(5)
    marks = pieces(judged, ("query", "doc", "gain", "target", "aspect"), QRELS, 100)
    kept = [row for row in judged if row[0] != judged[0][0]]
    shipped = ShippedQrels.of(
        [stream_of(table(kept, ("query", "doc", "gain", "target", "aspect")))], QRELS, "qrels"
    )
    both = pa.concat_tables([marks, pieces(ranked, ("query", "doc", "score"), RUN, 100)])
    _, reports = measured(both, replace(job("AP", judged), qrels=shipped), 100)
    assert reports[0].error is not None and "has no judgments" in reports[0].error[1]
