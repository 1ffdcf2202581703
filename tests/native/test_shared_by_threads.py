"""Threads that share judgments, evaluators and runs, with a GIL or not: the same numbers to the last bit."""

from __future__ import annotations

import random
import sys
import sysconfig
import threading
from typing import TYPE_CHECKING, Any

import pytest

import goodgain as gg

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 4
MEASURES = ["AP", "nDCG@10", "RR", "P@5"]
JUDGMENTS = {f"q{q}": {f"d{d}": (q * d) % 3 for d in range(20)} for q in range(40)}
TRACES = [
    {
        "system": s,
        "conversation": f"c{c}",
        "turns": [{"iterations": [{"searches": [{"results": results}]}] * 4}],
    }
    for s in ("a", "b")
    for c in range(20)
    for results in ([{"id": f"d{c + n}"} for n in range(8)],)
]


def run_of(seed: int) -> dict[str, dict[str, float]]:
    numbers = random.Random(seed)
    return {q: {f"d{d}": numbers.random() for d in range(30)} for q in JUDGMENTS}


def in_threads(work: Callable[[], Any], rounds: int = 20) -> list[Any]:
    """What `work` returned or raised in threads that begin together."""
    barrier = threading.Barrier(THREADS)
    outcomes: list[Any] = []

    def repeat() -> None:
        barrier.wait()
        for _ in range(rounds):
            try:
                outcomes.append(work())
            except Exception as error:
                outcomes.append(error)

    threads = [threading.Thread(target=repeat) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == THREADS * rounds
    return outcomes


def bits(value: Any) -> Any:
    """Numbers by their bits, in any nesting."""
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    return value.hex() if isinstance(value, float) else value


def test_importing_leaves_the_gil_off():
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has no free-threaded build")
    gg.evaluate(JUDGMENTS, run_of(1), measures=["AP"])
    assert not sys._is_gil_enabled()


@pytest.mark.parametrize("native_threads", [1, 3])
def test_evaluations_of_shared_dictionaries(native_threads):
    run = run_of(1)

    def work() -> Any:
        result = gg.evaluate(JUDGMENTS, run, measures=MEASURES, threads=native_threads)
        return bits({measure: float(result[measure]) for measure in MEASURES})

    expected = work()
    assert all(outcome == expected for outcome in in_threads(work))


def test_one_evaluator_and_one_set_of_judgments():
    evaluator = gg.Evaluator(gg.Qrels(JUDGMENTS), MEASURES)
    runs = [run_of(seed) for seed in range(3)]

    def work() -> Any:
        return [bits(evaluator.evaluate(run).per_query) for run in runs]

    expected = work()
    assert all(outcome == expected for outcome in in_threads(work))


def test_measuring_shared_traces():
    def work() -> Any:
        result = gg.good_gain(TRACES).to_dict()
        return {key: bits(value) for key, value in result.items() if key != "created"}

    expected = work()
    assert all(outcome == expected for outcome in in_threads(work, rounds=5))


def change(run: dict[str, Any], stop: threading.Event) -> None:
    """Replaces scores, documents and lists of documents, until told to stop."""
    numbers = random.Random(5)
    while not stop.is_set():
        documents = run[numbers.choice(list(run))]
        if isinstance(documents, list):
            documents[:] = [f"d{d}" for d in numbers.sample(range(40), numbers.randrange(1, 40))]
        else:
            documents[f"d{numbers.randrange(30)}"] = numbers.random()
            documents.pop(f"d{numbers.randrange(30)}", None)


@pytest.mark.parametrize("as_list", [False, True])
def test_a_run_that_another_thread_changes(as_list):
    """A number, or the error that says so; never a crash, nor a measure out of its range."""
    run: dict[str, Any] = run_of(1)
    if as_list:
        run = {query: list(documents) for query, documents in run.items()}
    stop = threading.Event()
    writer = threading.Thread(target=change, args=(run, stop))
    writer.start()
    try:
        outcomes = in_threads(lambda: gg.evaluate(JUDGMENTS, run, measures="P@5")["P@5"], rounds=10)
    finally:
        stop.set()
        writer.join()
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            assert isinstance(outcome, gg.GoodgainError), repr(outcome)
            assert "while it was being read" in str(outcome) or "duplicate" in str(outcome)
        else:
            assert 0 <= outcome <= 1
