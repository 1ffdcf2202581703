"""Stopping rules against brute force: where runs end, what is kept and saved, bounds, the oracle."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import os
import random

import pytest
from gain_reference import draw, expected
from hypothesis import given
from hypothesis import strategies as st
from test_gain_reference import completed, measured, rows_of

import goodgain as gg
from goodgain.agentic.oracle import oracle_curve
from goodgain.agentic.replay import UNKNOWN, Replay
from goodgain.agentic.rules import COSTS, StopRule
from goodgain.errors import InputError, UsageError

CASES = int(os.environ.get("GOODGAIN_CONVERSATIONS", "300"))  # `make soak`: thousands
RULES = (
    "after 1", "after 2", "after 4", "stale 1", "stale 2", "quiet 1", "quiet 2", "quiet 3", "tokens 2",
    "tokens 40", "cost 3", "seconds 2.5",
)  # fmt: skip
COMBINED = ("after 2 or stale 1", "after 2 and stale 1", "quiet 2 or tokens 40 and after 2")


# --- by hand ---


def step(*searches, **usage):
    return {"searches": list(searches), **usage}


def search(*gains, **more):
    """Results named by letters: ("a", 3), or ("a", None) without a label."""
    results = [{"id": n} if g is None else {"id": n, "gain": g} for n, g in gains]
    return {"query": "q", "results": results, **more}


def trace(name, *steps, system="s", **more):
    turns = [{"user": "?", "iterations": list(steps)}]
    return {"conversation": name, "system": system, "turns": turns, **more}


A, B, C, D = ("a", 4), ("b", 2), ("c", 3), ("d", 1)
ONE = trace(
    "c1", step(search(A), tokens=10), step(search(A, D), tokens=20), step(search(B), tokens=10),
    step(search(A), tokens=5), step(search(B), tokens=5),
)  # fmt: skip
TWO = trace("c2", step(search(C), tokens=50))


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


# --- against brute force ---


def reference_stops(rows, rule):
    """All iterations at which a simple rule may stop, over everything that the rows leave open."""
    kind, number = rule.split()
    number = float(number)
    n = len(rows)
    if kind in ("after", "tokens", "cost", "seconds"):
        name = {"after": "Searches"}.get(kind, kind.capitalize())
        for i, row in enumerate(rows, 1):
            if row[name] != row[name]:
                return set(range(i, n + 1))
            if row[name] >= number:
                return {i}
        return {n}
    options = []
    for row in rows:
        count = row["GR" if kind == "quiet" else "UR"]
        options.append(
            [count > 0] if count == count else [False] if row["R"] == 0 else [True, False]
        )
    stops = set()
    for news in itertools.product(*options):
        silent, before = 0, 0
        for i, (row, fresh) in enumerate(zip(rows, news, strict=True), 1):
            silent = 0 if fresh else silent + row["Searches"] - before
            before = row["Searches"]
            if silent >= number or i == n:
                stops.add(i)
                break
    return stops


def without_search(run):
    return not any(step.searches for step in run.steps)


@pytest.mark.parametrize("unlabelled", ["unknown", "zero"])
def test_stops_and_shares_by_brute_force(unlabelled):
    chance = random.Random(5)
    cases = [draw(chance, number) for number in range(CASES)]
    gain = measured(cases, unlabelled=unlabelled)
    result = gg.stopping(gain, RULES, bootstraps=10)
    compared = 0
    for system in gain.systems:
        sums = {rule: dict.fromkeys(("CG", *map(str.capitalize, COSTS)), 0.0) for rule in RULES}
        full = dict.fromkeys(("CG", *map(str.capitalize, COSTS)), 0.0)
        undecided = dict.fromkeys(RULES, 0)
        for case in cases:
            own = [run for run in case.runs if run.system == system.name]
            for run in own:
                rows, _ = expected(case, run, 2, unlabelled == "zero")
                if without_search(run):
                    continue
                place = rows_of(gain, case, run)
                number = int((system.first_row <= place.start).sum()) - 1
                for name in full:
                    full[name] += rows[-1][name] / len(own)
                for rule in RULES:
                    stops = reference_stops(rows, rule)
                    got = result.outcome(rule, system.name).stops[number]
                    assert got == (stops.pop() if len(stops) == 1 else UNKNOWN), (rule, run)
                    compared += 1
                    undecided[rule] += got == UNKNOWN
                    for name in full:
                        sums[rule][name] += rows[got - 1][name] / len(own) if got > 0 else math.nan
        for rule in RULES:
            outcome = result.outcome(rule, system.name)
            assert outcome.undecided == undecided[rule]
            assert outcome.retained.value == pytest.approx(
                sums[rule]["CG"] / full["CG"], nan_ok=True
            )
            for cost in COSTS:
                name = cost.capitalize()
                saved = 1 - sums[rule][name] / full[name]
                assert outcome.saved[cost].value == pytest.approx(saved, nan_ok=True)
            ratio = outcome.retained
            if ratio.value == ratio.value:
                assert ratio.lower - 1e-12 <= ratio.value <= ratio.upper + 1e-12
    assert compared > 5 * CASES


def known_costs(chance, number, **options):
    """A conversation of one run with all costs known."""
    case = draw(chance, number, **options)
    case.runs = case.runs[:1]
    case.runs[0].repeat = None
    for step_ in case.runs[0].steps:
        step_.usage = {}
        for one in step_.searches:
            one.usage = {k: chance.choice([0, 1, 2.5, 40]) for k in ("tokens", "cost", "seconds")}
    return case


def test_figures_of_many_conversations_with_known_costs():
    """Sums over conversations, all costs: the same as one conversation at a time, added up."""
    chance = random.Random(6)
    cases = [known_costs(chance, n, unread=0, labelled=1.0) for n in range(CASES)]
    gain = measured(cases)
    result = gg.stopping(gain, [*RULES, *COMBINED], bootstraps=10)
    for system in gain.systems:
        own = [c for c in cases if c.runs[0].system == system.name]
        for rule in RULES:
            left = dict.fromkeys(("CG", "Searches", "Tokens", "Cost", "Seconds"), 0.0)
            whole = dict(left)
            for case in own:
                rows, _ = expected(case, case.runs[0], 2, False)
                if without_search(case.runs[0]):
                    continue
                (stop,) = reference_stops(rows, rule)
                for name in left:
                    left[name] += rows[stop - 1][name]
                    whole[name] += rows[-1][name]
            outcome = result.outcome(rule, system.name)
            assert outcome.retained.value == pytest.approx(left["CG"] / whole["CG"])
            for cost in COSTS:
                saved = 1 - left[cost.capitalize()] / whole[cost.capitalize()]
                assert outcome.saved[cost].value == pytest.approx(saved, abs=1e-12)
                assert outcome.saved[cost].lower == pytest.approx(saved, abs=1e-12)


@pytest.mark.parametrize("unlabelled", ["unknown", "zero"])
def test_bounds_hold_whatever_was_unread_or_unlabelled(unlabelled):
    chance = random.Random(9)
    rules = [r for r in RULES if r.split()[0] in ("after", "stale", "quiet")] + [
        "after 2 or stale 1"
    ]
    cases = [known_costs(chance, n, unread=0.3) for n in range(CASES)]
    checked = 0
    for start in range(0, CASES, 3):  # a few at a time: sums over many would hide an error
        group = cases[start : start + 3]
        options = {"unlabelled": unlabelled}
        names = {case.runs[0].system for case in group}
        before = gg.stopping(measured(group, **options), rules, bootstraps=1)
        for _ in range(4):
            full = [completed(c, c.runs[0], chance, unlabelled == "zero")[0] for c in group]
            after = gg.stopping(measured(full, **options), rules, bootstraps=1)
            for name in names:
                for rule in rules:
                    bounds, truth = before.outcome(rule, name), after.outcome(rule, name)
                    for a, b in (
                        (bounds.retained, truth.retained),
                        (bounds.saved["searches"], truth.saved["searches"]),
                        (bounds.saved["tokens"], truth.saved["tokens"]),
                    ):
                        if b.value == b.value:
                            assert a.lower - 1e-9 <= b.value <= a.upper + 1e-9, (rule, group, full)
                            checked += 1
    assert checked > 10 * CASES


def test_bounds_of_missing_labels_are_attained():
    """The lowest and the highest share over every way to label what has no label."""
    chance = random.Random(4)
    rules = ["after 1", "after 2", "stale 1", "quiet 1", "quiet 2", "quiet 1 or after 3"]
    attained = 0
    for number in range(CASES):
        case = known_costs(chance, number, unread=0, labelled=0.6)
        case.gains = {n: case.gains[n] for n in list(case.gains)[:3]}
        for one in (s for step_ in case.runs[0].steps for s in step_.searches):
            one.names = [n for n in one.names if n in case.gains]
            one.labelled = one.labelled[: len(one.names)]
        case.outside = {}
        open_names = sorted(case.returned() - case.known())
        if not open_names:
            continue
        before = gg.stopping(measured([case]), rules, bootstraps=1)
        shares = {rule: [] for rule in rules}
        for gains in itertools.product([0.0, 2.0, 4.0], repeat=len(open_names)):
            filled = dataclasses.replace(
                case, gains=case.gains | dict(zip(open_names, gains, strict=True))
            )
            filled = dataclasses.replace(filled, outside={n: filled.gains[n] for n in open_names})
            gain = measured([filled])
            full = gg.stopping(gain, rules, bootstraps=1)
            for rule in rules:
                shares[rule].append(full.outcomes[rules.index(rule)].retained.value)
        for rule in rules:
            defined = [x for x in shares[rule] if x == x]
            f = before.outcomes[rules.index(rule)].retained
            if defined:
                assert (f.lower, f.upper) == pytest.approx((min(defined), max(defined)))
                attained += 1
            else:
                assert math.isnan(f.lower) and math.isnan(f.upper)
    assert attained > CASES


# --- properties ---


@given(st.integers(0, 10**6))
def test_later_stops_keep_more_and_the_oracle_is_best(seed):
    chance = random.Random(seed)
    cases = [known_costs(chance, n, unread=0, labelled=1.0) for n in range(6)]
    gain = measured(cases)
    texts = [
        "after 1",
        "after 2",
        "after 3",
        "stale 1",
        "stale 2",
        "quiet 1",
        "quiet 2",
        "tokens 40",
    ]
    more = ["stale 1 or after 2", "stale 1 and after 2", "after 99"]
    result = gg.stopping(gain, texts + more, bootstraps=10)
    for name in result.names:
        share = {o.rule: o.retained.value for o in result.outcomes if o.system == name}
        stops = {o.rule: o.stops for o in result.outcomes if o.system == name}
        for early, late in (
            ("after 1", "after 2"), ("after 2", "after 3"), ("stale 1", "stale 2"), ("quiet 1", "quiet 2"),
            ("quiet 1", "stale 1"), ("quiet 2", "stale 2"), ("stale 1 or after 2", "stale 1"),
            ("stale 1", "stale 1 and after 2"), ("after 3", "after 99"),
        ):  # fmt: skip
            assert all(a <= b for a, b in zip(stops[early], stops[late], strict=True))
            assert not share[early] > share[late] + 1e-12
        for outcome in (o for o in result.outcomes if o.system == name):
            for cost in COSTS:
                spent = outcome.spent(cost).value
                if spent == spent and outcome.retained.value == outcome.retained.value:
                    assert outcome.retained.value <= result.curve(cost, name).at(spent) + 1e-9
                    assert 0 <= outcome.retained.value <= 1 and -1e-12 <= spent <= 1 + 1e-12
        ends = result.outcome("after 99", name)
        assert ends.early == 0
        if ends.retained.value == ends.retained.value:
            assert ends.retained.value == 1 and ends.saved["searches"].value == 0


@given(st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4),
    min_size=1, max_size=4,
))  # fmt: skip
def test_the_oracle_curve_by_trying_all_prefixes(increments):
    runs = []
    for steps in increments:
        cost = gain = 0
        runs.append([])
        for c, g in steps:
            cost, gain = cost + c, gain + g
            runs[-1].append((float(cost), float(gain)))
    all_cost, all_gain = (sum(run[-1][i] for run in runs) for i in (0, 1))
    curve = oracle_curve("s", "tokens", runs)
    if not all_cost or not all_gain:
        assert curve.points == () and math.isnan(curve.at(0.5))
        return
    choices = [
        (sum(c for c, _ in chosen), sum(g for _, g in chosen))
        for chosen in itertools.product(*([(0.0, 0.0), *run] for run in runs))
    ]
    for cost, gain in choices:  # nothing lies above the curve
        assert gain / all_gain <= curve.at(cost / all_cost) + 1e-9
    totals = {(c / all_cost, g / all_gain) for c, g in choices}
    for x, y, _ in curve.points:  # every point of it is a choice
        assert any(abs(x - c) < 1e-9 and abs(y - g) < 1e-9 for c, g in totals)
    for price in (0.0, 0.1, 0.4, 1.0, 1.7, 3.0, 10.0):  # and the best one for its prices
        best = max(g / all_gain - price * c / all_cost for c, g in choices)
        assert max(y - price * x for x, y, _ in curve.points) == pytest.approx(best)
    prices = [p for _, _, p in curve.points]
    assert prices == sorted(prices, reverse=True)
    assert curve.points[-1][1] == pytest.approx(1)


def test_the_replay_of_nothing():
    gain = gg.good_gain([trace("c")])
    assert gg.stopping(gain, "after 1").outcomes[0].stops == (0,)
    empty = gg.stopping([], "after 1")
    assert empty.outcomes == () and empty.warnings() == []


# --- the result ---


@pytest.fixture(scope="module")
def many():
    chance = random.Random(1)
    cases = [known_costs(chance, n, unread=0, labelled=1.0) for n in range(80)]
    return gg.stopping(measured(cases), ["after 1", "quiet 1", "tokens 40"])


def test_saved_and_loaded(many, tmp_path):
    many.save(tmp_path / "s.json")
    again = gg.load(tmp_path / "s.json")
    assert isinstance(again, gg.Stopping)
    assert again.to_dict() == many.to_dict()
    assert again.render() == many.render() and again.warnings() == many.warnings()
    with pytest.raises(AttributeError, match="frozen"):
        many.rules = ()


def test_rows_and_frames(many):
    columns, rows = many.rows()
    assert len(rows) == len(many.outcomes) * 5
    kept = [r for r in rows if r[columns.index("measure")] == "gain kept"]
    assert [r[columns.index("value")] for r in kept] == [o.retained.value for o in many.outcomes]
    lists = json.loads(many.render("json"))
    assert {r["measure"] for r in lists} == {"gain kept", *(f"{c} saved" for c in COSTS)}
    assert {r["oracle"] for r in lists if r["rule"] == "quiet 1"} == {True}
    assert many.to_pandas().shape == (len(rows), len(columns))
    columns, rows = many.rows(per_conversation=True)
    first = dict(zip(columns, rows[0], strict=True))
    assert first["stop"] <= first["iterations"] and first["gain"] <= first["full_gain"]


def test_intervals_hold_their_figures(many):
    for outcome in many.outcomes:
        for f in (outcome.retained, *outcome.saved.values()):
            assert math.isnan(f.low) or f.low - 1e-12 <= f.value <= f.high + 1e-12
        spent = outcome.spent("tokens")
        assert spent.value == 1 - outcome.saved["tokens"].value
    again = gg.stopping(
        gg.good_gain([ONE, TWO] + [trace(f"x{i}", step(search(A)), step(search(B))) for i in range(9)]),
        "after 1", seed=3,
    )  # fmt: skip
    same = dataclasses.asdict(again.outcomes[0].retained)
    assert same["low"] < same["value"] < same["high"]


def test_sentences(many):
    for sentence, outcome in zip(many.sentences(), many.outcomes, strict=True):
        assert f"'{outcome.rule}'" in sentence and "of the tokens" in sentence
        assert ("oracle" in sentence) == outcome.is_oracle


def test_the_replay_reads_no_rows_of_other_runs():
    """The last row of one run and the first of the next are apart, however many searches they have."""
    traces = [
        trace("c1", step(search(A)), step(search(A))),
        trace("c2", step(search(A)), step(search(A))),
    ]
    gain = gg.good_gain(traces)
    replay = Replay(gain.systems[0], gain.conversations)
    assert replay.searches_since(replay.news_of(True).as_read).tolist() == [0, 1, 0, 1]
