"""The headline of a page: true whatever the result."""

from __future__ import annotations

import pytest
from page_results import calibration, comparison, evaluation

import goodgain
from goodgain import Evaluation, Run
from goodgain.errors import UsageError
from goodgain.reports.contents import gather_contents
from goodgain.reports.elements import Text
from goodgain.reports.headline import headlines


def headline(*results, **options) -> str:
    (spans,) = headlines(gather_contents(results, **options))
    return Text(spans).text


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
    text = headline(comparison())
    means = f"nDCG@10 {pair.mean:.3f} vs {pair.baseline_mean:.3f}"
    assert text.startswith(f"hybrid is better than bm25: {means}")
    span = f"95% interval {pair.low:+.3f} to {pair.high:+.3f}"
    assert f"({pair.difference:+.3f}, {span}, corrected p < 0.0001) on 40 queries" in text
    slower = 1000 * comparison()["hybrid", "Latency"].difference
    assert f"; it is {slower:.0f} ms slower." in text
    assert text.endswith("dense shows no significant difference from bm25.")


def test_nothing_significant_is_said_to_be_so():
    text = headline(goodgain.compare(scored(old=GOOD, new=SAME)))
    assert text.startswith("No system is significantly better than old by nDCG@10 (new")
    assert "with 30 queries the test has 80% power to detect a difference of" in text


def test_what_another_measure_shows_is_headline():
    scores = {
        name: {
            "Hit@1": {f"q{i}": float(i % 2) for i in range(30)},
            "MRR": {f"q{i}": value for i, value in enumerate(values)},
        }
        for name, values in {"old": BAD, "new": GOOD}.items()
    }
    text = headline(goodgain.compare(scores))
    assert text.startswith("No system is significantly better than old by Hit@1 (")
    assert " new is better by another measure: MRR 0.528 vs 0.220 (" in text


def test_worse_systems():
    text = headline(goodgain.compare(scored(old=GOOD, new=BAD)))
    assert text.startswith("new is worse than old: nDCG@10 0.220 vs 0.528")
    assert "Every system" not in text
    text = headline(goodgain.compare(scored(old=GOOD, new=BAD, other=[v - 0.01 for v in BAD])))
    assert text.endswith("Every system is worse than the baseline.")


def test_the_others_are_counted():
    worse = [0.01 * (i % 3) for i in range(30)]
    text = headline(goodgain.compare(scored(old=BAD, new=GOOD, other=SAME, worse=worse)))
    assert text.endswith("Of the other 2 systems, 1 is also better and 1 is worse.")


def test_lower_can_be_better():
    text = headline(goodgain.compare(scored(old=GOOD, new=BAD), lower_is_better=["nDCG@10"]))
    assert text.startswith("new is better than old: nDCG@10 0.220 vs 0.528 (-0.308")


def test_without_a_baseline_nothing_is_tested():
    text = headline(evaluation())
    assert text.startswith("hybrid has the best nDCG@10: ") and ", followed by " in text
    assert text.endswith("Without a baseline, nothing was tested.")
    assert headline(evaluation(), baseline="dense").startswith("hybrid is better than dense: ")


def test_one_system_is_compared_with_nothing():
    one = goodgain.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    expected = "run reaches RR 1.000 on 1 query. There is no other system to compare it with."
    assert headline(one) == expected


def test_several_evaluations_are_compared_together():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(9)}
    one = goodgain.evaluate(qrels, {q: {"b": 2.0, "a": 1.0} for q in qrels}, "RR")
    other = goodgain.evaluate(qrels, {q: {"a": 2.0, "b": 1.0} for q in qrels}, "RR")
    contents = gather_contents([one, other])
    assert contents.systems == ("run#1", "run#2") and contents.baseline == "run#1"
    assert headline(one, other).startswith("run#2 is better than run#1: RR 1.000 vs 0.500")


def test_labels_against_people():
    assert headline(calibration()).startswith(
        "The judge agrees with people at a quadratic kappa of 0.8"
    )


def test_what_cannot_be_reported():
    with pytest.raises(UsageError, match="cannot report a dict"):
        gather_contents([{}])
    with pytest.raises(UsageError, match="no results to report"):
        gather_contents([])
    with pytest.raises(UsageError, match="a report can hold only one comparison"):
        gather_contents([comparison(), comparison()])
    with pytest.raises(UsageError, match="unknown baseline 'x'"):
        gather_contents([Evaluation.from_dict(evaluation().to_dict())], baseline="x")


def test_each_kind_of_result_has_its_sentence():
    texts = [Text(p).text for p in headlines(gather_contents([comparison(), calibration()]))]
    assert [t.split()[0] for t in texts] == ["hybrid", "The"]
    only_time = goodgain.evaluate(
        {"q": {"a": 1}}, [Run({"q": {"a": 1.0}}, latency={"q": 1})], "Latency"
    )
    assert headline(only_time) == "Only time and cost were measured."
