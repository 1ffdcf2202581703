"""Fusion: every method and normalisation against ranx, tuning, and the forms of its arguments."""

import enum
import inspect
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
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


def random_collection(
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
    """Three runs over the same documents with one majority order: two agree, one differs."""
    ids = [f"d{i}" for i in range(12)]
    rng = random.Random(3)
    agreed = {d: 12.0 - i for i, d in enumerate(ids)}
    return [{"q": dict(agreed)}, {"q": dict(agreed)}, {"q": {d: rng.random() for d in ids}}]


@pytest.fixture(scope="module")
def by_ranx() -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    qrels, runs = random_collection()
    cases = []
    for method, entry in METHODS.items():
        params = {**PARAMS.get(method, {}), **({"weights": WEIGHTS} if entry.weighted else {})}
        if method in CONDORCET:
            continue
        norms = list(NORMS) if entry.uses_scores else ["none", "min-max-inverted"]
        for norm in norms:
            if norm == "borda" and method == "segfuse":
                continue  # ranx takes the order of a borda-normalised run from a set
            cases.append((method, None if norm == "none" else norm, params))
    case = json.dumps({"qrels": qrels, "runs": runs, "cases": cases})
    return ranx(case)


def ranx(case: str) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    pytest.importorskip("ranx")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("ranx_fusion.py")],
        input=case, capture_output=True, text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    fused: dict[str, dict[str, dict[str, dict[str, float]]]] = json.loads(done.stdout)
    return fused


@pytest.mark.parametrize("method", [m for m in METHODS if m not in CONDORCET])
def test_agrees_with_ranx(
    method: str, by_ranx: dict[str, dict[str, dict[str, dict[str, float]]]]
) -> None:
    qrels, runs = random_collection()
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


@pytest.mark.slow
@pytest.mark.parametrize("method", CONDORCET)
def test_condorcet_agrees_with_ranx_where_majorities_are_clear(method: str) -> None:
    runs = clear_majorities()
    params = {"weights": [0.4, 0.3, 0.3]} if method == "w_condorcet" else {}
    case = json.dumps({"qrels": {"q": {"d1": 1}}, "runs": runs, "cases": [(method, None, params)]})
    expected = ranx(case)[method]["none"]["q"]
    fused = fuse(runs, method, "none", weights=params.get("weights"))
    assert fused.to_dict()["q"] == expected


def test_there_are_25_methods_and_7_normalisations() -> None:
    assert len(METHODS) == 25
    assert len([n for n in NORMS if n != "none"]) == 7


def test_condorcet_does_not_depend_on_the_order_of_the_input() -> None:
    _, runs = random_collection(5)
    turned = [{q: dict(reversed(docs.items())) for q, docs in run.items()} for run in runs]
    assert fuse(runs, "condorcet").to_dict() == fuse(turned, "condorcet").to_dict()


def test_same_result_for_any_number_of_threads() -> None:
    _, runs = random_collection(2, queries=40)
    assert fuse(runs, threads=1).to_dict() == fuse(runs, threads=8).to_dict()


def test_a_query_missing_from_one_run_is_fused_from_the_others() -> None:
    fused = fuse([{"q1": {"a": 1.0}}, {"q1": {"a": 2.0}, "q2": {"b": 1.0}}], "rrf").to_dict()
    assert fused == {"q1": {"a": pytest.approx(2 / 61)}, "q2": {"b": pytest.approx(1 / 61)}}


def test_depth_and_ties_by_document_id_descending() -> None:
    fused = fuse([{"q": {"a": 1.0, "b": 1.0, "c": 1.0}}] * 2, "sum", "none", depth=2)
    assert list(fused.to_dict()["q"]) == ["c", "b"]


