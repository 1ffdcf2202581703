"""A signal stops every long native call, and no native call keeps other threads from running."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import goodgain as gg
from goodgain import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MEASURES = [f"{name}@{k}" for name in ("nDCG", "AP", "ERR", "P", "RR", "R") for k in range(1, 301)]
FOREVER = 10**7  # replicates that would take minutes


class StopError(Exception):
    """Raised by the signal handler of these tests."""


@pytest.fixture
def alarm() -> Iterator[Callable[[float], None]]:
    """Raise StopError in the main thread after some seconds."""

    def stop(_: int, __: Any) -> None:
        raise StopError

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Judgments and a run that take about a second with all of MEASURES, in every form."""
    import pyarrow as pa

    rng = random.Random(1)
    rows = [
        (f"q{q}", f"d{d}", rng.random())
        for q in range(2000)
        for d in rng.sample(range(500), 100)
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("interrupting")
    text = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows)
    (folder / "run.txt").write_text(text)
    (folder / "run.csv").write_text(
        'query,doc,score\n"q0","d0",1\n' + "".join(f"{q},{d},{s}\n" for q, d, s in rows[100:])
    )
    nested: dict[str, dict[str, float]] = {}
    for q, d, s in rows:
        nested.setdefault(q, {})[d] = s
    columns = dict(zip(("query", "doc", "score"), zip(*rows, strict=True), strict=True))
    conversation = {
        "turns": [{"user": "u", "iterations": [{"searches": [{"query": "q", "results": [
            {"title": f"Title {i}", "url": f"https://example.org/{i}?a=1+2", "gain": i % 4}
            for i in range(300)
        ]}]}]}]
    }  # fmt: skip
    lines = [json.dumps({"conversation": f"c{i}", **conversation}) for i in range(400)]
    (folder / "trace.jsonl").write_text("\n".join(lines))
    return {
        "qrels": {f"q{q}": {f"d{d}": d % 4 for d in range(0, 500, 5)} for q in range(2000)},
        "file": str(folder / "run.txt"),
        "quoted": str(folder / "run.csv"),
        "dict": nested,
        "rows": rows,
        "arrow": pa.table(columns),
        "trace": str(folder / "trace.jsonl"),
    }


def evaluations(tables: dict[str, Any], form: str, threads: int) -> Callable[[], Any]:
    evaluator = gg.Evaluator(tables["qrels"], MEASURES, threads=threads)
    return lambda: evaluator.evaluate(tables[form])


def calls(tables: dict[str, Any], name: str) -> Callable[[], Any]:
    """A native call that takes long."""
    form, _, threads = name.partition("-")
    if form in tables and form != "trace":
        return evaluations(tables, form, int(threads))
    values = np.random.default_rng(1).normal(size=(500, 2))
    flat = np.ascontiguousarray(values[:, 0])
    match form:
        case "random flips":
            return lambda: _core.random_flips(values, FOREVER, 1, int(threads))
        case "all flips":
            return lambda: _core.all_flips(flat[:28], int(threads))
        case "bootstrap":
            return lambda: _core.bootstrap_means(values, FOREVER, 1, int(threads))
        case "percentiles":
            return lambda: _core.percentile_differences(
                flat, flat, 95.0, False, FOREVER, 1, int(threads)
            )
        case "trace":
            return lambda: gg.good_gain(tables["trace"], threads=int(threads))
        case "words":
            index = _core.KeywordIndex([], [(97, 123)])
            texts = ["some words of a text " * 2000] * 4000
            return lambda: index.add(texts, int(threads))
    raise ValueError(name)


NAMES = [
    *(f"{form}-{threads}" for form in ("file", "dict", "arrow", "trace") for threads in (1, 2)),
    "quoted-2", "rows-1", "random flips-1", "random flips-2", "all flips-2", "bootstrap-2",
    "percentiles-2", "words-2",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_signal_stops_a_call(
    tables: dict[str, Any], alarm: Callable[[float], None], name: str
) -> None:
    call = calls(tables, name)
    start = time.process_time()
    alarm(0.05)
    with pytest.raises(StopError):
        call()
    assert time.process_time() - start < 0.75  # of all threads; the whole call takes longer


@pytest.mark.parametrize("form", ["file", "dict", "rows", "arrow"])
def test_a_stopped_evaluator_can_be_used_again(
    tables: dict[str, Any], alarm: Callable[[float], None], form: str
) -> None:
    evaluator = gg.Evaluator(tables["qrels"], ["nDCG@10", *MEASURES], threads=2)
    alarm(0.05)
    with pytest.raises(StopError):
        evaluator.evaluate(tables[form])
    few = gg.Evaluator(tables["qrels"], "nDCG@10", threads=2)
    assert few.evaluate(tables[form])["nDCG@10"] == few.evaluate(tables["dict"])["nDCG@10"]


@pytest.mark.parametrize("name", ["file-1", "dict-1", "dict-2", "rows-1", "arrow-1", "qrels"])
def test_other_threads_run_meanwhile(tables: dict[str, Any], name: str) -> None:
    """The longest that another thread waits is a small part of the call."""
    if name == "qrels":
        listed = [(q, d, g) for q, docs in tables["qrels"].items() for d, g in docs.items()]
        call: Callable[[], Any] = lambda: (gg.Qrels(tables["qrels"]), gg.Qrels(listed))  # noqa: E731
    else:
        call = calls(tables, name)
    gaps, done = [0.0], threading.Event()

    def tick() -> None:
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    ticking = threading.Thread(target=tick)
    ticking.start()
    start = time.perf_counter()
    call()
    total = time.perf_counter() - start
    done.set()
    ticking.join()
    assert len(gaps) > 5
    assert max(gaps) < max(0.25, total / 3)


def test_a_dictionary_may_change_while_other_threads_run(tables: dict[str, Any]) -> None:
    """Every query is measured as it was, or the change is an error; nothing is read that is gone."""
    run = {q: dict(docs) for q, docs in tables["dict"].items()}
    evaluator = gg.Evaluator(tables["qrels"], MEASURES[:40], threads=2)
    done = threading.Event()

    def change() -> None:
        rng = random.Random(2)
        names = list(run)
        while not done.is_set():
            run[rng.choice(names)] = {f"new{rng.random()}": 1.0}
            time.sleep(0)

    changing = threading.Thread(target=change)
    changing.start()
    for _ in range(3):
        result = evaluator.evaluate(run)
        assert 0 <= result["nDCG@10"] <= 1
    done.set()
    changing.join()


def test_line_locks_wait_out_signals(tmp_path: Path, alarm: Callable[[float], None]) -> None:
    """Appending a line under a lock of another process ends by a signal, not by writing without the lock."""
    import fcntl

    path = tmp_path / "log.jsonl"
    with path.open("ab") as ours, path.open("ab") as theirs:
        fcntl.flock(theirs, fcntl.LOCK_EX)
        alarm(0.1)
        with pytest.raises(StopError):
            _core.append_line(ours.fileno(), b"line", 0)
    assert path.read_bytes() == b""
