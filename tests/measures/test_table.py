"""Properties that hold for the whole table of measures, each tested once for all of them."""

from __future__ import annotations

import math

import pytest
from collections_ import collections
from hypothesis import given
from hypothesis import strategies as st
from specs import ALL, label

from goodgain import evaluate, measures, parse
from goodgain._core import CoreError, gain_columns, kernels, measure_list, option_names
from goodgain.compat import trec_measures
from goodgain.measures import definition_of, definitions

LABELS = [label(s) for s in ALL]
DEFINITIONS = definitions("ranked", "cost")
MEASURED = [d for d in DEFINITIONS if d.column is None]
# Divided by the best that could be had: the perfect ranking of all judged documents is 1.
PERFECT_IS_ONE = (
    "nDCG", "nDCG@1", "nDCG@3", "nDCG(gain=exp)@10", "nDCG(ideal=retrieved)@3", "Rndcg", "nERR",
    "nERR@3", "R", "R@100", "R_cap@1", "R_cap@3", "R_cap@100", "AP", "RR", "RR@1", "Hit@1", "Rprec",
    "IPrec@0", "IPrec@0.5", "IPrec@1", "AP11", "Bpref", "SetR", "Compat", "DR", "StRecall",
    "NRDCGL", "NRDCGL(gain=reference)", "PNRDCGL", "Judged@3", "alpha_nDCG", "nERR_IA", "AP_IA",
)  # fmt: skip
# A document at the end that nobody judged may lower these: they count the whole list.
WHOLE_LIST = {
    "SetP",
    "SetF",
    "SetAP",
    "F",
    "RDCGL",
    "NRDCGL",
    "PNRDCGL",
    "Judged",
    "Rndcg",
    "Accuracy",
}


def scores_of(collection, labels=LABELS, **policy):
    return evaluate(collection.qrels_rows(), collection.run_rows(), list(labels), **policy)["run"]


def same(a, b, tolerance=0.0):
    return (a != a and b != b) or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def is_effort(m):
    """What a C/W/L measure says of reading rather than of gain."""
    return m.get("expected") in ("cost", "total-cost", "items")


def limits(definition):
    """The range as numbers."""
    return definition.range.low, definition.range.high


# --- the table itself ---


def test_every_entry_has_a_kernel_and_every_kernel_an_entry():
    plain = set(trec_measures.PLAIN.values())
    of_trec_eval = {m.kernel for m in trec_measures.MEASURES} - {None} | plain
    assert {d.kernel for d in MEASURED} | of_trec_eval == set(kernels())
    assert all(d.kernel is None for d in DEFINITIONS if d.column is not None)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.name)
def test_entry_is_complete(definition):
    for text in (
        definition.summary,
        definition.formula,
        definition.edge_cases,
        definition.citation,
    ):
        assert text.strip()
    assert definition.summary.endswith(".")
    limits(definition)
    assert all(p.meaning for p in definition.params)