def test_constant_scores_do_not_divide_by_zero() -> None:
    for norm in NORMS:
        fused = fuse([{"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1.0}}], "sum", norm).to_dict()
        assert all(s - s == 0 for s in fused["q"].values()), norm


ONE = {"q": {"a": 1.0}}
TWO = [ONE, ONE]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fuse([ONE]), "at least two runs, got 1"),
        (lambda: fuse(TWO, "rff"), "unknown fusion method 'rff'\nhint: did you mean 'rrf'"),
        (lambda: fuse(TWO, norm="minmax"), "unknown normalisation 'minmax'"),
        (lambda: fuse(TWO, weights=[1, 2]), "rrf takes no weights"),
        (lambda: fuse(TWO, "wsum", weights=[1]), "1 weights for 2 runs"),
        (lambda: fuse(TWO, "wsum", weights=[0, 0]), "not all zero, got 0, 0"),
        (lambda: fuse(TWO, "posfuse"), "posfuse needs training judgments"),
        (lambda: fuse(TWO, "rbc", phi=2), "invalid phi=2 for rbc\nhint: a number from 0 to 1"),
        (lambda: fuse(TWO, "rrf", phi=2), "unknown parameter 'phi' for rrf\nhint: available: k"),
        (lambda: fuse(TWO, "sum", depth=0), "depth must be a positive integer, got 0"),
        (lambda: fuse(TWO, params={"k": 2}), "no parameter 'params'\nhint: pass parameters by name"),
        (lambda: tune(TWO, "sum", qrels={"q": {"a": 1}, "p": {"a": 1}}, folds=2), "nothing to tune"),
        (lambda: tune(TWO, qrels={"q": {"a": 1}}), "cannot split 1 queries into 5 folds"),
        (lambda: tune(TWO, qrels=ONE, measures="AP RR"), "optimises one measure, got AP, RR"),
        (lambda: tune(TWO), "tuning needs judgments"),
    ],
)  # fmt: skip
def test_bad_arguments_are_reported(call: Callable[[], object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()


@pytest.mark.parametrize("name", ["metric", "metrics", "measure"])
def test_names_of_other_tools_get_a_hint(name: str) -> None:
    with pytest.raises(UsageError, match=rf"no parameter '{name}'\nhint: use measures="):
        tune(TWO, "wsum", qrels=ONE, **{name: "ndcg@10"})
    with pytest.raises(UsageError, match=rf"no parameter '{name}'\nhint: tune\(.*measures="):
        fuse(TWO, **{name: "ndcg@10"})
    with pytest.raises(UsageError, match=r"no parameter 'fold'\nhint: did you mean folds="):
        tune(TWO, qrels=ONE, fold=2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda qrels, runs: tune(qrels, runs), "method must be a string, not list"),
        (lambda qrels, runs: fuse(qrels, runs), "method must be a string, not list"),
        (lambda qrels, runs: tune(qrels, qrels=runs), "runs and qrels look swapped"),
        (lambda qrels, runs: tune(qrels, qrels=dict(zip("abc", runs, strict=True))), "swapped"),
        (lambda qrels, runs: fuse(qrels, "posfuse", qrels=runs), "runs and qrels look swapped"),
    ],
)
def test_swapped_runs_and_judgments_are_noticed(
    call: Callable[[object, object], object], words: str
) -> None:
    qrels, runs = random_collection()
    with pytest.raises(
        UsageError, match=words + r".*\nhint: (tune|fuse)\(runs, method, norm, qrels="
    ):
        call(qrels, runs)


def test_fuse_and_tune_take_arguments_in_the_same_order() -> None:
    fuse_names, tune_names = (list(inspect.signature(f).parameters) for f in (fuse, tune))
    assert fuse_names[:4] == tune_names[:4] == ["runs", "method", "norm", "qrels"]
    shared = [name for name in fuse_names if name in tune_names]
    assert shared == [name for name in tune_names if name in fuse_names]


def test_every_form_of_runs_and_judgments(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    qrels, runs = random_collection(queries=5)
    expected = fuse(runs, "rrf").to_dict()
    rows = [[(q, d, s) for q, docs in run.items() for d, s in docs.items()] for run in runs]
    paths = [tmp_path / f"{i}.run" for i in range(len(runs))]
    for path, lines in zip(paths, rows, strict=True):
        path.write_text("".join(f"{q} Q0 {d} 0 {s!r} x\n" for q, d, s in lines))
    judgments = [(q, d, g) for q, docs in qrels.items() for d, g in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in judgments))
    frames = [pd.DataFrame(lines, columns=["query", "doc", "score"]) for lines in rows]
    forms = [
        paths, list(map(str, paths)), tuple(paths), {p.stem: p for p in paths},
        {f"run{i}": lines for i, lines in enumerate(rows)}, rows, frames, [gg.Run(run) for run in runs],
        {"a": runs[0], "b": paths[1], "c": frames[2]},
    ]  # fmt: skip
    for form in forms:
        assert fuse(form, "rrf").to_dict() == expected
    best = tune(runs, qrels=qrels).best
    frame = pd.DataFrame(judgments, columns=["query", "doc", "gain"])
    for form in (
        tmp_path / "qrels.txt",
        str(tmp_path / "qrels.txt"),
        judgments,
        frame,
        gg.Qrels(qrels),
    ):
        assert tune(paths, qrels=form).best == best


def test_tuning_and_comparing_follow_the_direction_of_the_measure() -> None:
    qrels, runs = random_collection(queries=12)
    unjudged = gg.parse("Unjudged@10").with_direction("lower")
    tuned = tune(runs, qrels=qrels, measures=unjudged)
    assert tuned.measure.lower_is_better
    assert tuned.training_mean == min(
        gg.evaluate(qrels, fuse(runs, "wsum", weights=w), unjudged)["Unjudged@10"]
        for w in weight_grid(3)
    )
    assert [m.direction for m in gg.compare(tuned).measures] == ["lower"]


def test_tuned_results_are_frozen() -> None:
    qrels, runs = random_collection(queries=5)
    tuned = tune(runs, qrels=qrels, measures=["nDCG@10"])
    with pytest.raises(AttributeError):
        tuned.measure = "AP"  # type: ignore[misc]


def test_duplicate_documents_and_invalid_scores_are_errors() -> None:
    with pytest.raises(InputError, match="duplicate document 'a' for query 'q'"):
        fuse([[("q", "a", 1.0), ("q", "a", 2.0)], {"q": {"a": 1.0}}])
    with pytest.raises(InputError, match="not a finite number"):
        fuse([{"q": {"a": float("nan")}}, {"q": {"a": 1.0}}])


