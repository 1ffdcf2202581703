"""Dictionaries that several threads read at once, beside queries that only one of them may read."""

import math
import pickle
import random

import numpy as np
import pytest

import goodgain as gg
from goodgain.errors import InputError

QUERIES = 60
DOCUMENTS = 20
MEASURES = "nDCG@5 AP RR P@10"


class Id(str):
    """A text that is not exactly a string."""

    __slots__ = ()


@pytest.fixture(scope="module")
def qrels() -> dict[str, dict[str, int]]:
    rng = random.Random(1)
    return {
        f"q{q}": {f"d{rng.randrange(40)}": rng.randrange(3) for _ in range(8)} | {"é": 1, "x": 2}
        for q in range(QUERIES)
    }


@pytest.fixture
def run() -> dict:
    rng = random.Random(2)
    return {
        f"q{q}": {f"d{d}": round(rng.random(), 1) for d in rng.sample(range(40), DOCUMENTS)}
        for q in range(QUERIES)
    }


ODD = {
    "text that is not ASCII": {"é": 2.5, "x": 1.5, "d1": 0.5},
    "integers as scores": {"x": 3, "d1": 2, "d2": 2},
    "an integer after floats": {"d1": 3.5, "x": 3},
    "huge integers": {"d1": 2**80, "x": 3.0},
    "pairs": [("x", 2.0), ("d1", 1.0)],
    "a list": ["x", "d1", "é"],
    "numbers of numpy": {"x": np.float32(0.5), "d1": np.float64(0.25)},
    "ids of a subclass": {Id("x"): 1.0, "d1": 0.5},
    "a subclass of dict": type("Table", (dict,), {})({"x": 1.0, "d1": 2.0}),
    "no documents": {},
}


def values(evaluation: gg.Evaluation) -> object:
    return evaluation.per_query, evaluation.means, [run.coverage for run in evaluation.runs]


@pytest.mark.parametrize("odd", ODD)
def test_odd_queries_are_measured_beside_plain_ones(qrels: dict, run: dict, odd: str) -> None:
    run["q7"] = ODD[odd]
    if isinstance(ODD[odd], list) and isinstance(ODD[odd][0], str):
        with pytest.raises(InputError, match="has no scores"):
            gg.evaluate(qrels, run, MEASURES, threads=2)
        return
    alone = gg.evaluate(qrels, {"q7": run["q7"], "q1": run["q1"]}, MEASURES).per_query["run"]["q7"]
    several, one = (gg.evaluate(qrels, run, MEASURES, threads=n) for n in (3, 1))
    assert repr(values(several)) == repr(values(one))
    assert several.per_query["run"]["q7"] == alone


def test_unjudged_queries_are_counted_and_missing_ones_are_empty(qrels: dict, run: dict) -> None:
    run["other"] = run.pop("q3")
    for evaluation in (gg.evaluate(qrels, run, MEASURES, threads=n) for n in (1, 2)):
        (scores,) = evaluation.runs
        assert scores.coverage.unjudged_queries == 1
        assert scores.coverage.missing_queries == 1
        assert scores.coverage.documents == (QUERIES - 1) * DOCUMENTS
        assert scores.per_query["q3"]["RR"] == 0


@pytest.mark.parametrize("place", ["q0", "q30", f"q{QUERIES - 1}"])
def test_a_bad_score_is_named(qrels: dict, run: dict, place: str) -> None:
    run[place]["d99"] = math.inf
    with pytest.raises(InputError, match=f"score inf of document 'd99' for query '{place}'"):
        gg.evaluate(qrels, run, MEASURES, threads=2)
    (scores,) = gg.evaluate(qrels, run, MEASURES, threads=2, skip_bad=True).runs
    assert scores.coverage.bad_rows == 1
    assert scores.coverage.documents == QUERIES * DOCUMENTS


@pytest.mark.parametrize("place", ["q0", "q30"])
def test_ids_that_mix_text_and_integers_are_refused(qrels: dict, run: dict, place: str) -> None:
    run[place] = {1: 2.0, 2: 1.0}
    with pytest.raises(InputError, match="document ids mix text and integers"):
        gg.evaluate(qrels, run, MEASURES, threads=2)


def test_ids_of_another_type_than_the_judgments_are_refused(run: dict) -> None:
    judged = {f"q{q}": dict.fromkeys(range(5), 1) for q in range(QUERIES)}
    with pytest.raises(InputError, match="document ids are integers in the judgments"):
        gg.evaluate(judged, run, MEASURES, threads=2)


def test_a_prepared_call_makes_what_is_asked_for(qrels: dict, run: dict) -> None:
    evaluator = gg.Evaluator(qrels, MEASURES, threads=1)
    plain, listed = evaluator.evaluate(run), evaluator.evaluate({"run": run})
    for measure in ("RR", "rr", plain.measures[0]):
        assert plain[measure] == listed[measure]
    assert values(plain) == values(listed)
    assert plain["run"]["RR"] == plain["RR"]
    assert str(plain) == str(listed)
    assert values(pickle.loads(pickle.dumps(evaluator.evaluate(run)))) == values(listed)
    with pytest.raises(KeyError, match="Success"):
        plain["Success@1"]
