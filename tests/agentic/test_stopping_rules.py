"""Stopping rules by hand: what each rule, function and combination of them does, and what is refused."""

from __future__ import annotations

import json
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stopping_cases import ONE, TWO, A, B, C, D, search, step, trace

import goodgain as gg
from goodgain.agentic.replay import UNKNOWN
from goodgain.agentic.rules import StopRule
from goodgain.errors import InputError, UsageError

CASES = int(os.environ.get("GOODGAIN_CONVERSATIONS", "300"))  # `make soak`: thousands
RULES = (
    "after 1", "after 2", "after 4", "stale 1", "stale 2", "quiet 1", "quiet 2", "quiet 3", "tokens 2",
    "tokens 40", "cost 3", "seconds 2.5",
)  # fmt: skip
COMBINED = ("after 2 or stale 1", "after 2 and stale 1", "quiet 2 or tokens 40 and after 2")


# --- by hand ---


@pytest.mark.parametrize(
    ("rule", "stops", "kept", "saved"),
    [
        ("after 1", (1, 1), 7 / 9, (4 / 6, 40 / 100)),
        ("after 3", (3, 1), 1, (2 / 6, 10 / 100)),
        ("stale 1", (4, 1), 1, (1 / 6, 5 / 100)),
        ("stale 2", (5, 1), 1, (0, 0)),
        ("quiet 1", (2, 1), 7 / 9, (3 / 6, 20 / 100)),
        ("quiet 2", (5, 1), 1, (0, 0)),
        ("tokens 30", (2, 1), 7 / 9, (3 / 6, 20 / 100)),
        ("tokens 31", (3, 1), 1, (2 / 6, 10 / 100)),
        ("quiet 1 and after 3", (4, 1), 1, (1 / 6, 5 / 100)),
        ("after 4 or quiet 1", (2, 1), 7 / 9, (3 / 6, 20 / 100)),
        ("stale 1 and (quiet 1 or after 5)", (4, 1), 1, (1 / 6, 5 / 100)),
        ("AFTER 3 Or Tokens 1,000", (3, 1), 1, (2 / 6, 10 / 100)),
    ],
)
def test_by_hand(rule, stops, kept, saved):
    outcome = gg.stopping([ONE, TWO], rule).outcomes[0]
    assert outcome.stops == stops
    assert outcome.retained.value == pytest.approx(kept)
    assert outcome.saved["searches"].value == pytest.approx(saved[0])
    assert outcome.saved["tokens"].value == pytest.approx(saved[1])
    assert outcome.is_oracle == ("quiet" in rule)
    for cost in ("seconds", "cost"):  # nobody recorded them
        assert math.isnan(outcome.saved[cost].value) and math.isnan(outcome.saved[cost].lower)


def test_parallel_searches_are_not_split():
    traces = [trace("c", step(search(A), search(B)), step(search(D), search(A)), step(search(C)))]
    assert gg.stopping(traces, "after 1").outcomes[0].stops == (1,)
    assert gg.stopping(traces, "after 3").outcomes[0].stops == (2,)
    assert gg.stopping(traces, "quiet 2").outcomes[0].stops == (2,)  # both of the second iteration
    assert gg.stopping(traces, "quiet 3").outcomes[0].stops == (3,)


def test_failed_and_empty_searches_bring_nothing_new():
    traces = [trace("c", step(search(A)), step(search(error="timed out")), step(search()))]
    assert gg.stopping(traces, ["stale 1", "stale 2"]).outcome("stale 2").stops == (3,)
    assert gg.stopping(traces, "stale 1").outcomes[0].stops == (2,)


def test_a_conversation_without_a_search_loses_and_saves_nothing():
    outcome = gg.stopping([ONE, trace("none")], "after 1").outcomes[0]
    assert outcome.stops == (1, 0)
    assert outcome.retained.value == pytest.approx(4 / 6) and outcome.retained.n == 2
    assert outcome.saved["tokens"].value == pytest.approx(0.8)


def test_repeats_count_as_one_conversation():
    short = trace("c1", step(search(A), tokens=10), repeat="2")
    outcome = gg.stopping([ONE | {"repeat": "1"}, short, TWO], "after 1").outcomes[0]
    assert outcome.retained.value == pytest.approx((4 / 2 + 4 / 2 + 3) / (6 / 2 + 4 / 2 + 3))
    assert outcome.saved["searches"].value == pytest.approx(1 - 2 / (5 / 2 + 1 / 2 + 1))
    assert outcome.retained.n == 2


