"""goodgain.compat.pytrec_eval agrees with pytrec_eval, and BEIR's evaluator runs on it."""

from __future__ import annotations

import copy
import random
import sys

import pytest
from collections_ import collections
from hypothesis import assume, given
from hypothesis import strategies as st

import goodgain.compat.pytrec_eval as ours
from goodgain.errors import InputError

theirs = pytest.importorskip("pytrec_eval")

QRELS = {"q1": {"a": 1, "b": 0, "c": 2, "n": -1}, "q2": {"a": 0}, "q3": {"z": 1}}
RUN = {
    "q2": {"a": 1.0},
    "q1": {"a": 1.0, "b": 1.0, "zz": 0.5, "n": 2.0, "c": 0.1},
    "qx": {"a": 1.0},
}


def test_names():
    assert ours.supported_measures == theirs.supported_measures
    plain = {"official", "set", "all_trec"}
    assert ours.supported_nicknames == {
        name: members for name, members in theirs.supported_nicknames.items() if name in plain
    }
    assert set(theirs.supported_nicknames) - plain == {"prefs", "all_prefs", "qrels_jg"}


@given(
    collections(scores=(-1.5, 0.0, 1.0, 1.0 + 1e-9, 2.0)), st.sampled_from([1, 2, 3]), st.booleans()
)
def test_every_measure_of_random_collections(collection, level, judged_only):
    qrels = {q: {d: int(g) for d, g in docs.items()} for q, docs in collection.qrels().items()}
    assume(
        all(max(docs.values()) >= level - 1 for docs in qrels.values())
    )  # else it reads past its memory
    run = collection.run()
    expected = theirs.RelevanceEvaluator(
        qrels, theirs.supported_measures, level, judged_only
    ).evaluate(run)
    result = ours.RelevanceEvaluator(qrels, ours.supported_measures, level, judged_only).evaluate(
        run
    )
    assert list(result) == list(expected)
    for query, values in expected.items():
        assert list(result[query]) == list(values)
        assert result[query] == pytest.approx(values, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    "measures",
    [
        {"P_5", "P.10", "P_3,7"}, {"set_F.0.5"}, {"ndcg_cut_23.4"}, {"iprec_at_recall_0.25", "success_3"},
        {"relative_P_5", "Rprec_mult_0.3"}, {"official"}, ["map", "ndcg_cut.5,10", "recall_1000"], [],
        {"map", "runid", "relstring"},
    ],
    ids=lambda m: ",".join(sorted(m)) or "none",
)  # fmt: skip
def test_forms_of_measures(measures):
    assert ours.RelevanceEvaluator(QRELS, measures).evaluate(RUN) == theirs.RelevanceEvaluator(
        QRELS, measures
    ).evaluate(RUN)


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        ((QRELS, {"map"}), {}),
        ((QRELS, {"map"}), {"nobody": {"a": 1.0}}),
        (({}, {"map"}), RUN),
        (({"q1": {}}, {"map"}), RUN),
        ((QRELS, {"map"}), {"q1": {}}),
        ((QRELS, {"map"}), {"q1": {"a": 1}}),
    ],
)
def test_edges(arguments, run):
    assert ours.RelevanceEvaluator(*arguments).evaluate(run) == theirs.RelevanceEvaluator(
        *arguments
    ).evaluate(run)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda m: m.RelevanceEvaluator(QRELS, {"foo"}), ValueError),
        (lambda m: m.RelevanceEvaluator(QRELS, {"map"}, 0), TypeError),
        (lambda m: m.RelevanceEvaluator({"q": {"a": 1.5}}, {"map"}), TypeError),
        (lambda m: m.RelevanceEvaluator(QRELS, {"map"}).evaluate([("q1", "a", 1.0)]), TypeError),
    ],
)
def test_the_same_errors(make, error):
    # Where its constructor fails, pytrec_eval 0.5.11 crashes CPython 3.14.
    for module in (theirs, ours) if sys.version_info < (3, 14) else (ours,):
        with pytest.raises(error):
            make(module)


def test_what_it_lets_pass_and_we_do_not():
    with pytest.raises(
        InputError, match="the score nan of document 'a' for query 'q1' is not a finite number"
    ):
        ours.RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"a": float("nan")}})


def test_reading_and_averaging():
    qrels = ["q1 0 a 1\n", "q1 0 b -1\n", "q2 0 a 2\n"]
    run = ["q1 Q0 a 1 2.5 t\n", "q2\tQ0\tb\t1\t1e-3\tt\n"]
    assert ours.parse_qrel(qrels) == theirs.parse_qrel(qrels)
    assert ours.parse_run(run) == theirs.parse_run(run)
    for module in (ours, theirs):
        with pytest.raises(AssertionError):
            module.parse_run([*run, run[0]])
    for measure in ("map", "num_ret", "gm_map"):
        assert ours.compute_aggregated_measure(measure, [-1.0, 0.5]) == pytest.approx(
            theirs.compute_aggregated_measure(measure, [-1.0, 0.5])
        )


def test_beir_runs_unchanged_but_for_the_import():
    import sys

    if "beir_evaluation" not in sys.modules:
        pytest.skip("beir is not installed")
    rng = random.Random(3)
    docs = [f"d{i}" for i in range(200)] + ["q1", "q2"]
    run = {
        f"q{i}": {d: rng.choice([rng.random(), 0.5]) for d in rng.sample(docs, 120)}
        for i in range(20)
    }
    qrels = {
        f"q{i}": {d: rng.randint(0, 2) for d in [*rng.sample(docs, 30), "d0"]} for i in range(18)
    }
    for grades in qrels.values():
        grades["d0"] = 1
    run = {q: docs for q, docs in run.items() if q in qrels}
    results = []
    for name in ("beir_evaluation", "beir_evaluation_on_goodgain"):
        evaluator = sys.modules[name].EvaluateRetrieval(k_values=[1, 3, 10, 100])
        own = copy.deepcopy(run)
        result = evaluator.evaluate(qrels, own, evaluator.k_values)
        custom = [
            evaluator.evaluate_custom(qrels, own, [1, 10], m)
            for m in ("mrr", "r_cap", "hole", "acc")
        ]
        results.append((result, custom))
    assert results[0] == results[1]
    assert sys.modules["beir_evaluation_on_goodgain"].pytrec_eval is ours
