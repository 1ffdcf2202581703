"""All fusion methods and normalisations, against ranx."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.errors import InputError, UsageError
from goodgain.fusion import METHODS, NORMS, fuse, tune
from goodgain.fusion.tuner import weight_grid

PARAMS = {
    "gmnz": {"gamma": 1.5},
    "logn_isr": {"sigma": 0.05},
    "rrf": {"k": 30},
    "rbc": {"phi": 0.7},
    "probfuse": {"n_segments": 5},
    "slidefuse": {"w": 3},
}
WEIGHTS = [0.2, 0.5, 0.3]
CONDORCET = ("condorcet", "w_condorcet")
Runs = list[dict[str, dict[str, float]]]


def made(
    seed: int = 1, queries: int = 6, depth: int = 40
) -> tuple[dict[str, dict[str, int]], Runs]:
    rng = random.Random(seed)
    ids = [f"d{i}" for i in range(80)]
    qrels = {
        f"q{q}": {d: rng.choice([1, 1, 2]) for d in rng.sample(ids, 15)} for q in range(queries)
    }
    runs = [
        {
            q: {
                d: rng.gauss(0, 1) + (1.5 if d in judged else 0)
                for d in rng.sample(ids, depth - 3 * r)
            }
            for q, judged in qrels.items()
        }
        for r in range(3)
    ]
    return qrels, runs


def clear_majorities() -> Runs:
    """Three runs over the same documents whose majorities make one order: two agree, one differs."""
    ids = [f"d{i}" for i in range(12)]
    rng = random.Random(3)
    agreed = {d: 12.0 - i for i, d in enumerate(ids)}
    return [{"q": dict(agreed)}, {"q": dict(agreed)}, {"q": {d: rng.random() for d in ids}}]


@pytest.fixture(scope="module")
def by_ranx() -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    qrels, runs = made()
    cases = []
    for method, entry in METHODS.items():
        params = {**PARAMS.get(method, {}), **({"weights": WEIGHTS} if entry.weighted else {})}
        if method in CONDORCET:
            continue
        norms = list(NORMS) if entry.uses_scores else ["none", "min-max-inverted"]
        for norm in norms:
            if norm == "borda" and method == "segfuse":
                continue  # ranx leaves the order of a borda-normalised run to a set
            cases.append((method, None if norm == "none" else norm, params))
    given = json.dumps({"qrels": qrels, "runs": runs, "cases": cases})
    return ranx(given)


def ranx(given: str) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    pytest.importorskip("ranx")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("ranx_fusion.py")],
        input=given, capture_output=True, text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("method", [m for m in METHODS if m not in CONDORCET])
def test_agrees_with_ranx(
    method: str, by_ranx: dict[str, dict[str, dict[str, dict[str, float]]]]
) -> None:
    qrels, runs = made()
    entry = METHODS[method]
    assert by_ranx[method]
    for norm, expected in by_ranx[method].items():
        fused = fuse(
            runs, method, norm,
            weights=WEIGHTS if entry.weighted else None,
            qrels=qrels if entry.trained else None,
            **PARAMS.get(method, {}),
        ).to_dict()  # fmt: skip
        assert set(fused) == set(expected)
        for query, docs in expected.items():
            assert fused[query] == pytest.approx(docs, rel=1e-9, abs=1e-12), (norm, query)


@pytest.mark.parametrize("method", CONDORCET)
def test_condorcet_agrees_with_ranx_where_majorities_are_clear(method: str) -> None:
    runs = clear_majorities()
    params = {"weights": [0.4, 0.3, 0.3]} if method == "w_condorcet" else {}
    given = json.dumps({"qrels": {"q": {"d1": 1}}, "runs": runs, "cases": [(method, None, params)]})
    expected = ranx(given)[method]["none"]["q"]
    fused = fuse(runs, method, "none", weights=params.get("weights"))
    assert fused.to_dict()["q"] == expected


def test_there_are_25_methods_and_7_normalisations() -> None:
    assert len(METHODS) == 25
    assert len([n for n in NORMS if n != "none"]) == 7


def test_condorcet_does_not_depend_on_the_order_of_the_input() -> None:
    _, runs = made(5)
    turned = [{q: dict(reversed(docs.items())) for q, docs in run.items()} for run in runs]
    assert fuse(runs, "condorcet").to_dict() == fuse(turned, "condorcet").to_dict()


def test_same_result_for_any_number_of_threads() -> None:
    _, runs = made(2, queries=40)
    assert fuse(runs, threads=1).to_dict() == fuse(runs, threads=8).to_dict()


def test_a_query_that_one_run_lacks_is_fused_from_the_others() -> None:
    fused = fuse([{"q1": {"a": 1.0}}, {"q1": {"a": 2.0}, "q2": {"b": 1.0}}], "rrf").to_dict()
    assert fused == {"q1": {"a": pytest.approx(2 / 61)}, "q2": {"b": pytest.approx(1 / 61)}}


def test_depth_and_ties_by_document_id_descending() -> None:
    fused = fuse([{"q": {"a": 1.0, "b": 1.0, "c": 1.0}}] * 2, "sum", "none", depth=2)
    assert list(fused.to_dict()["q"]) == ["c", "b"]


def test_constant_scores_do_not_divide_by_zero() -> None:
    for norm in NORMS:
        fused = fuse([{"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1.0}}], "sum", norm).to_dict()
        assert all(s - s == 0 for s in fused["q"].values()), norm


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fuse([{"q": {"a": 1.0}}]), "at least two runs"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, "rff"), "did you mean 'rrf'"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, norm="minmax"), "no normalisation"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, weights=[1, 2]), "takes no weights"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, "wsum", weights=[1]), "1 weights for 2 runs"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, "wsum", weights=[0, 0]), "above 0"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, "posfuse"), "learns from judged queries"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, "rbc", phi=2), "no value of rbc"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, "rrf", phi=2), "no parameter 'phi'"),
        (lambda: fuse([{"q": {"a": 1.0}}] * 2, "sum", depth=0), "depth 0"),
        (lambda: tune({"q": {"a": 1}, "p": {"a": 1}}, [{"q": {"a": 1.0}}] * 2, "sum", folds=2), "nothing"),
        (lambda: tune({"q": {"a": 1}}, [{"q": {"a": 1.0}}] * 2, "wsum"), "5 folds of 1 queries"),
    ],
)  # fmt: skip
def test_bad_use_is_a_sentence(call: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()  # type: ignore[operator]


def test_a_document_twice_or_a_score_that_is_no_number_is_an_error() -> None:
    with pytest.raises(InputError, match="ranked twice"):
        fuse([[("q", "a", 1.0), ("q", "a", 2.0)], {"q": {"a": 1.0}}])
    with pytest.raises(InputError, match="not a number"):
        fuse([{"q": {"a": float("nan")}}, {"q": {"a": 1.0}}])


def test_weight_grid_sums_to_one_and_stays_small() -> None:
    for runs in range(2, 9):
        grid = weight_grid(runs)
        assert len(grid) <= 300
        assert all(sum(weights) == pytest.approx(1) for weights in grid)
    assert len(weight_grid(2)) == 11
    assert weight_grid(2)[0] == (0.5, 0.5)


@pytest.mark.parametrize("method", ["wsum", "rrf", "posfuse"])
def test_tuning_scores_each_query_by_a_setting_that_has_not_seen_it(method: str) -> None:
    qrels, runs = made(7, queries=20)
    names = {"good": runs[0], "fair": runs[1], "poor": runs[2]}
    tuned = tune(qrels, names, method, measure="nDCG@10", folds=4)
    assert set(tuned.held_out) == set(qrels)
    assert sum(fold.held_out_queries for fold in tuned.folds) == 20
    assert tuned.training_mean >= tuned.held_out_mean - 0.05
    own = gg.evaluate(qrels, tuned.run, "nDCG@10")["nDCG@10"]
    assert own == pytest.approx(tuned.training_mean)
    assert "held out" in str(tuned)
    comparison = gg.compare(tuned)
    assert comparison.systems == ("good", "fair", "poor", f"{method} (held out)")


def test_tuning_finds_the_run_that_is_worth_its_weight() -> None:
    qrels, runs = made(9, queries=20)
    rng = random.Random(0)
    noise = {q: {d: rng.random() for d in docs} for q, docs in runs[0].items()}
    tuned = tune(qrels, [runs[0], noise], "wsum", measure="nDCG@10")
    assert tuned.best.weights is not None
    assert tuned.best.weights[0] > tuned.best.weights[1]