def test_a_cost_that_is_not_known_everywhere_is_undefined():
    other = trace("c3", step(search(C)), step(search(B)))
    result = gg.stopping([ONE, TWO, other], ["after 1", "tokens 30"])
    assert math.isnan(result.outcome("after 1").saved["tokens"].value)
    assert result.outcome("after 1").saved["searches"].value == pytest.approx(5 / 8)
    assert any("tokens are not known in 1 of 3 conversations" in w for w in result.warnings())
    assert result.curve("tokens").points == () and result.curve("searches").points
    # Where it ends in c3 is not known, so the gain it keeps lies between stopping at once and never.
    budget = result.outcome("tokens 30")
    assert budget.stops == (2, 1, UNKNOWN) and budget.undecided == 1
    assert math.isnan(budget.retained.value)
    assert (budget.retained.lower, budget.retained.upper) == pytest.approx((10 / 14, 12 / 14))
    assert (budget.saved["searches"].lower, budget.saved["searches"].upper) == pytest.approx(
        (3 / 8, 4 / 8)
    )
    assert any("where 'tokens 30' stops is not known in 1 of 3" in w for w in result.warnings())


def test_a_budget_of_what_nobody_recorded_is_refused():
    with pytest.raises(InputError, match="do not record cost, so 'after 2 or cost 3' cannot be"):
        gg.stopping([ONE, TWO], "after 2 or cost 3")


def test_unread_searches_leave_bounds():
    unread = search(unread="the provider kept the results")
    traces = [trace("c", step(search(A)), step(unread), step(search(B)), step(search(C)))]
    result = gg.stopping(traces, ["after 1", "after 2", "after 3", "stale 1", "quiet 1"])
    bounds = {o.rule: (o.retained.lower, o.retained.upper) for o in result.outcomes}
    assert bounds["after 1"] == (0, 4 / 9)  # anything may come after it, or nothing
    assert bounds["after 2"] == (4 / 9, 1)
    assert bounds["after 3"] == (6 / 9, 1)
    # The unread search may have returned nothing, or news, or all that came later.
    assert result.outcome("stale 1").stops == (UNKNOWN,)
    assert bounds["stale 1"] == (4 / 9, 1)
    assert result.outcome("quiet 1").stops == (2,)  # as read
    assert any("1 searches are unread" in w for w in result.warnings())
    full = gg.good_gain(traces, labels={"c": {"z": 1}}, unlabelled="zero")
    zero = {o.rule: o.retained for o in gg.stopping(full, ["after 1", "after 2"]).outcomes}
    assert (zero["after 1"].lower, zero["after 1"].upper) == (4 / 9, 4 / 9)


def test_without_labels_nothing_is_claimed_about_the_gain():
    result = gg.stopping([trace("c", step(search(("a", None))), step(search(("b", None))))])
    assert not any(o.is_oracle for o in result.outcomes)
    outcome = result.outcome("after 1")
    assert math.isnan(outcome.retained.value)
    assert (outcome.retained.lower, outcome.retained.upper) == (0, 1)
    assert outcome.saved["searches"].value == 0.5
    assert "keeps 0.0 to 100.0 % of the gain for 50.0 % of the searches" in result.sentence(outcome)
    assert any("no result is known to be good" in w for w in result.warnings())


def test_no_losses_are_no_proof():
    traces = [trace(f"c{i}", step(search(A)), step(search(A))) for i in range(20)]
    result = gg.stopping(traces, "after 1")
    figure = result.outcomes[0].retained
    assert figure.value == 1 and math.isnan(figure.low)
    assert any(
        "none of 20 conversations loses gain under 'after 1'" in w for w in result.warnings()
    )
    assert any("up to 13.9 % of such conversations" in w for w in result.warnings())
    traces[0] = trace("c0", step(search(A)), step(search(B)))
    result = gg.stopping(traces, "after 1")
    assert result.outcomes[0].retained.low < 1
    assert not any("loses gain under" in w for w in result.warnings())


# --- functions ---


def test_a_function_sees_what_was_known_and_nothing_else():
    seen = []

    def rule(progress):
        seen.append(progress)
        return progress.iteration >= 2 and progress.new_results[-1] <= 1

    result = gg.stopping([ONE, TWO], {"mine": rule})
    assert result.outcomes[0].stops == (2, 1) and result.rules == ("mine",)
    assert not result.outcomes[0].is_oracle
    first = seen[1]
    assert (first.iteration, first.searches, first.tokens, first.cost) == (2, 2, 30, None)
    assert first.user == "?" and first.new_results == (1, 1)
    for progress in seen:
        for searches in progress.iterations:
            for one in searches:
                assert all(r.gain is None and r.result.gain is None for r in one.results)
                assert all(r.gain is None and not r.aspects for r in one.search.results)
    assert [[r.first for r in s.results] for i in first.iterations for s in i] == [
        [None],
        [0, None],
    ]


