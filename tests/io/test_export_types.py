"""Tables as databases export them: decimals, booleans, times, half floats, ids as decimals."""

from __future__ import annotations

import decimal
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.errors import InputError

QRELS = {"q": {"a": 3, "b": 0, "c": 1}}
EXPECTED = gg.evaluate(QRELS, {"q": {"a": 1.0, "b": 9.0, "c": 5.0}}, "nDCG@10")["nDCG@10"]


def table(scores, **more):
    return pa.table({"query": ["q"] * 3, "doc": ["a", "b", "c"], "score": scores, **more})


@pytest.mark.parametrize(
    "kind",
    [pa.decimal128(9, 2), pa.decimal128(38, 10), pa.decimal256(60, 20), pa.decimal32(5, 1),
     pa.decimal64(12, 3), pa.decimal128(5, -2), pa.float16()],
    ids=str,
)  # fmt: skip
def test_scores(kind):
    numbers = [np.float16(v) if kind == pa.float16() else Decimal(v) for v in (100, 900, 500)]
    assert gg.evaluate(QRELS, table(pa.array(numbers, kind)), "nDCG@10")["nDCG@10"] == EXPECTED


def test_decimals_are_the_nearest_doubles():
    rng = random.Random(5)
    decimal.getcontext().prec = 80
    for scale, digits, kind in (
        (2, 9, pa.decimal128),
        (18, 38, pa.decimal128),
        (30, 70, pa.decimal256),
    ):
        values = [
            Decimal(rng.randrange(-(10**n), 10**n)).scaleb(-scale)
            for n in (1, 3, digits // 2, digits - 1)
            for _ in range(40)
        ]
        docs = [f"d{i}" for i in range(len(values))]
        run = pa.table(
            {
                "query": ["q"] * len(docs),
                "doc": docs,
                "score": pa.array(values, kind(digits, scale)),
            }
        )
        read = gg.Run(run).to_dict()["q"]
        assert read == dict(zip(docs, map(float, values), strict=True))


def test_half_floats_are_exact():
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)]
    docs = [f"d{i}" for i in range(len(finite))]
    run = pa.table({"query": ["q"] * len(docs), "doc": docs, "score": pa.array(finite)})
    assert list(gg.Run(run).to_dict()["q"].values()) == finite.astype(float).tolist()
    with pytest.raises(InputError, match="not a finite number"):
        gg.Run(table(pa.array([np.float16("inf"), np.float16(1), np.float16(2)]))).to_dict()


def test_booleans_are_gains(tmp_path):
    run = {"q": {"a": 1.0, "b": 9.0, "c": 5.0}}
    expected = gg.evaluate({"q": {"a": 1, "b": 0, "c": 1}}, run, "AP")["AP"]
    columns = {"query": ["q"] * 3, "doc": ["a", "b", "c"], "relevance": [True, False, True]}
    assert gg.evaluate(pa.table(columns), run, "AP")["AP"] == expected
    for words in ("true false true", "TRUE FALSE TRUE", "True False True"):
        rows = "".join(f"q,{d},{w}\n" for d, w in zip("abc", words.split(), strict=True))
        (tmp_path / "q.csv").write_text("query,doc,relevance\n" + rows)
        assert gg.evaluate(tmp_path / "q.csv", run, "AP")["AP"] == expected
    lines = "".join(
        f'{{"query":"q","doc":"{d}","relevance":{w}}}\n'
        for d, w in zip("abc", ("true", "false", "true"), strict=True)
    )
    (tmp_path / "q.jsonl").write_text(lines)
    assert gg.evaluate(tmp_path / "q.jsonl", run, "AP")["AP"] == expected
    (tmp_path / "q.csv").write_text("query,doc,relevance\nq,a,yes\n")
    with pytest.raises(InputError, match="'yes' is not a number"):
        gg.Qrels(tmp_path / "q.csv")
    missing = pa.table({**columns, "relevance": pa.array([True, None, True])})
    with pytest.raises(InputError, match="missing"):
        gg.Qrels(missing)


def test_ids_as_decimals_of_scale_zero():
    """NUMBER(38, 0) is an integer."""
    ids = pa.array([Decimal(10**30 + 7)] * 3, pa.decimal128(38, 0))
    docs = pa.array([Decimal(-1), Decimal(0), Decimal(12)], pa.decimal128(38, 0))
    judged = pa.table({"query": ids, "doc": docs, "gain": [3, 0, 1]})
    run = pa.table({"query": ids, "doc": docs, "score": [1.0, 9.0, 5.0]})
    assert gg.evaluate(judged, run, "nDCG@10")["nDCG@10"] == EXPECTED
    assert gg.Run(run).to_dict() == {str(10**30 + 7): {"-1": 1.0, "0": 9.0, "12": 5.0}}
    prices = pa.table(
        {"query": ["q"], "doc": pa.array([Decimal("1.5")], pa.decimal128(5, 2)), "score": [1.0]}
    )
    with pytest.raises(InputError, match="must hold text or integers"):
        gg.evaluate(QRELS, prices)


def test_other_columns_are_not_read(tmp_path):
    more = {
        "created": pa.array([0, 1, 2], pa.timestamp("us", "UTC")),
        "payload": pa.array([b"x", None, b"y"]),
        "tags": pa.array([["a"], [], None]),
        "price": pa.array([Decimal("1.5")] * 3),
        "day": pa.array([0, 1, 2], pa.date32()),
    }
    pq.write_table(table([1.0, 9.0, 5.0], **more), tmp_path / "run.parquet")
    assert gg.evaluate(QRELS, tmp_path / "run.parquet", "nDCG@10")["nDCG@10"] == EXPECTED
    assert gg.evaluate(QRELS, table([1.0, 9.0, 5.0], **more), "nDCG@10")["nDCG@10"] == EXPECTED


def test_rank_without_score(tmp_path):
    ranks = pa.array([Decimal(3), Decimal(1), Decimal(2)], pa.decimal128(38, 0))
    run = pa.table({"query": ["q"] * 3, "doc": ["a", "b", "c"], "rank": ranks})
    pq.write_table(run, tmp_path / "run.parquet")
    assert gg.evaluate(QRELS, tmp_path / "run.parquet", "nDCG@10")["nDCG@10"] == EXPECTED
    assert gg.Run(tmp_path / "run.parquet").to_dict() == {"q": {"a": -3.0, "b": -1.0, "c": -2.0}}
