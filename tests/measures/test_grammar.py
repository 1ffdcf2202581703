"""Measures as text: printing, aliases, other tools' names, and what is said about wrong ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from specs import ALL, label

import goodgain
from goodgain import parse
from goodgain.errors import MeasureError
from goodgain.measures import definitions, parse_all


def parts(m):
    return m.name, dict(m.params), m.cutoff


@pytest.mark.parametrize("text", [label(s) for s in ALL])
def test_printed_as_parsed(text):
    m = parse(text)
    assert m.label == str(m) == repr(m)
    assert parse(m.label) == m
    assert m.label.replace(" ", "") == text.replace(" ", "")


@given(st.data())
def test_every_printed_measure_parses_back(data):
    """Any measure with any parameters that it takes."""
    definition = data.draw(st.sampled_from(definitions("ranked", "cost")))
    m = getattr(goodgain.measures, definition.name)
    params = {}
    for p in definition.params:
        if not data.draw(st.booleans()):
            continue
        if p.choices:
            params[p.name] = data.draw(st.sampled_from(p.choices))
        elif isinstance(p.default, bool):
            params[p.name] = data.draw(st.booleans())
        else:
            low = p.low if p.low is not None else 0
            high = p.high if p.high is not None else 50
            params[p.name] = data.draw(
                st.floats(
                    low,
                    high,
                    exclude_min=p.open_low,
                    exclude_max=p.open_high,
                    allow_subnormal=False,
                )
            )
    m = m(**params)
    if definition.cutoff == "recall":
        m = m @ data.draw(st.floats(0, 1))
    elif definition.cutoff == "required" or (
        definition.cutoff == "optional" and data.draw(st.booleans())
    ):
        m = m @ data.draw(st.integers(1, 2**32 - 1))
    back = parse(m.label)
    assert parts(back) == parts(m)
    assert back.label == m.label


def test_python_and_text_agree():
    from goodgain.measures import nDCG

    assert nDCG(gain="exp") @ 10 == parse("nDCG(gain=exp)@10")
    assert str(nDCG(gain="exp") @ 10) == "nDCG(gain=exp)@10"
    assert goodgain.nDCG @ 5 == parse("nDCG@5")
    assert nDCG(gain="exp").get("ideal") == "judged"
    assert {nDCG @ 5: 1}[parse("nDCG@5")] == 1


@pytest.mark.parametrize(
    "text, name, params, cutoff",
    [
        ("MRR", "RR", {}, None), ("Recall@20", "R", {}, 20), ("MAP", "AP", {}, None),
        ("Success@5", "Hit", {}, 5), ("hit_rate@5", "Hit", {}, 5), ("NDCG@10", "nDCG", {}, 10),
        ("Precision@3", "P", {}, 3), ("F1@3", "F", {}, 3), ("RPrec", "Rprec", {}, None),
        ("BPref", "Bpref", {}, None), ("α_nDCG@5", "alpha_nDCG", {}, 5), ("MAP_IA", "AP_IA", {}, None),
        # trec_eval
        ("ndcg_cut_10", "nDCG", {}, 10), ("ndcg_cut.10", "nDCG", {}, 10), ("recip_rank", "RR", {}, None),
        ("P.10", "P", {}, 10), ("P_10", "P", {}, 10), ("map_cut_5", "AP", {}, 5), ("map", "AP", {}, None),
        ("recall_100", "R", {}, 100), ("success_1", "Hit", {}, 1), ("11pt_avg", "AP11", {}, None),
        ("iprec_at_recall_0.10", "IPrec", {}, 0.1), ("iprec_at_recall..10", "IPrec", {}, 0.1),
        ("set_F.0.25", "SetF", {"beta": 0.5}, None), ("relative_P_5", "R_cap", {}, 5),
        ("gm_map", "GMAP", {}, None), ("bpref", "Bpref", {}, None), ("num_q", "NumQ", {}, None),
        ("set_map", "SetAP", {}, None), ("unj_5", "Unjudged", {}, 5), ("Rndcg", "Rndcg", {}, None),
        ("infAP", "infAP", {}, None), ("ndcg", "nDCG", {}, None), ("rbp.p=0.5", "RBP", {"p": 0.5}, None),
        # ranx
        ("ndcg_burges@10", "nDCG", {"gain": "exp"}, 10), ("map@100-l2", "AP", {"rel": 2}, 100),
        ("rbp.95", "RBP", {"p": 0.95}, None), ("rbp@95", "RBP", {"p": 0.95}, None),
        ("r-precision", "Rprec", {}, None), ("mrr@10", "RR", {}, 10), ("map-l2", "AP", {"rel": 2}, None),
        # ir_measures
        ("nDCG(dcg='exp-log2')@10", "nDCG", {"gain": "exp"}, 10),
        ('nDCG(dcg="log2")@10', "nDCG", {"gain": "linear"}, 10), ("P(rel=2)@5", "P", {"rel": 2}, 5),
        # BEIR, torchmetrics, MTEB
        ("MRR@10", "RR", {}, 10), ("R_cap@100", "R_cap", {}, 100), ("ndcg_at_10", "nDCG", {}, 10),
        ("map_at_100", "AP", {}, 100), ("recall_at_5", "R", {}, 5), ("mrr_at_10", "RR", {}, 10),
        ("precision_at_1", "P", {}, 1),
    ],
)  # fmt: skip
def test_other_names(text, name, params, cutoff):
    m = parse(text)
    assert parts(m) == (name, params, cutoff)
    again = parse(m.label)
    assert (parts(again), again.label) == (parts(m), m.label)


@pytest.mark.parametrize(
    "text", ["MRR", "Recall@20", "ndcg_cut_10", "map@100-l2", "P.10", "F1", "rbp.95"]
)
def test_an_alias_is_printed_as_typed(text):
    assert str(parse(text)) == text


def test_lists_of_measures():
    assert [m.label for m in parse_all("nDCG@10 AP, RR,P@5")] == ["nDCG@10", "AP", "RR", "P@5"]
    assert [m.label for m in parse_all(["nDCG@10 AP", parse("RR"), "AP"])] == [
        "nDCG@10",
        "AP",
        "RR",
    ]
    assert [m.cutoff for m in parse_all("P.5,10")] == [5, 10]
    assert [m.label for m in parse_all("P.5,10")] == ["P_5", "P_10"]
    assert len(parse_all("ndcg_cut")) == 9
    assert [m.cutoff for m in parse_all("success")] == [1, 5, 10]
    assert len(parse_all("iprec_at_recall")) == 11
    assert [m.label for m in parse_all("nDCG(gain=exp, ideal=retrieved)@5 AP")] == [
        "nDCG(gain=exp, ideal=retrieved)@5", "AP",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text, near",
    [
        ("nDGC@10", "nDCG"),
        ("nDCG10", "did you mean nDCG@10?"),
        ("recall20", "did you mean recall@20?"),
        ("ndcg10", "did you mean ndcg@10?"),
        ("recal@5", "recall"),
        ("MPA", "MAP"),
        ("Bpreff", "Bpref"),
        ("hitrate@3", "hit_rate"),
    ],
)
def test_an_unknown_measure_names_the_nearest(text, near):
    with pytest.raises(MeasureError) as caught:
        parse(text)
    assert f"'{text}'" in caught.value.message
    assert near.casefold() in caught.value.hint.casefold()
    assert "goodgain measures" in caught.value.hint


@pytest.mark.parametrize(
    "text, message, hint",
    [
        ("nDCG@ten", "the cut-off of nDCG must be a positive integer, got 'ten'", "nDCG@10"),
        ("MAP@", "the cut-off of AP must be a positive integer, got ''", "AP@10"),
        ("P@-1", "the cut-off of P must be a positive integer, got '-1'", "P@10"),
        ("nDCG(gain=cubic)", "gain='cubic'", "linear, exp"),
        ("nDCG(grain=exp)", "no parameter 'grain'", "gain, ideal"),
        ("RBP(p=1)", "p='1'", "above 0 and below 1"),
        ("RBP(p=1.5)", "p='1.5'", "below 1"),
        ("RBP(p=abc)", "p='abc'", "number"),
        ("AP(rel=0)", "rel='0'", "above 0"),
        ("AP(rel=nan)", "rel='nan'", "number"),
        ("AP(rel=inf)", "rel='inf'", "number"),
        ("alpha_nDCG(alpha=2)@5", "alpha='2'", "up to 1"),
        ("P_IA", "needs a cut-off", "P_IA@10"),
        ("R_cap", "needs a cut-off", "R_cap@10"),
        ("IPrec", "needs a cut-off", "IPrec@0.5"),
        ("IPrec@1.5", "1.5", "IPrec@0.5"),
        ("P@0", "cut-off of P must be a positive integer, got 0", "P@10"),
        ("P@2.5", "2.5", "P@10"),
        ("P@5000000000", "5e+09", "P@10"),
        ("Rprec@5", "takes no cut-off", "Rprec"),
        ("AP(5)", "'5'", "name=value"),
        ("RDCGL(punish_max=maybe)", "punish_max='maybe'", "true or false"),
        ("", "no measure", "nDCG@10"),
        ("nDCG(gain=exp", "nDCG(gain=exp", ""),
    ],
)
def test_bad_measures(text, message, hint):
    with pytest.raises(MeasureError) as caught:
        parse(text)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_what_is_no_measure_at_all():
    with pytest.raises(MeasureError, match="expected a measure or its name, got 5"):
        parse_all([5])
    with pytest.raises(MeasureError, match="expected one measure, got 2"):
        parse("AP RR")
    with pytest.raises(AttributeError, match="no attribute 'nDGC'"):
        _ = goodgain.nDGC
    with pytest.raises(MeasureError, match="no parameter"):
        goodgain.nDCG(grain="exp")
