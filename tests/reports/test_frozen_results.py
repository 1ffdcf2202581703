"""Results are really frozen: no attribute can be set, replaced or deleted."""

from __future__ import annotations

import pytest
import sample_results

import goodgain as gg


@pytest.fixture(scope="module")
def every_result(tmp_path_factory):
    results = sample_results.every_result(tmp_path_factory.mktemp("results"))
    results["RunScores"] = results["Evaluation"].runs[0]
    results["SystemGain"] = results["GoodGain"].systems[0]
    results["Pair"] = results["Comparison"].pairs[0]
    results["Check"] = results["Gate"].checks[0]
    results["Measure"] = gg.parse("nDCG@10")
    results["Definition"] = gg.parse("nDCG@10").definition
    results["Policy"] = results["Evaluation"].policy
    results["Qrels"] = gg.Qrels({"q": {"a": 1}})
    results["Run"] = gg.Run({"q": {"a": 1.0}})
    results["Power"] = gg.power(sd=0.2, queries=50)
    return results


NAMES = (
    "Calibration", "Check", "Comparison", "Definition", "Difference", "Evaluation", "ExperimentResult",
    "Explanation", "GSB", "Gate", "GoodGain", "Labels", "Measure", "Pair", "Policy", "Power", "Qrels",
    "Run", "RunScores", "Stopping", "SystemGain", "Tuned",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_results_are_frozen(every_result, name):
    assert set(every_result) == set(NAMES)
    result = every_result[name]
    public = [n for n in dir(type(result)) if not n.startswith("_")]
    public += [n for n in getattr(result, "__dict__", {}) if not n.startswith("_")]
    data = [n for n in public if not callable(getattr(type(result), n, None))]
    assert data, name
    for attribute in (*data, "something_new"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(result, attribute, None)


def test_a_run_is_not_renamed_by_an_evaluation():
    run = gg.Run({"q": {"a": 1.0}}, name="mine")
    result = gg.evaluate({"q": {"a": 1}}, {"old": run, "new": run}, "AP")
    assert result.names == ("old", "new") and run.name == "mine"
    assert gg.evaluate({"q": {"a": 1}}, [run, run], "AP").names == ("mine#1", "mine#2")
    assert run.name == "mine"