def test_names_are_unique():
    names = [n for d in DEFINITIONS for n in (d.name, *d.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.name)
def test_measures_are_attributes(definition):
    m = getattr(measures, definition.name)
    assert m.definition is definition
    assert str(m) == definition.name
    for alias in definition.aliases:
        assert getattr(measures, alias).definition is definition


# --- properties ---


@given(collections(max_docs=8))
def test_range_holds(collection):
    scores = scores_of(collection)
    for m in scores.measures:
        low, high = limits(m.definition)
        for v in scores.column(m):
            assert v != v or low - 1e-12 <= v <= high + 1e-12, (m.label, v)
        if m.name == "NRDCGL" and m.get("gain") == "documented":
            assert all(v <= 1 + 1e-12 for v in scores.column(m))


@given(collections(max_docs=8), st.randoms(use_true_random=False))
def test_order_of_rows_and_queries_does_not_matter(collection, random):
    first = scores_of(collection)
    qrels, run = collection.qrels_rows(), collection.run_rows()
    random.shuffle(qrels)
    random.shuffle(run)
    second = evaluate(qrels, run, LABELS)["run"]
    others, means = second.per_query, second.means
    for q, values in first.per_query.items():
        for name, v in values.items():
            assert same(v, others[q][name], 1e-14), (q, name)
    assert all(same(v, means[name], 1e-14) for name, v in first.means.items())


@given(
    collections(max_docs=8),
    st.sampled_from([lambda s: 3 * s + 7, math.exp, math.atan, lambda s: s**3]),
)
def test_monotone_transforms_of_scores_do_not_matter(collection, transform):
    first = scores_of(collection)
    for item in collection.queries.values():
        item.run = [(doc, transform(score)) for doc, score in item.run]
    second = scores_of(collection)
    for m in first.measures:
        assert all(map(same, first.column(m), second.column(m))), m.label


@given(collections(max_docs=8, max_queries=2))
def test_perfect_ranking_is_one(collection):
    for q, item in list(collection.queries.items()):
        if not item.rows or max(item.gains.values()) < 1:
            del collection.queries[q]
            continue
        by_gain = sorted(item.gains.items(), key=lambda pair: -pair[1])
        # Gains below rel=1 would be false positives of the loss measures.
        item.run = [(d, -float(i)) for i, (d, g) in enumerate(by_gain) if g >= 1]
    if collection.queries:
        scores = scores_of(collection, PERFECT_IS_ONE)
        for m in scores.measures:
            assert scores.column(m) == pytest.approx([1] * len(scores.queries), abs=1e-12), m.label


@given(collections(max_docs=6))
def test_unjudged_documents_at_the_end_never_raise(collection):
    before = scores_of(collection)
    for item in collection.queries.values():
        if item.run:
            item.run += [("unjudged-1", -8.0), ("unjudged-2", -9.0)]
    after = scores_of(collection)
    for m in before.measures:
        if (
            m.name in WHOLE_LIST | {"NumRet", "Unjudged", "RBP_resid"}
            or m.get("ideal") == "retrieved"
            or m.get("depth") == 0  # Compat: the overlap ends with the longer list
            or (m.name == "P" and (m.cutoff is None or m.get("denominator") == "returned"))
        ):
            continue
        for old, new in zip(before.column(m), after.column(m), strict=True):
            assert same(old, new, 1e-12), m.label
    for name in ("SetP", "SetF", "SetAP", "F", "RDCGL", "NRDCGL", "PNRDCGL"):
        pairs = zip(before.column(name), after.column(name), strict=True)
        assert all(new <= old + 1e-12 for old, new in pairs), name


def test_empty_list():
    """A judged query that the run lacks: 0, or what the table says."""
    qrels = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}}
    scores = evaluate(qrels, {"q2": {"a": 1.0}}, LABELS)["run"]
    found = scores.per_query["q1"]
    expected = {"NumQ": 1, "RBP_resid": 1, "Judged": math.nan, "Accuracy": math.nan}
    for m in scores.measures:
        v = found[m.label]
        if m.name in ("NumRel", "RDCGL", "NRDCGL") or is_effort(m):
            continue  # what is missing counts, and so does reading on in vain
        if m.name == "Unjudged":
            assert same(v, 0 if m.cutoff else math.nan), m.label
        else:
            assert same(v, expected.get(m.name, 0), 1e-15), m.label
    assert found["NumRel"] == 1
    assert found["NRDCGL"] == pytest.approx(-1)
    assert found["PNRDCGL"] == 0


def test_nothing_relevant_judged():
    qrels = {"q": {"a": 0, "b": -1}}
    scores = evaluate(qrels, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, LABELS)["run"]
    other = {"Judged", "Unjudged", "NumRet", "NumQ", "RBP_resid", "Accuracy"}
    for m in scores.measures:
        if m.name not in other and not is_effort(m):
            assert scores.column(m) == [0], m.label
    assert math.isnan(scores["Accuracy"])
    assert scores["Judged"] == pytest.approx(2 / 3)
    assert scores["RBP_resid(p=0.5)"] == pytest.approx(0.125 + 0.125)


# --- aggregation ---


def test_counts_are_summed_and_gmap_is_geometric():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    means = evaluate(qrels, run, "NumRet NumRel NumRelRet NumQ GMAP AP")["run"].means
    assert (means["NumRet"], means["NumRel"], means["NumRelRet"], means["NumQ"]) == (3, 2, 2, 2)
    assert means["GMAP"] == pytest.approx(math.sqrt(0.5))
    assert means["AP"] == 0.75
    none = evaluate({"q1": {"a": 1}}, {"q1": {"x": 1.0}}, "GMAP")
    assert none["GMAP"] == pytest.approx(0.00001)


def test_definition_of_any_name():
    assert definition_of("recip_rank").name == "RR"
    assert definition_of("nDCG@10").name == "nDCG"
    assert definition_of("P.10").name == "P"
    assert [d.name for d in definitions()[: len(DEFINITIONS)]] == [d.name for d in DEFINITIONS]
    assert parse("MAP").definition is definition_of("AP")


def test_the_core_has_its_names_from_the_registry():
    assert set(option_names()["measure"]) >= {
        name for d in DEFINITIONS for p in d.params if d.column is None for name in p.option_names()
    }
    assert [str(d.kernel) for d in definitions("agentic")] == list(gain_columns())


def test_the_core_refuses_an_option_it_does_not_know():
    with pytest.raises(CoreError, match="unknown option 'exp_gian' for kernel 'ndcg'"):
        measure_list([1.0], {"kernel": "ndcg", "exp_gian": True})