def test_weight_grid_sums_to_one_and_stays_small() -> None:
    for runs in range(2, 9):
        grid = weight_grid(runs)
        assert len(grid) <= 300
        assert all(sum(weights) == pytest.approx(1) for weights in grid)
    assert len(weight_grid(2)) == 11
    assert weight_grid(2)[0] == (0.5, 0.5)


@pytest.mark.parametrize("method", ["wsum", "rrf", "posfuse"])
def test_tuning_scores_each_query_by_a_setting_chosen_without_it(method: str) -> None:
    qrels, runs = random_collection(7, queries=20)
    names = {"good": runs[0], "fair": runs[1], "poor": runs[2]}
    tuned = tune(names, method, qrels=qrels, measures="nDCG@10", folds=4)
    assert set(tuned.held_out) == set(qrels)
    assert sum(fold.held_out_queries for fold in tuned.folds) == 20
    assert tuned.training_mean >= tuned.held_out_mean - 0.05
    own = gg.evaluate(qrels, tuned.run, "nDCG@10")["nDCG@10"]
    assert own == pytest.approx(tuned.training_mean)
    assert "held out" in str(tuned)
    comparison = gg.compare(tuned)
    assert comparison.systems == ("good", "fair", "poor", f"{method} (held out)")


def test_tuning_gives_the_better_run_more_weight() -> None:
    qrels, runs = random_collection(9, queries=20)
    rng = random.Random(0)
    noise = {q: {d: rng.random() for d in docs} for q, docs in runs[0].items()}
    tuned = tune([runs[0], noise], "wsum", qrels=qrels, measures="nDCG@10")
    assert tuned.best.weights is not None
    assert tuned.best.weights[0] > tuned.best.weights[1]


# --- ids ---


class Name(str, enum.Enum):  # noqa: UP042 - str() of a StrEnum is its value
    A = "a"


@pytest.mark.parametrize(
    ("run", "message"),
    [([(None, "a", 1.0)], "the query id None must be text or an integer"),
     ([("q", 1.0, 1.0)], "the document id 1.0 must be text or an integer"),
     ({b"q": {"a": 1.0}}, "the query id b'q' must be text or an integer"),
     ({True: {"a": 1.0}}, "the query id True must be text or an integer"),
     ({"q": {"1": 1.0, 2: 2.0}}, "document ids mix text and integers: 2 is an integer"),
     ([("q", "a", 1.0), (1, "a", 1.0)], "query ids mix text and integers: 1 is an integer")],
)  # fmt: skip
def test_ids_are_those_of_evaluation(run: object, message: str) -> None:
    """Made text, None and 1.0 would be ids that nobody wrote."""
    for read in (
        lambda: gg.fuse([run, run]),
        lambda: gg.Run(run).to_dict(),
        lambda: gg.evaluate({"q": {"a": 1}}, run, "RR"),
    ):
        with pytest.raises(InputError, match=message):
            read()


def test_ids_that_are_kinds_of_text_and_integers() -> None:
    assert gg.fuse([{"q": {Name.A: 1.0}}] * 2).to_dict().keys() == {"q"}
    assert [*gg.fuse([{"q": {Name.A: 1.0}}] * 2).to_dict()["q"]] == ["a"]
    assert gg.Run({7: {8: 1.0}}).to_dict() == {"7": {"8": 1.0}}


def one_run(query: str = "{}", doc: str = "{}") -> dict[str, dict[str, float]]:
    return {
        query.format(q): {doc.format(10 * q + d): 1.0 / d for d in range(1, 9)} for q in range(1, 6)
    }


@pytest.mark.parametrize(
    ("other", "message"),
    [(one_run("q{}"), "b: ignoring what is around them ('q' before, '' after), 5 of 5 unmatched queries "
      "(100%) would match: this run has 'q1', the other runs have '1'"),
     (one_run("x{}y"), "b: ignoring what is around them ('x' before, 'y' after), 5 of 5 unmatched queries"),
     (one_run(doc="doc:{}"), "b: ignoring what is around them ('doc:' before, '' after), 40 of 40 unmatched"),
     (one_run(doc="1{}"), "b: none of the 40 documents of 5 queries is in the other runs: for query '1' it "
      "has '111', they have '11'"),
     ({"other": {"11": 1.0}}, "b: none of its 1 queries is in the other runs: it has 'other', they have")],
)  # fmt: skip
def test_runs_that_have_nothing_in_common(other: object, message: str) -> None:
    with pytest.warns(UserWarning, match=re.escape(message)):
        gg.fuse({"a": one_run(), "b": other})


def test_runs_that_differ_are_no_reason_for_a_warning() -> None:
    gg.fuse([one_run(), {"1": {"11": 1.0}}, {"2": {"99": 1.0}}, one_run()])
    gg.fuse([{"q": {"a": 1.0}}, {"q": {"b": 1.0}}])  # few documents
