"""goodgain.compat.ir_measures agrees with ir_measures."""

from __future__ import annotations

import warnings

import pytest
from collections_ import collections
from hypothesis import assume, given

import goodgain.compat.ir_measures as ours
from goodgain.errors import MeasureError

theirs = pytest.importorskip("ir_measures")

TEXTS = (
    "nDCG", "nDCG@3", "nDCG(judged_only=True)@2", "AP", "AP(rel=2)",
    "AP(judged_only=True)@2", "MAP@3", "RR", "RR@2", "MRR(rel=2)", "P@3", "P(rel=2,judged_only=True)@2",
    "R@3", "Success@1", "Rprec", "IPrec@0.2", "IPrec(rel=2)@0.5", "Bpref", "Bpref(rel=2)", "infAP",
    "SetP", "SetRelP", "SetP(rel=2)", "SetR", "SetF", "SetF(beta=0.5)", "SetAP", "RBP(rel=1)",
    "RBP(p=0.5,rel=2)", "Judged@2", "Judged", "NumQ", "NumRel", "NumRet", "NumRelRet", "NumRet(rel=2)",
)  # fmt: skip
JUDGED_ONLY = tuple(text for text in TEXTS if "judged_only" in text)
ALL = tuple(text for text in TEXTS if "judged_only" not in text)


def _theirs(qrels, run, texts):
    """Separate calls without and with judged_only: ir_measures may take NumRet from either, by set order."""
    return theirs.calc_aggregate([theirs.parse_measure(text) for text in texts], qrels, run)


@given(collections(scores=(-1.0, 0.5, 1.0, 1.0 + 1e-9, 2.0)))
def test_numbers(collection):
    qrels = {q: {d: int(g) for d, g in docs.items()} for q, docs in collection.qrels().items()}
    run = collection.run()
    assume(set(qrels) & set(run))
    assume(all(max(docs.values()) >= 1 for docs in qrels.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {**_theirs(qrels, run, JUDGED_ONLY), **_theirs(qrels, run, ALL)}
        per_query = list(theirs.iter_calc([theirs.AP, theirs.RR @ 3], qrels, run))
    result = ours.calc_aggregate(TEXTS, qrels, run)
    assert {repr(m) for m in result} == {repr(m) for m in expected}
    by_text = {repr(m): v for m, v in result.items()}
    for measure, value in expected.items():
        assert by_text[repr(measure)] == pytest.approx(value, abs=1e-9, nan_ok=True), measure
    own = {
        (m.query_id, repr(m.measure)): m.value
        for m in ours.iter_calc([ours.AP, ours.RR @ 3], qrels, run)
    }
    assert own == pytest.approx(
        {(m.query_id, repr(m.measure)): m.value for m in per_query}, abs=1e-12
    )


@given(collections())
def test_gains(collection):
    """A separate call: with another nDCG@3, ir_measures returns 0 for one of the two, by set order."""
    qrels = {q: {d: int(g) for d, g in docs.items()} for q, docs in collection.qrels().items()}
    run = collection.run()
    assume(set(qrels) & set(run))
    assume(all(max(docs.values()) >= 1 for docs in qrels.values()))
    text = "nDCG(gains={1:5,2:9})@3"
    expected = theirs.calc_aggregate([theirs.parse_measure(text)], qrels, run)
    assert ours.calc_aggregate([text], qrels, run)[ours.parse_measure(text)] == pytest.approx(
        next(iter(expected.values())), abs=1e-9
    )


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text):
    assert repr(ours.parse_measure(text)) == repr(theirs.parse_measure(text))


@pytest.mark.parametrize(
    "name", ["official", "ndcg_cut_10", "P.5,10", "map", "iprec_at_recall", "set_F_0.5"]
)
def test_names_of_trec_eval(name):
    assert [repr(m) for m in ours.parse_trec_measure(name)] == [
        repr(m) for m in theirs.parse_trec_measure(name)
    ]


def test_inputs(tmp_path):
    pd = pytest.importorskip("pandas")
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n")
    (tmp_path / "run").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n2 Q0 c 1 1 x\n")
    qrels, run = (
        list(ours.read_trec_qrels(str(tmp_path / "qrels"))),
        list(ours.read_trec_run(str(tmp_path / "run"))),
    )
    assert qrels[0] == ours.Qrel("1", "a", 1, "0")
    expected = {ours.AP: 0.75}
    assert ours.calc_aggregate([ours.AP], qrels, run) == expected
    assert ours.calc_aggregate([ours.AP], iter(qrels), iter(run)) == expected  # read once
    assert ours.calc_aggregate([ours.AP], pd.DataFrame(qrels), pd.DataFrame(run)) == expected
    prepared = ours.evaluator([ours.AP, "nDCG@10"], qrels)
    assert prepared.calc_aggregate(run) == prepared.calc_aggregate(run)
    assert ours.AP.calc_aggregate(qrels, run) == 0.75
    assert ours.AP.calc(qrels, run).aggregated == 0.75


def test_unknown():
    with pytest.raises(NameError, match="measure not found: Foo"):
        ours.parse_measure("Foo@3")
    with pytest.raises(NameError, match="measure not found: BPM; goodgain does not compute it"):
        ours.parse_measure("BPM")
    with pytest.raises(MeasureError, match="unknown parameter 'foo' for AP"):
        ours.AP(foo=1)
    with pytest.raises(ValueError, match="problem parsing measure"):
        ours.parse_measure("AP(")
    with pytest.raises(MeasureError, match="missing cutoff for P"):
        ours.calc_aggregate([ours.P], {"q": {"a": 1}}, {"q": {"a": 1.0}})
