"""Arguments that are of the wrong kind are refused in one sentence, and lazy frames are read."""

from __future__ import annotations

import io
from typing import Any

import polars as pl
import pytest

import goodgain as gg
from goodgain.errors import GoodgainError, InputError, UsageError

QRELS, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}


@pytest.mark.parametrize("threads", [0, -1, 1.5, "x", True, float("nan"), 2**70])
def test_threads(threads: Any) -> None:
    with pytest.raises(UsageError, match="threads must be a positive integer"):
        gg.evaluate(QRELS, RUN, "RR", threads=threads)


@pytest.mark.parametrize("measures", [None, 5, 1.5])
def test_measures(measures: Any) -> None:
    with pytest.raises(UsageError, match="measures must be text or a list"):
        gg.evaluate(QRELS, RUN, measures)


def test_nothing_as_a_run() -> None:
    with pytest.raises(InputError, match="cannot read a run from None"):
        gg.evaluate(QRELS, None, "RR")


@pytest.mark.parametrize("file", [io.StringIO("q Q0 a 1 2 t\n"), io.BytesIO(b"q Q0 a 1 2 t\n")])
def test_open_files_are_no_lists_of_names(file: Any) -> None:
    with pytest.raises(InputError, match="from an open file"):
        gg.evaluate(QRELS, file, "RR")
    with pytest.raises(InputError, match="from an open file"):
        gg.evaluate(file, RUN, "RR")


def test_deep_and_cyclic_objects() -> None:
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(100_000):
        inner["q"] = {}
        inner = inner["q"]
    cyclic: dict[str, Any] = {}
    cyclic["q"] = cyclic
    for value in (deep, cyclic):
        with pytest.raises(GoodgainError):
            gg.evaluate(QRELS, value, "RR")
        with pytest.raises(GoodgainError):
            gg.evaluate(value, RUN, "RR")
        with pytest.raises(InputError, match="nested too deeply, or contains itself"):
            gg.good_gain([{"conversation": "c", "turns": [value]}])


def test_lazy_frames() -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "score": [1.0, 2.0]})
    assert gg.evaluate(QRELS, frame.lazy(), "RR")["RR"] == 0.5
    judged = frame.with_columns(gain=pl.Series([1, 0])).drop("score")
    assert gg.evaluate(judged.lazy(), RUN, "RR")["RR"] == 0.5
    with pytest.raises(InputError, match="cannot read the data"):
        gg.evaluate(QRELS, frame.lazy().select("missing"), "RR")