def test_functions_and_texts_combine():
    rule = StopRule("after 4") | (lambda progress: progress.tokens >= 30)
    assert gg.stopping([ONE, TWO], {"both": rule}).outcomes[0].stops == (2, 1)
    rule = StopRule("after 4") & (lambda progress: progress.tokens >= 30)
    assert gg.stopping([ONE, TWO], rule).outcomes[0].stops == (4, 1)
    with pytest.raises(UsageError, match="two stopping rules are called '<lambda>'"):
        gg.stopping([ONE], [lambda p: True, lambda p: False])


def test_a_function_that_fails_is_named_with_the_place():
    def broken(progress):
        return 1 / (2 - progress.iteration)

    with pytest.raises(UsageError, match="stopping rule 'broken' failed: ZeroDivisionError") as e:
        gg.stopping([ONE], broken)
    assert e.value.where == "conversation 'c1', iteration 2"


def test_a_function_lacks_unread_results():
    unread = search(unread="not kept")
    traces = [trace("c", step(search(A)), step(unread), step(search(B)), step(search(A)))]
    rule = {"mine": lambda progress: progress.new_results[-1] == 0}
    outcome = gg.stopping(traces, rule).outcomes[0]
    assert outcome.stops == (2,)
    assert outcome.saved["searches"].lower == 0 and outcome.saved["searches"].upper == 0.5


def test_functions_need_the_conversations(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(ONE) + "\n")
    gain = gg.good_gain(path)
    path.unlink()
    assert gg.stopping(gain, "after 1").outcomes[0].stops == (1,)
    with pytest.raises(InputError, match="cannot be read again"):
        gg.stopping(gain, lambda progress: True)


# --- the grammar ---


@pytest.mark.parametrize(
    ("rule", "message", "hint"),
    [
        ("quite 2", "unknown stopping rule 'quite'", "did you mean 'quiet'?"),
        ("searches 2", "unknown stopping rule 'searches'", "did you mean 'after'?"),
        ("after 2 or token 5", "unknown stopping rule 'token' in 'after 2 or token 5'", "tokens"),
        ("nonsense", "unknown stopping rule 'nonsense'", "rules: after N, stale N, quiet N"),
        ("after", "'after' needs a positive number, got nothing", "after 2"),
        ("after two", "'after' needs a positive number, got 'two'", "after 2"),
        ("after 0", "needs a positive number, got '0'", ""),
        ("tokens inf", "needs a positive number, got 'inf'", ""),
        ("tokens nan", "needs a positive number, got 'nan'", ""),
        ("after 1.5", "'after' needs a whole number of searches, got '1.5'", ""),
        ("after 2 stale 1", "unexpected 'stale'", "'or' or 'and'"),
        ("(after 2", "unbalanced parenthesis", ""),
        ("after 2)", "unexpected ')'", ""),
        ("after 2 or", "ends too early", "rules:"),
        ("", "stopping rule '' is empty", "rules:"),
    ],
)
def test_bad_rules(rule, message, hint):
    with pytest.raises(UsageError) as caught:
        gg.stopping([ONE], rule)
    assert message in caught.value.message and hint in caught.value.hint


def test_other_bad_arguments():
    with pytest.raises(UsageError, match="a int is not a stopping rule"):
        gg.stopping([ONE], [3])
    with pytest.raises(UsageError, match="no stopping rules"):
        gg.stopping([ONE], [])
    with pytest.raises(UsageError, match="has no parameter 'labels'"):
        gg.stopping(gg.good_gain([ONE]), labels={})
    with pytest.raises(UsageError, match="confidence must be between 0 and 1"):
        gg.stopping([ONE], confidence=95)
    assert gg.stopping([ONE], ["after 2", "after 2"]).rules == ("after 2",)


@given(st.data())
def test_the_text_of_a_rule_parses_to_the_same_rule(data):
    atoms = st.builds(
        "{} {}".format,
        st.sampled_from(["after", "stale", "quiet", "tokens", "cost"]),
        st.integers(1, 99),
    )
    joined = st.recursive(
        atoms, lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["or", "and"]), inner)
    )  # fmt: skip
    rule = StopRule(data.draw(joined))
    assert StopRule(rule.name).condition == rule.condition
