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
from stopping_cases import ONE, TWO, A, B, search, step, trace
from test_gain_reference import completed, measured, rows_of

import goodgain as gg
from goodgain.agentic.oracle import oracle_curve
from goodgain.agentic.replay import UNKNOWN, Replay
from goodgain.agentic.rules import COSTS

CASES = int(os.environ.get("GOODGAIN_CONVERSATIONS", "300"))  # `make soak`: thousands
RULES = (
    "after 1", "after 2", "after 4", "stale 1", "stale 2", "quiet 1", "quiet 2", "quiet 3", "tokens 2",
    "tokens 40", "cost 3", "seconds 2.5",
)  # fmt: skip
COMBINED = ("after 2 or stale 1", "after 2 and stale 1", "quiet 2 or tokens 40 and after 2")


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
