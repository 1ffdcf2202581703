"""What opens a page: the verdict card or a sentence, true whatever the result."""

from __future__ import annotations

import pytest
from page_results import calibration, comparison, evaluation

import goodgain
from goodgain import Evaluation, Run
from goodgain.errors import UsageError
from goodgain.reports.card import opening
from goodgain.reports.contents import gather_contents


def opened(*results, **options) -> str:
    """What opens a page, as text: a line for each thing that it says."""
    return opening(gather_contents(results, **options)).text


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
    text = opened(comparison())
    assert text.startswith("better: hybrid is better than bm25 by nDCG@10\n")
    means = f"nDCG@10 {pair.mean:.3f} vs {pair.baseline_mean:.3f}: {pair.difference:+.3f}"
    span = f"95% interval {pair.low:+.3f} to {pair.high:+.3f}"
    assert f"{means}, {span}, corrected p < 0.0001, on 40 queries\n" in text
    slower = 1000 * comparison()["hybrid", "Latency"].difference
    assert f" ms ({slower:.0f} ms slower)" in text
    assert "others: dense shows no significant difference from bm25\n" in text
    assert f"look at the {pair.losses} queries on which it is worse" in text


def test_no_evidence_is_not_a_tie():
    rough = [0.45 + 0.4 * ((i * 7) % 5 - 2) / 2 for i in range(30)]
    text = opened(goodgain.compare(scored(old=GOOD, new=rough)))
    assert text.startswith("not enough evidence: new is not shown to be better or worse than old")
    assert "next: add about " in text and " queries to show" in text
    text = opened(goodgain.compare(scored(old=GOOD, new=SAME)))
    assert text.startswith("tied: new and old are tied by nDCG@10: less than 0.010 apart\n")


def test_what_another_measure_shows_is_the_caveat():
    scores = {
        name: {
            "Hit@1": {f"q{i}": float(i % 2) for i in range(30)},
            "MRR": {f"q{i}": value for i, value in enumerate(values)},
        }
        for name, values in {"old": BAD, "new": GOOD}.items()
    }
    text = opened(goodgain.compare(scores))
    assert "caveat: by MRR it is better: 0.528 vs 0.220, corrected p < 0.0001" in text


def test_worse_systems():
    text = opened(goodgain.compare(scored(old=GOOD, new=BAD)))
    assert text.startswith("worse: new is worse than old by nDCG@10\n")
    assert "nDCG@10 0.220 vs 0.528" in text and "next: keep old" in text
    text = opened(goodgain.compare(scored(old=GOOD, new=BAD, other=[v - 0.01 for v in BAD])))
    assert text.startswith("worse: new is worse than old")
    assert "others: other is worse than old" in text


def test_the_others_are_counted():
    worse = [0.01 * (i % 3) for i in range(30)]
    text = opened(goodgain.compare(scored(old=BAD, new=GOOD, other=SAME, worse=worse)))
    assert "others: of the other 2 systems, 1 is also better and 1 is worse\n" in text


def test_lower_can_be_better():
    text = opened(goodgain.compare(scored(old=GOOD, new=BAD), lower_is_better=["nDCG@10"]))
    assert text.startswith("better: new is better than old by nDCG@10\n")
    assert "nDCG@10 0.220 vs 0.528, lower is better: -0.308" in text


def test_without_a_baseline_the_first_is_tested_against_the_second():
    text = opened(evaluation())
    assert text.startswith("better: hybrid is better than dense by nDCG@10\n")
    pairs = goodgain.compare(evaluation(), measures="nDCG@10", baseline="all")
    p = pairs["hybrid", "nDCG@10", "dense"].p_corrected
    assert f"corrected p = {p:.4f}" in text
    assert opened(evaluation(), baseline="bm25").startswith("better: hybrid is better than bm25")


def test_one_system_is_compared_with_nothing():
    one = goodgain.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    expected = "run reaches RR 1.000 on 1 query. There is no other system to compare it with."
    assert opened(one) == expected


def test_several_evaluations_are_compared_together():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(9)}
    one = goodgain.evaluate(qrels, {q: {"b": 2.0, "a": 1.0} for q in qrels}, "RR")
    other = goodgain.evaluate(qrels, {q: {"a": 2.0, "b": 1.0} for q in qrels}, "RR")
    contents = gather_contents([one, other])
    assert contents.systems == ("run#1", "run#2") and contents.baseline == "run#1"
    text = opened(one, other)
    assert text.startswith("better: run#2 is better than run#1 by RR\n")
    assert "RR 1.000 vs 0.500: +0.500" in text


def test_labels_against_people():
    assert opened(calibration()).startswith(
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
    text = opened(comparison(), calibration())
    assert text.startswith("better: hybrid ") and "\nThe judge agrees with people " in text
    only_time = goodgain.evaluate(
        {"q": {"a": 1}}, [Run({"q": {"a": 1.0}}, latency={"q": 1})], "Latency"
    )
    assert opened(only_time) == "Only time and cost were measured."
