"""Good Gain against an independent one: pools, repeats, unread and failed searches, usage, no search."""

import copy
import math
import random

import pytest
from gain_reference import DrawnSearch, draw, expected

import goodgain as gg

SLACK = 1e-9


def close(x, y):
    return (x != x and y != y) or x == y or abs(x - y) <= 1e-12 * max(1, abs(y))


def measured(cases, **options):
    traces = [run.to_trace(case.gains) for case in cases for run in case.runs]
    labels = {case.runs[0].conversation: case.outside for case in cases if case.outside}
    return gg.good_gain(traces, labels=labels or None, **options)


def rows_of(result, case, run):
    """The rows of a run; unnamed repeats are numbered in order, past the names that are taken."""
    own = [r for r in case.runs if r.system == run.system]
    taken = {r.repeat for r in own if r.repeat}
    names, number = [], 0
    for r in own:
        if r.repeat is None:
            number += 1
            while str(number) in taken:
                number += 1
        names.append(r.repeat or str(number))
    place = next(i for i, r in enumerate(own) if r is run)
    return result[run.system].rows_of(run.conversation, names[place])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threshold", "unlabelled"), [(2, "unknown"), (2, "zero"), (1, "unknown"), (3, "zero")]
)
def test_values_and_bounds_by_set_arithmetic(threshold, unlabelled):
    chance = random.Random(threshold)
    cases = [draw(chance, number) for number in range(1_000)]
    result = measured(cases, threshold=threshold, unlabelled=unlabelled)
    compared = 0
    for case in cases:
        for run in case.runs:
            system = result[run.system]
            place = rows_of(result, case, run)
            rows, bounds = expected(case, run, threshold, unlabelled == "zero")
            values = system.values[place]
            assert len(values) == len(rows)
            for i, (row, limits) in enumerate(zip(rows, bounds, strict=True)):
                for m, value in row.items():
                    got = values[i, system.column(m)]
                    assert close(got, value), (m, i, got, value, run)
                    compared += 1
                for m, (low, high) in limits.items():
                    c = system.column(m)
                    assert low is None or close(system.lower[place][i, c], low), (m, i, run)
                    assert close(system.upper[place][i, c], high), (m, i, run)
    assert compared > 100_000


def completed(case, run, chance, complete):
    """The same runs with everything labelled, and the unread searches of one run read."""
    case = copy.deepcopy(case)
    own = next(r for r in case.runs if r.system == run.system and r.repeat == run.repeat)
    known = case.known()
    for name in case.gains:
        if name not in known:
            case.gains[name] = 0.0 if complete else float(chance.choice([0, 1, 2, 3, 4]))
    pool = sorted(n for n in known if case.gains[n] >= 2)
    for step in own.steps:
        for s in step.searches:
            if not s.unread:
                continue
            s.unread = False
            for number in range(chance.choice([0, 1, 2, 5, 40])):
                if complete:
                    name = chance.choice([*pool, *case.gains] if pool else list(case.gains))
                else:
                    name = chance.choice([*case.gains, f"new{number}", f"more{number}"])
                    case.gains.setdefault(name, float(chance.choice([0, 1, 2, 4, 4])))
                s.names.append(name)
    for each in case.runs:
        for step in each.steps:
            for s in step.searches:
                s.labelled = [True] * len(s.names)
    return case, own


@pytest.mark.slow
@pytest.mark.parametrize("unlabelled", ["unknown", "zero"])
@pytest.mark.parametrize(
    "settings", [{}, {"discount": "reciprocal", "gain": "exp"}, {"threshold": 1}]
)
def test_bounds_hold_whatever_was_unread(unlabelled, settings):
    chance = random.Random(9)
    complete = unlabelled == "zero"
    cases = [draw(chance, n, unread=0.35) for n in range(400)]
    for case in cases:  # distinct names, so that a run can be identified
        for place, run in enumerate(case.runs):
            run.repeat = f"r{place}"
    result = measured(cases, unlabelled=unlabelled, **settings)
    checked = 0
    for attempt in range(3):
        pairs = []
        for number, case in enumerate(cases):
            run = chance.choice(case.runs)
            full, own = completed(case, run, chance, complete)
            for each in full.runs:
                each.conversation = f"c{number}"
            pairs.append((case, run, full, own))
        complete_result = measured([p[2] for p in pairs], unlabelled=unlabelled, **settings)
        for case, run, _, _ in pairs:
            place = result[run.system].rows_of(run.conversation, run.repeat)
            read = complete_result[run.system]
            full_place = read.rows_of(run.conversation, run.repeat)
            system = result[run.system]
            low, high = system.lower[place], system.upper[place]
            values = read.values[full_place]
            for m in system.columns:
                if m in ("Coverage", "UnreadSearches", "EmptySearches"):
                    continue
                c = system.column(m)
                for i in range(len(values)):
                    if math.isnan(values[i, c]):
                        continue
                    if not math.isnan(low[i, c]):
                        assert low[i, c] - SLACK <= values[i, c], (m, i, attempt, run, case.gains)
                    if not math.isnan(high[i, c]):
                        assert values[i, c] <= high[i, c] + SLACK, (m, i, attempt, run, case.gains)
                    checked += not math.isnan(low[i, c])
    assert checked > 20_000


