"""Objects whose methods change the table that is being read: an error or a number, never a crash."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

import goodgain as gg

if TYPE_CHECKING:
    from collections.abc import Callable

GAINS = {f"q{q}": {f"d{d}": d % 3 for d in range(20)} for q in range(40)}


class Acting(float):
    """A score that does something when it is read."""

    action: Callable[[], object]

    def __new__(cls, action: Callable[[], object]) -> Acting:
        self = super().__new__(cls, 1.0)
        self.action = action
        return self

    def __float__(self) -> float:
        self.action()
        gc.collect()
        return 1.0


class Number:
    """The same without being a float."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action

    def __float__(self) -> float:
        self.action()
        gc.collect()
        return 1.0


class Id(str):
    """A document whose text does something."""

    action: Callable[[], object] = staticmethod(lambda: None)
    __slots__ = ()

    def __str__(self) -> str:
        type(self).action()
        return "d1"

    def __eq__(self, other: object) -> bool:
        type(self).action()
        return super().__eq__(other)

    __hash__ = str.__hash__


class Index:
    """An id that is an integer after some work."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action

    def __index__(self) -> int:
        self.action()
        gc.collect()
        return 7


def table() -> dict[str, dict[Any, Any]]:
    return {f"q{q}": {f"d{d}{'x' * 40}": float(d) for d in range(20)} for q in range(40)}


ACTIONS: dict[str, Callable[[dict[str, dict[Any, Any]]], object]] = {
    "clears the documents": lambda run: run["q3"].clear(),
    "clears the run": lambda run: run.clear(),
    "removes its query": lambda run: run.pop("q3", None),
    "replaces all documents": lambda run: [run.__setitem__(q, {"new": 1.0}) for q in list(run)],
    "empties all documents": lambda run: [docs.clear() for docs in list(run.values())],
    "adds documents": lambda run: run.get("q3", {}).update({f"n{i}": 1.0 for i in range(1000)}),
    "adds queries": lambda run: [run.setdefault(f"n{i}", {"d1": 1.0}) for i in range(1000)],
}  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", [Acting, Number])
@pytest.mark.parametrize("name", ACTIONS)
def test_a_score_that_changes_the_run(name: str, kind: type, threads: int) -> None:
    run = table()
    run["q3"]["acting"] = kind(lambda: ACTIONS[name](run))
    run["q3"].update({f"e{i}": 1.0 for i in range(10)})
    _right_or_refused(lambda: gg.evaluate(GAINS, run, ["nDCG@10", "AP"], threads=threads))


@pytest.mark.parametrize("name", ACTIONS)
def test_a_gain_that_changes_the_judgments(name: str) -> None:
    qrels = table()
    qrels["q3"]["acting"] = Number(lambda: ACTIONS[name](qrels))
    qrels["q3"].update({f"e{i}": 1.0 for i in range(10)})
    _right_or_refused(lambda: gg.evaluate(gg.Qrels(qrels), table(), "nDCG@10"))


@pytest.mark.parametrize("place", ["query", "doc", "score"])
def test_rows_that_change(place: str) -> None:
    rows: list[list[Any]] = [[f"q{i % 40}", f"d{i}{'y' * 40}", float(i)] for i in range(400)]

    def clear() -> None:
        for row in rows:
            row.clear()
        del rows[200:]
        gc.collect()

    acting = {"query": Index(clear), "doc": Index(clear), "score": Number(clear)}[place]
    rows[100][("query", "doc", "score").index(place)] = acting
    _right_or_refused(lambda: gg.evaluate(GAINS, rows, "nDCG@10"))
    rows = [[f"q{i % 40}", f"d{i}{'y' * 40}", float(i)] for i in range(400)]
    rows[100][("query", "doc", "score").index(place)] = acting
    _right_or_refused(lambda: gg.Qrels(rows))


def test_lists_that_change() -> None:
    run: dict[str, list[Any]] = {
        f"q{q}": [(f"d{d}{'z' * 40}", float(d)) for d in range(20)] for q in range(40)
    }
    run["q3"][5] = ["acting", Number(lambda: [docs.clear() for docs in run.values()])]
    _right_or_refused(lambda: gg.evaluate(GAINS, run, "nDCG@10"))


def test_ids_with_methods_of_their_own() -> None:
    run: dict[str, dict[Any, Any]] = table()
    Id.action = lambda: [docs.clear() for docs in run.values()]  # type: ignore[assignment]
    run["q3"][Id("d1")] = 1.0
    _right_or_refused(lambda: gg.evaluate(GAINS, run, "nDCG@10"))


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, SystemExit, MemoryError, RecursionError, ZeroDivisionError]
)
def test_errors_of_numbers(error: type[BaseException]) -> None:
    """Ctrl-C inside `__float__` is Ctrl-C; anything else is a value that is no number."""

    def fail() -> None:
        raise error

    run = {"q1": {"d1": Number(fail)}}
    if issubclass(error, Exception):
        with pytest.raises(gg.GoodgainError, match="not a finite number"):
            gg.evaluate(GAINS, run, "nDCG@10")
    else:
        with pytest.raises(error):
            gg.evaluate(GAINS, run, "nDCG@10")


def _right_or_refused(work: Callable[[], Any]) -> None:
    try:
        work()
    except gg.GoodgainError as error:
        assert str(error)
