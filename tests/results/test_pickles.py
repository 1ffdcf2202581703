"""What is computed can be sent to another process: pickled and read back, to the last bit."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import goodgain as gg
from goodgain import _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GAINS = {f"q{q}": {f"d{d}": (q + d) % 4 for d in range(8)} for q in range(12)}
RUN = {q: {d: 1.0 / (1 + i) for i, d in enumerate(docs)} for q, docs in GAINS.items()}
OTHER = {q: dict(zip(docs, range(8), strict=True)) for q, docs in GAINS.items()}
TRACE = {
    "conversation": "c",
    "turns": [{"user": "u", "iterations": [{"searches": [{"query": "q", "results": [
        {"id": "a", "gain": 3}, {"id": "b", "gain": 0}
    ]}]}]}],
}  # fmt: skip
SUBTOPICS = "q1 1 a 2\nq1 2 a 1\nq1 2 b 0\nq2 1 a 1\n"
ITERATIONS = "q1 0.5 a 2\nq1 1.5 a 1\nq1 0.5 b 0\n"


def copy(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


TABLES: dict[str, Callable[[Path], gg.Qrels]] = {
    "dict": lambda _: gg.Qrels(GAINS),
    "integers": lambda _: gg.Qrels({1: {2: 1, 3: 0}}),
    "rows with targets": lambda _: gg.Qrels([("q", "a", 1, "t", "x"), ("q", "b", 2, None, "y")]),
    "subtopics": lambda folder: _file(folder, SUBTOPICS),
    "iterations": lambda folder: _file(folder, ITERATIONS),
    "no text": lambda folder: _file(folder, "q\udcff 0 d\udcff 1\n"),
}


def _file(folder: Path, text: str) -> gg.Qrels:
    path = folder / "qrels.txt"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return gg.Qrels(path)


@pytest.mark.parametrize("name", TABLES)
def test_judgments_are_the_same(name: str, tmp_path: Path) -> None:
    qrels = TABLES[name](tmp_path)
    again = copy(qrels)
    assert again.table.state() == qrels.table.state()
    assert repr(again) == repr(qrels)
    assert again.table.repeated == qrels.table.repeated
    if again.table.repeated is None:
        assert again.to_dict() == qrels.to_dict()
    if (tmp_path / "qrels.txt").exists():
        (tmp_path / "qrels.txt").unlink()
        assert len(copy(again)) == len(qrels)  # the copy needs no file


def test_judgments_measure_the_same(tmp_path: Path) -> None:
    qrels = TABLES["subtopics"](tmp_path)
    run = {"q1": {"b": 2.0, "a": 1.0, "c": 0.5}, "q2": {"a": 1.0}}
    measures = ["alpha_nDCG@10", "StRecall@10", "nDCG@10"]
    kwargs: dict[str, Any] = {"duplicates": "best"}
    before = gg.evaluate(qrels, run, measures, **kwargs)
    after = gg.evaluate(copy(qrels), run, measures, **kwargs)
    for measure in measures:
        assert before[measure] == after[measure]


def test_an_evaluator_goes_on_elsewhere(tmp_path: Path) -> None:
    evaluator = gg.Evaluator(
        GAINS, ["nDCG@10", "AP(rel=2)"], ties="average", skip_bad=True, threads=2
    )
    path = tmp_path / "evaluator.pickle"
    path.write_bytes(pickle.dumps(evaluator))
    code = (
        "import pickle, sys\n"
        "evaluator, run = pickle.load(open(sys.argv[1], 'rb')), eval(sys.argv[2])\n"
        "result = evaluator.evaluate(run)\n"
        "values = [result[m].hex() for m in ('nDCG@10', 'AP(rel=2)')]\n"
        "print(evaluator.policy.ties, evaluator.skip_bad, *values)"
    )
    output = subprocess.run(
        [sys.executable, "-c", code, str(path), repr(RUN)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    result = evaluator.evaluate(RUN)
    assert output.split() == [
        "average", "True", result["nDCG@10"].hex(), result["AP(rel=2)"].hex(),
    ]  # fmt: skip


RESULTS: dict[str, Callable[[], Any]] = {
    "Evaluation": lambda: gg.evaluate(GAINS, {"a": RUN, "b": OTHER}, ["nDCG@10", "AP"]),
    "Evaluation with bounds": lambda: gg.evaluate(GAINS, RUN, "nDCG@10", ties="bounds"),
    "Comparison": lambda: gg.compare(GAINS, {"a": RUN, "b": OTHER}, ["nDCG@10"]),
    "Gate": lambda: gg.gate(GAINS, {"a": RUN, "b": OTHER}, ["nDCG@10"]),
    "GoodGain": lambda: gg.good_gain([TRACE]),
    "Run": lambda: gg.Run(RUN),
    "RunScores": lambda: gg.evaluate(GAINS, RUN, "nDCG@10").runs[0],
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_the_same(name: str) -> None:
    result = RESULTS[name]()
    again = copy(result)
    assert type(again) is type(result)
    assert str(again) == str(result)
    if hasattr(result, "to_dict"):
        assert repr(again.to_dict()) == repr(result.to_dict())


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_damaged_state_is_an_error(cut: int) -> None:
    state = gg.Qrels(GAINS).table.state()
    with pytest.raises(_core.CoreError, match="damaged judgments"):
        _core.Qrels.from_state(state[: max(0, len(state) - 1 - cut * 9)])
    swapped = bytearray(state)
    swapped[cut * 3] ^= 0x41
    try:
        _core.Qrels.from_state(bytes(swapped))
    except _core.CoreError as error:
        assert error.args[0] == "input"
