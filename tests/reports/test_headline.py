"""The sentence a manager reads: true whatever was found."""

from __future__ import annotations

import pytest
from materials import calibration, comparison, evaluation

import goodgain
from goodgain import Evaluation, Run
from goodgain.errors import UsageError
from goodgain.reports.contents import gather
from goodgain.reports.elements import Text
from goodgain.reports.headline import headlines


def said(*results, **options) -> str:
    (pieces,) = headlines(gather(results, **options))
    return Text(pieces).text


def scored(**systems: list[float]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        name: {"nDCG@10": {f"q{i}": v for i, v in enumerate(values)}}
        for name, values in systems.items()
    }


GOOD = [0.5 + 0.01 * (i % 7) for i in range(30)]
SAME = [0.5 + 0.01 * ((i * 3) % 7) for i in range(30)]
BAD = [0.2 + 0.01 * (i % 5) for i in range(30)]


def test_a_better_system_with_its_price():
    pair = comparison()["hybrid", "nDCG@10"]
    text = said(comparison())
    means = f"nDCG@10 {pair.mean:.3f} against {pair.baseline_mean:.3f}"
    assert text.startswith(f"hybrid is better than bm25: {means}")
    span = f"95% interval {pair.low:+.3f} to {pair.high:+.3f}"
    assert f"({pair.difference:+.3f}, {span}, corrected p < 0.0001), on 40 queries" in text
    slower = 1000 * comparison()["hybrid", "Latency"].difference
    assert f"; it is {slower:.0f} ms slower." in text
    assert text.endswith("dense is not told apart from bm25.")


def test_nothing_significant_is_said_to_be_so():
    text = said(goodgain.compare(scored(old=GOOD, new=SAME)))
    assert text.startswith("No system is shown to be better than old by nDCG@10 (new")
    assert "30 queries would show a difference of" in text


def test_what_another_measure_shows_is_said():
    scores = {
        name: {
            "Hit@1": {f"q{i}": float(i % 2) for i in range(30)},
            "MRR": {f"q{i}": value for i, value in enumerate(values)},
        }
        for name, values in {"old": BAD, "new": GOOD}.items()
    }
    text = said(goodgain.compare(scores))
    assert text.startswith("No system is shown to be better than old by Hit@1 (")
    assert " new is, by MRR 0.528 against 0.220 (" in text


def test_worse_systems():
    text = said(goodgain.compare(scored(old=GOOD, new=BAD)))
    assert text.startswith("new is worse than old: nDCG@10 0.220 against 0.528")
    assert "Every system" not in text
    text = said(goodgain.compare(scored(old=GOOD, new=BAD, other=[v - 0.01 for v in BAD])))
    assert text.endswith("Every system is worse than the baseline.")


def test_the_others_are_counted():
    worse = [0.01 * (i % 3) for i in range(30)]
    text = said(goodgain.compare(scored(old=BAD, new=GOOD, other=SAME, worse=worse)))
    assert text.endswith("Of the other 2 systems, 1 is better too, 1 is worse.")


def test_lower_can_be_better():
    text = said(goodgain.compare(scored(old=GOOD, new=BAD), lower_is_better=["nDCG@10"]))
    assert text.startswith("new is better than old: nDCG@10 0.220 against 0.528 (-0.308")


def test_without_a_baseline_nothing_is_tested():
    text = said(evaluation())
    assert text.startswith("hybrid has the best nDCG@10: ") and "before" in text
    assert text.endswith("No baseline was named, so nothing is tested.")
    assert said(evaluation(), baseline="dense").startswith("hybrid is better than dense: ")


def test_one_system_is_compared_with_nothing():
    one = goodgain.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    assert said(one) == "run reaches RR 1.000 on 1 query. There is nothing to compare it with."


def test_several_evaluations_are_compared_together():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(9)}
    one = goodgain.evaluate(qrels, {q: {"b": 2.0, "a": 1.0} for q in qrels}, "RR")
    other = goodgain.evaluate(qrels, {q: {"a": 2.0, "b": 1.0} for q in qrels}, "RR")
    found = gather([one, other])
    assert found.systems == ("run", "run#2") and found.baseline == "run"
    assert said(one, other).startswith("run#2 is better than run: RR 1.000 against 0.500")


def test_labels_against_people():
    assert said(calibration()).startswith("Labels and people agree with a quadratic kappa of 0.8")


def test_what_cannot_be_reported():
    with pytest.raises(UsageError, match="a dict cannot be reported"):
        gather([{}])
    with pytest.raises(UsageError, match="there is nothing to report"):
        gather([])
    with pytest.raises(UsageError, match="a page holds one comparison"):
        gather([comparison(), comparison()])
    with pytest.raises(UsageError, match="there is no system 'x' to be the baseline"):
        gather([Evaluation.from_dict(evaluation().to_dict())], baseline="x")


def test_each_kind_of_result_has_its_sentence():
    texts = [Text(p).text for p in headlines(gather([comparison(), calibration()]))]
    assert [t.split()[0] for t in texts] == ["hybrid", "Labels"]
    only_time = goodgain.evaluate(
        {"q": {"a": 1}}, [Run({"q": {"a": 1.0}}, latency={"q": 1})], "Latency"
    )
    assert said(only_time) == "Nothing was measured but time and cost."