def test_the_lower_bound_is_that_of_an_unread_search_that_was_empty():
    chance = random.Random(2)
    for number in range(60):
        case = draw(chance, number, unread=0.5, labelled=1.0)
        case.runs = case.runs[:1]
        result = measured([case])
        read = copy.deepcopy(case)
        for step in read.runs[0].steps:
            for s in step.searches:
                s.unread = False
        again = measured([read])
        system, other = result.systems[0], again.systems[0]
        for m in ("CG", "DCG", "RG", "DRG", "GR@i", "GainPerCost"):
            c = system.column(m)
            assert system.lower[:, c].tolist() == pytest.approx(
                other.values[:, c].tolist(), nan_ok=True
            )


def test_repeats_are_averaged_within_a_conversation():
    chance = random.Random(8)
    cases = [draw(chance, n, unread=0.0, labelled=1.0) for n in range(200)]
    result = measured(cases)
    for system in result.systems:
        per_conversation: dict[str, list[float]] = {}
        for case in cases:
            for run in case.runs:
                if run.system == system.name:
                    rows, _ = expected(case, run, 2, False)
                    per_conversation.setdefault(run.conversation, []).append(rows[-1]["CG"])
        means = {c: math.fsum(v) / len(v) for c, v in per_conversation.items()}
        defined = [v for v in means.values() if v == v]
        figure = system.figure("CG")
        assert figure.n == len(defined)
        assert figure.value == pytest.approx(math.fsum(defined) / len(defined))
        assert system.final("CG") == pytest.approx({c: v for c, v in means.items() if v == v})


def test_the_order_of_the_input_changes_no_bit(tmp_path):
    chance = random.Random(3)
    cases = [draw(chance, n) for n in range(150)]
    traces = [(case, run.to_trace(case.gains)) for case in cases for run in case.runs]
    labels = {case.runs[0].conversation: case.outside for case in cases if case.outside}
    one = gg.good_gain([t for _, t in traces], labels=labels)
    for seed in range(3):
        shuffled = [t for _, t in traces]
        random.Random(seed).shuffle(shuffled)
        cut = chance.randrange(len(shuffled))
        paths = []
        for number, part in enumerate((shuffled[:cut], shuffled[cut:])):
            paths.append(tmp_path / f"{seed}-{number}.jsonl")
            paths[-1].write_text("".join(f"{gg.Trace.from_dict(t).to_json()}\n" for t in part))
        other = gg.good_gain(list(shuffled), labels=labels)
        split = gg.good_gain(paths, labels=labels, threads=2)
        for again in (other, split):
            for name in one.names:
                for align in ("active", "carry"):
                    for m in one[name].columns:
                        for i in (None, 1, 2, 4):
                            a, b = (x[name].figure(m, i, align) for x in (one, again))
                            assert repr(a) == repr(b), (name, m, i)
                assert one[name].counts() == again[name].counts()
            for budget in ("searches", "tokens"):
                for name in one.names:
                    assert one.budget_curve(budget, name) == again.budget_curve(budget, name)


def test_a_search_that_adds_nothing_known_still_lowers_rates():
    """One by hand: two iterations, the second unread."""
    case = draw(random.Random(1), 1)
    case.gains = {"a": 4.0, "b": 2.0, "c": 1.0}
    case.outside = {}
    case.runs = case.runs[:1]
    case.runs[0].steps = case.runs[0].steps[:0]
    from gain_reference import DrawnStep

    case.runs[0].steps += [
        DrawnStep([DrawnSearch(["a", "c"], [True, True])]),
        DrawnStep([DrawnSearch([], [], query="z", unread=True)]),
        DrawnStep([DrawnSearch(["b", "a"], [True, True], query="y")]),
    ]
    system = measured([case]).systems[0]

    def bounds(measure):
        c = system.column(measure)
        return list(zip(system.lower[:, c].tolist(), system.upper[:, c].tolist(), strict=True))

    inf = math.inf
    assert bounds("CG") == [(4, 4), (4, inf), (6, inf)]
    assert bounds("G") == [(4, 4), (0, inf), (0, 2)]
    assert bounds("RG") == [(4, 4), (2, inf), (2, inf)]
    assert bounds("EvidenceRecall") == [(0, 0.5), (0.5, 1), (1, 1)]
    assert bounds("WastedSearches") == [(0, 0), (0, 1), (0, 2)]
    assert bounds("IterationsForAllGoodResults") == [(1, 1), (1, 2), (2, 3)]
    r = system.values[:, system.column("R")].tolist()
    assert r[0] == 2 and r[1] != r[1] and r[2] == 2
    assert system.values[1:, system.column("SRE")].tolist() == pytest.approx(
        [math.nan] * 2, nan_ok=True
    )
