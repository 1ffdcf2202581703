"""Against pytrec_eval (trec_eval 9): 1e-12, with 32-bit scores and its rounding of recall points."""

from __future__ import annotations

import math

import pytest
import pytrec_eval
from collections_ import collections
from hypothesis import given
from hypothesis import strategies as st

from goodgain import evaluate, parse

# Ours -> theirs. IPrec and AP11 round as trec_eval 9 does; SetF's number is beta squared there.
PAIRS = {
    "AP": "map", "RR": "recip_rank", "Bpref": "bpref", "infAP": "infAP", "Rprec": "Rprec",
    "nDCG": "ndcg", "Rndcg": "Rndcg", "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F",
    "SetAP": "set_map", "NumRet": "num_ret", "NumRel": "num_rel", "NumRelRet": "num_rel_ret",
    "NumQ": "num_q", "AP11(rounding=up)": "11pt_avg",
    **{f"P@{k}": f"P_{k}" for k in (1, 2, 3, 5, 10)},
    **{f"R@{k}": f"recall_{k}" for k in (1, 2, 3, 5, 10)},
    **{f"R_cap@{k}": f"relative_P_{k}" for k in (1, 2, 3, 5, 10)},
    **{f"nDCG@{k}": f"ndcg_cut_{k}" for k in (1, 2, 3, 5, 10)},
    **{f"AP@{k}": f"map_cut_{k}" for k in (1, 2, 3, 5, 10)},
    **{f"Hit@{k}": f"success_{k}" for k in (1, 2, 3, 5, 10)},
    **{f"IPrec(rounding=up)@{r / 10:g}": f"iprec_at_recall_{r / 10:.2f}" for r in range(11)},
}  # fmt: skip
GRADED = {"nDCG", "Rndcg", *(f"nDCG@{k}" for k in (1, 2, 3, 5, 10)), "NumRet", "NumQ"}
ASKED = {
    "map", "recip_rank", "bpref", "infAP", "Rprec", "ndcg", "Rndcg", "set_P", "set_recall", "set_F",
    "set_map", "num_ret", "num_rel", "num_rel_ret", "num_q", "11pt_avg", "iprec_at_recall", "gm_map",
    *(f"{m}.1,2,3,5,10" for m in ("P", "recall", "relative_P", "ndcg_cut", "map_cut", "success")),
}  # fmt: skip


def peer(qrels, run, level=1):
    return pytrec_eval.RelevanceEvaluator(qrels, ASKED, relevance_level=level).evaluate(run)


def at_level(label, level):
    """The same measure with rel=level; graded ones have no level."""
    if level == 1 or label in GRADED:
        return label
    name, at, cutoff = label.partition("@")
    if name.endswith(")"):
        return f"{name.replace('(', f'(rel={level}, ')}{at}{cutoff}"
    return f"{name}(rel={level}){at}{cutoff}"


def check(collection, level=1, **policy):
    qrels, run = collection.qrels(), collection.run()
    theirs = peer(qrels, run, level)
    labels = [at_level(label, level) for label in PAIRS]
    ours = evaluate(qrels, run, labels, missing="skip", scores="single", **policy)["run"].per_query
    assert set(ours) == set(theirs)
    wrong = [
        f"{q} {label}: {ours[q][label]} for {theirs[q][name]}"
        for q in ours
        for label, name in zip(labels, PAIRS.values(), strict=True)
        if not math.isclose(ours[q][label], theirs[q][name], rel_tol=1e-12, abs_tol=1e-12)
    ]
    assert not wrong, "\n".join(wrong)


def has_grade(collection, level):
    """trec_eval reads past its arrays where no grade reaches the level, or all are negative."""
    return all(
        max(i.gains.values(), default=level) >= level for i in collection.queries.values() if i.rows
    )


# One document is always judged 2, so that trec_eval has a level to count.
@st.composite
def judged_collections(draw, **options):
    collection = draw(collections(**options))
    for item in collection.queries.values():
        if item.rows and max(item.gains.values()) < 2:
            doc = item.rows[0][0]
            item.rows[0] = (doc, 2, None, None)
    return collection


@given(judged_collections(max_docs=13))
def test_all_measures(collection):
    check(collection)


@given(judged_collections(max_docs=13))
def test_relevance_level_two(collection):
    assert has_grade(collection, 2)
    check(collection, level=2)


@given(judged_collections(max_docs=13, scores=(1.0, 1.0 + 1e-9, 1.0 - 1e-9, 2.0)))
def test_near_ties_are_ties_in_32_bits(collection):
    check(collection)


@given(judged_collections(max_docs=13))
def test_lists_of_judged_documents_only(collection):
    """unjudged=remove is trec_eval's -J, but for negative grades, which are judgements here."""
    qrels, run = collection.qrels(), collection.run()
    for q, docs in qrels.items():
        qrels[q] = {d: max(g, 0) for d, g in docs.items()}
    condensed = {
        q: {d: s for d, s in docs.items() if d in qrels.get(q, {})} for q, docs in run.items()
    }
    theirs = peer(qrels, {q: docs for q, docs in condensed.items() if docs})
    ours = evaluate(qrels, run, "AP nDCG@5 P@5 NumRet", unjudged="remove", scores="single")["run"]
    for q, found in theirs.items():
        values = ours.per_query[q]
        for label, name in {
            "AP": "map",
            "nDCG@5": "ndcg_cut_5",
            "P@5": "P_5",
            "NumRet": "num_ret",
        }.items():
            assert values[label] == pytest.approx(found[name], abs=1e-12), (q, label)


@given(judged_collections(max_docs=8))
def test_geometric_mean(collection):
    qrels, run = collection.qrels(), collection.run()
    logs = [found["gm_map"] for found in peer(qrels, run).values()]
    ours = evaluate(qrels, run, "GMAP", preset="trec_eval9")
    assert ours["GMAP"] == pytest.approx(math.exp(math.fsum(logs) / len(logs)), rel=1e-12)


@given(judged_collections(max_docs=8), st.sampled_from([0.25, 1.0, 2.0, 4.0]))
def test_set_f_takes_beta_not_its_square(collection, squared):
    qrels, run = collection.qrels(), collection.run()
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {f"set_F.{squared}"}).evaluate(run)
    measures = [parse("SetF")(beta=squared**0.5), parse(f"set_F.{squared}")]
    ours = evaluate(qrels, run, measures, preset="trec_eval9")["run"].per_query
    for q, found in theirs.items():
        for m in measures:
            assert ours[q][m.label] == pytest.approx(found["set_F"], abs=1e-12)


def test_scores_single_changes_the_order():
    """1 + 1e-9 is 1 in 32 bits: the tie goes to the larger id."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    assert evaluate(qrels, run, "RR")["RR"] == 1
    assert evaluate(qrels, run, "RR", scores="single")["RR"] == 0.5
    assert peer(qrels, run)["q"]["recip_rank"] == 0.5
