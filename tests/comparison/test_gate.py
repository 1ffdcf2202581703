"""The gate, and its pytest fixture."""

import math
from importlib.metadata import entry_points

import numpy as np
import pytest
from statsmodels.stats.weightstats import ttost_paired

import goodgain as gg
from goodgain.comparison import gate
from goodgain.errors import UsageError

pytest_plugins = ["pytester"]
RNG = np.random.default_rng(8)
QUERIES = [f"q{i}" for i in range(100)]
BASE = dict(zip(QUERIES, RNG.uniform(0.3, 0.7, 100).tolist(), strict=True))
NOISE = RNG.normal(0, 0.02, 100).tolist()


def shifted(by: float) -> dict[str, dict[str, dict[str, float]]]:
    new = {q: v + by + e for (q, v), e in zip(BASE.items(), NOISE, strict=True)}
    return {"new": {"AP": new}}


OLD = {"old": {"AP": BASE}}


def test_passes_where_worse_by_the_margin_is_rejected() -> None:
    found = gate(OLD, shifted(0), margin=0.01)
    assert found
    assert found.checks[0].verdict == "no worse"
    assert found.sentence.startswith("PASSED")
    new = list(shifted(0)["new"]["AP"].values())
    _, lower, _ = ttost_paired(np.array(new), np.array(list(BASE.values())), -0.01, 0.01)
    assert found.checks[0].p == pytest.approx(lower[1], rel=1e-9)


def test_fails_where_it_is_worse_and_names_the_queries() -> None:
    found = gate(OLD, shifted(-0.05), margin=0.01, worst=3)
    assert not found
    assert found.checks[0].verdict == "worse"
    assert len(found.losses) == 3
    assert found.losses[0].change <= found.losses[1].change < 0
    assert "is worse by more than 0.01" in found.sentence


def test_too_few_queries_do_not_pass_and_say_how_many_would() -> None:
    few = {"old": {"AP": dict(list(BASE.items())[:5])}}
    wild = {
        q: v + e
        for (q, v), e in zip(few["old"]["AP"].items(), (0.2, -0.2, 0.1, -0.1, 0.01), strict=True)
    }
    found = gate(few, {"new": {"AP": wild}}, margin=0.01)
    assert found.checks[0].verdict == "not shown"
    assert found.checks[0].queries_needed > 100
    assert "would)" in found.sentence


def test_every_measure_must_pass_and_each_has_its_margin() -> None:
    old = {"old": {"AP": BASE, "latency": BASE}}
    slow = {q: v * 1.2 for q, v in BASE.items()}
    new = {"new": {"AP": BASE, "latency": slow}}
    found = gate(old, new, margin={"AP": 0.01, "latency": "10%"})
    assert [c.passed for c in found.checks] == [True, False]
    assert found.checks[1].bound > found.checks[1].difference > 0
    assert gate(old, new, margin={"AP": 0.01, "latency": "30%"}).passed
    with pytest.raises(UsageError, match="no margin for latency"):
        gate(old, new, margin={"AP": 0.01})


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomisation", "bootstrap"])
def test_other_tests_and_identical_systems(test: str) -> None:
    assert gate(OLD, {"new": {"AP": BASE}}, test=test).passed
    assert gate(
        OLD, shifted(0.0), test=test, permutations=2000, bootstraps=2000, margin=0.02
    ).passed
    assert not gate(OLD, shifted(-0.05), test=test, permutations=2000, bootstraps=2000).passed
    one = gate({"a": {"m": {"q": 1.0}}}, {"b": {"m": {"q": 1.0}}}, test=test)
    assert one.checks[0].verdict == "not shown"  # one query shows nothing
    assert one.checks[0].bound is None


def test_systems_of_one_table_and_bad_use() -> None:
    table = {"a": {"m": BASE}, "b": {"m": BASE}, "c": {"m": BASE}}
    assert gate(table, baseline="a", candidate="c").candidate == "c"
    with pytest.raises(UsageError, match="one baseline with one candidate"):
        gate(table)
    with pytest.raises(UsageError, match="unknown system 'z'"):
        gate(table, baseline="a", candidate="z")
    with pytest.raises(UsageError, match="unknown test 'tukey'"):
        gate(table, baseline="a", candidate="b", test="tukey")
    with pytest.raises(UsageError, match="alpha"):
        gate(table, baseline="a", candidate="b", alpha=2)
    with pytest.raises(UsageError, match="is not a mean"):
        gate({"a": {"Latency": BASE}}, {"b": {"Latency": BASE}}, measures="Latency(stat=p95)")


def test_undefined_scores_are_named() -> None:
    new = {**shifted(0)["new"]["AP"], "q7": math.nan}
    found = gate(OLD, {"new": {"AP": new}})
    assert "q7 (undefined in new)" in found.notes[0]
    assert "q7" in found.render("markdown")


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "tsv", "json", "jsonl"])
def test_renders(form: str) -> None:
    assert "worse" in gate(OLD, shifted(-0.05)).render(form)


def test_gate_of_evaluations() -> None:
    qrels = {q: {"d": 1} for q in QUERIES}
    run = {q: {"d": 1.0, "x": 0.5} for q in QUERIES}
    worse = {q: {"d": 1.0, "x": 1.5} for q in QUERIES}
    result = gg.evaluate(qrels, {"old": run, "new": worse}, "RR")
    assert not gg.gate(result).passed


def test_the_pytest_fixture(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        QRELS = {f"q{i}": {"d": 1} for i in range(20)}
        GOOD = {q: {"d": 1.0, "x": 0.5} for q in QRELS}
        POOR = {q: {"d": 1.0, "x": 1.5} for q in QRELS}

        def test_holds(goodgain_gate):
            assert goodgain_gate(QRELS, GOOD, GOOD, measures="RR").passed

        def test_breaks(goodgain_gate):
            goodgain_gate(QRELS, GOOD, POOR, measures="RR")
        """
    )
    # An installed goodgain brings the fixture by itself; a source tree on the path has to be told.
    installed = [e for e in entry_points(group="pytest11") if e.name == "goodgain"]
    told = () if installed else ("-p", "goodgain.pytest_plugin")
    done = pytester.runpytest_inprocess(*told, "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        ["*FAILED: candidate against baseline: RR is worse by more than 0.01.*"]
    )
