"""Latencies against retrievers of known cost: percentiles, load, saturation, stalls, the control.

Arithmetic is tested with a clock that only moves when told to. Where real time passes, bounds from below are
exact (a sleep is never shorter) and those from above leave room for a busy machine.
"""

from __future__ import annotations

import json
import math
import os
import random
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest

import goodgain as gg
from goodgain.errors import UsageError
from goodgain.experiment import loops, timing
from goodgain.experiment.control import CALLS, PAIRS, control_queries, with_control
from goodgain.experiment.folder import Folder
from goodgain.experiment.loads import Load, OpenLoop, step_of
from goodgain.experiment.timing import Caller, Latencies, Outcome
from goodgain.stats.quantiles import percentile_interval, values_needed

DOCUMENTS = {f"d{i}": f"word{i}" for i in range(20)}
QUERIES = {f"q{i}": f"word{i}" for i in range(20)}
QRELS = {f"q{i}": {f"d{i}": 1} for i in range(20)}


def answer(query):
    return [f"d{query[4:]}", "d1"]


def experiment(systems, **options):
    return gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, measures="RR", **options)


# --- percentiles and their intervals ---


def test_intervals_of_percentiles_are_those_of_the_binomial():
    from scipy.stats import binom

    rng = random.Random(3)
    for n in (5, 6, 30, 71, 72, 100, 367, 368, 1500):
        values = [rng.random() for _ in range(n)]
        ordered = [-math.inf, *sorted(values), math.inf]
        for percent in (50, 95, 99):
            below = binom(n, percent / 100)
            low = max((k for k in range(1, n + 1) if below.cdf(k - 1) <= 0.025), default=0)
            high = min((k for k in range(1, n + 1) if below.cdf(k - 1) >= 0.975), default=n + 1)
            assert percentile_interval(values, percent) == (ordered[low], ordered[high])


@pytest.mark.parametrize(("percent", "needed"), [(50, 6), (95, 72), (99, 368)])
def test_too_few_values_leave_an_end_open(percent, needed):
    assert values_needed(percent) == needed
    assert percentile_interval(range(needed), percent)[1] < math.inf
    assert percentile_interval(range(needed - 1), percent)[1] == math.inf


def test_intervals_cover_the_percentiles_of_long_tails():
    rng = np.random.default_rng(8)
    true = {50: 1.0, 95: math.exp(1.5 * 1.6448536), 99: math.exp(1.5 * 2.3263479)}
    covered = dict.fromkeys(true, 0)
    for _ in range(400):
        values = rng.lognormal(0, 1.5, 500).tolist()
        for percent, quantile in true.items():
            low, high = percentile_interval(values, percent)
            covered[percent] += low <= quantile <= high
    assert all(count >= 0.93 * 400 for count in covered.values()), covered


def test_the_result_says_that_calls_are_too_few():
    few = experiment({"a": answer, "b": answer}).run()
    assert few.timings["a"].intervals["p99"][1] == math.inf
    assert "Too few calls for the upper end of an interval" in str(few)
    assert "p95 72, p99 368 calls are needed" in str(few)
    assert "p50 6" not in str(few)


# --- arrivals ---


class Clock:
    """Moves when somebody sleeps or works."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def served(due, cost, patience=1e9):
    """The record of one server that takes cost(number of the call) seconds for each call."""
    clock, number = Clock(), iter(range(len(due)))

    def call(query):
        start, seconds = clock.now, cost(next(number))
        clock.sleep(seconds)
        return Outcome([], start, seconds, "boom" if query == "bad" else "")

    loop = OpenLoop(call, due, ["q"] * len(due), patience, clock, clock.sleep)
    loop.begin()
    loop.work()
    calls = [[a.query, a.due, a.start, a.end, a.error, a.waited] for a in loop.calls]
    return {"rate": 100.0, "arrivals": "fixed", "planned": len(due), "calls": calls}


FIXED = Load(arrivals="fixed", seconds=10.0).times(100.0)


def test_arrivals_come_at_their_rate():
    assert pytest.approx([i / 100 for i in range(1000)]) == FIXED
    load = Load(seconds=100.0)
    times = load.times(50.0)
    assert len(times) == 5000
    assert times == load.times(50.0)
    gaps = np.diff(times)
    assert gaps.mean() == pytest.approx(1 / 50, rel=0.05)
    assert gaps.std() == pytest.approx(1 / 50, rel=0.1)  # exponential: as wide as its mean
    assert len(Load(seconds=1.0).times(0.5)) == 10


def test_latencies_are_exact_while_the_server_keeps_up():
    step = step_of("a", served(FIXED, lambda i: 0.002 if i % 10 else 0.008))
    assert (step.p50, step.p99) == pytest.approx((0.002, 0.008))
    assert step.mean == pytest.approx(0.0026)
    assert step.throughput == pytest.approx(100, rel=0.01)
    assert not step.saturated
    assert step.complete
    assert step.lag == pytest.approx(0)


def test_a_stall_delays_every_call_that_was_due_in_it():
    """One second of 10 at 100 calls a second: the calls of that second waited, half of them over 0.5 s."""
    step = step_of("a", served(FIXED, lambda i: 1.0 if i == 500 else 0.001))
    closed = Latencies.of([1.0 if i == 500 else 0.001 for i in range(1000)])
    assert closed.p99 == pytest.approx(
        0.001
    )  # what a client that waits for its answers would report
    # Calls 500 to 610 or so find a queue: call 500 + k waits for about 1 - 0.009 k seconds.
    waits = [max(0.001, 1.0 + 0.001 * k - 0.01 * k) for k in range(500)]
    expected = sorted([0.001] * 500 + waits)
    assert step.p99 == pytest.approx(
        expected[989] + 0.01 * (expected[990] - expected[989]), abs=1e-3
    )
    assert step.p99 > 0.9
    assert step.p95 > 0.5
    assert step.p50 == pytest.approx(0.001)
    assert not step.saturated  # the server caught up


def test_saturation():
    over = step_of("a", served(FIXED, lambda i: 0.02))  # 50 calls a second
    assert over.saturated
    assert over.throughput == pytest.approx(50, rel=0.02)
    assert over.p99 > 5  # the queue grows for ten seconds
    at = step_of("a", served(FIXED, lambda i: 0.0099))
    assert not at.saturated
    slow = step_of("a", served(FIXED, lambda i: 0.009))
    assert slow.p99 == pytest.approx(0.009)
    given_up = step_of("a", served(FIXED, lambda i: 0.1, patience=2.0))
    assert given_up.saturated
    assert not given_up.complete
    assert given_up.calls < 50
    failing = served(FIXED, lambda i: 0.001)
    for call in failing["calls"][::10]:
        call[4] = "shed"
    assert step_of("a", failing).saturated
    assert step_of("a", failing).failed == 100


def test_a_late_generator_is_said():
    record = served(FIXED, lambda i: 0.001)
    assert not step_of("a", record).is_late
    for call in record["calls"][::20]:
        call[2] += 0.05
        call[3] += 0.05
    assert step_of("a", record).is_late


def test_rates_until_saturation():
    load = Load(rates="saturation")
    steps = []

    def step(rate, saturated):
        record = served(FIXED[:20], lambda i: 0.001) | {"rate": rate}
        if saturated:
            record["planned"] = 30
        return step_of("a", record)

    assert load.next_rate(steps, 0.02) == 20
    assert load.next_rate(steps, 3.0) == 1
    for rate, then in ((20.0, 50), (50.0, 100), (100.0, 200)):
        steps.append(step(rate, False))
        assert load.next_rate(steps, 0.02) == then
    steps.append(step(200.0, True))
    assert load.next_rate(steps, 0.02) is None
    listed = Load(rates=(100, 10))
    assert [listed.next_rate(s, 0.1) for s in ([], [step(10, False)], [step(10, True), step(100, True)])] == [
        10, 100, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rates": "until"}, "invalid rates='until'"),
        ({"rates": [10, 10]}, "rates must be different numbers"),
        ({"rates": [0]}, "rates must be different numbers above 0"),
        ({"rates": [10], "arrivals": "random"}, "invalid arrivals='random'"),
        ({"rates": [10], "load_seconds": 0}, "load_seconds must be a positive number"),
        ({"rates": [10], "workers": 0}, "workers must be a positive integer"),
    ],
)
def test_wrong_loads_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        experiment({"a": answer}, **options)


# --- real time ---


def test_known_costs_under_load(tmp_path):
    """Sleep, jitter, tail and CPU at a rate that all of them can keep up with."""
    rng = random.Random(4)

    def sleep(query):
        time.sleep(0.03)
        return answer(query)

    def jitter(query):
        time.sleep(rng.uniform(0.02, 0.04))
        return answer(query)

    def tail(query):
        time.sleep(0.2 if rng.random() < 0.2 else 0.005)
        return answer(query)

    def cpu(query):
        end = time.thread_time() + 0.002
        while time.thread_time() < end:
            sum(range(100))
        return answer(query)

    systems = {"sleep": sleep, "jitter": jitter, "tail": tail, "cpu": cpu}
    options = {"rates": [40], "load_seconds": 2, "arrivals": "fixed", "warmup": 0,
               "versions": dict.fromkeys(systems, "1")}  # fmt: skip
    result = experiment(systems, **options).run(tmp_path)
    steps = {name: own[0] for name, own in result.loads.items()}
    assert {name: step.calls for name, step in steps.items()} == dict.fromkeys(systems, 80)
    assert 0.03 <= steps["sleep"].p50 < 0.2
    assert 0.02 <= steps["jitter"].p50 <= steps["jitter"].p95 < 0.3
    assert steps["tail"].p50 < 0.15 < 0.2 <= steps["tail"].p95
    assert steps["cpu"].p50 >= 0.002
    assert "under load, ms from when a call was due" in str(result)
    again = experiment(systems, **options).run(tmp_path)  # makes no call
    assert again.loads == result.loads == gg.ExperimentResult.open(tmp_path).loads
    rows = (tmp_path / "load.csv").read_text().splitlines()
    assert rows[0].startswith("system,rate,arrivals,calls,failed,throughput,saturated,mean,p50,")
    assert len(rows) == 5
    more = experiment(systems, **(options | {"rates": [40, 20]})).run(tmp_path)
    assert [[s.rate for s in own] for own in more.loads.values()] == [[20, 40]] * 4
    assert more.loads["sleep"][1] == steps["sleep"]


def test_a_stall_of_a_second_shows_in_p99():
    """The service is down for one second: all calls that are due in it wait, however many threads call."""
    started = []
    lock = threading.Lock()

    def stalls(query):
        with lock:
            started.append(time.perf_counter())
            if len(started) == 100:
                time.sleep(1.0)
        return answer(query)

    load = {"rates": [50], "load_seconds": 4, "arrivals": "fixed", "workers": 8}
    result = experiment({"a": stalls}, warmup=0, **load).run()
    step = result.loads["a"][0]
    assert step.calls == 200
    assert step.p99 > 0.9
    assert step.p95 > 0.6  # a fifth of the calls was due in that second or queued behind it
    assert step.p50 < 0.5


def test_saturation_of_a_real_service():
    lock = threading.Lock()

    def one_at_a_time(query):
        with lock:
            time.sleep(0.02)
        return answer(query)

    result = experiment({"a": one_at_a_time}, warmup=0, rates="saturation", load_seconds=1).run()
    steps = result.loads["a"]
    assert [s.saturated for s in steps] == [False] * (len(steps) - 1) + [True]
    assert steps[-1].throughput < 52  # 20 ms a call
    assert max(s.rate for s in steps) <= 200


@pytest.mark.parametrize("timeout", [None, 50.0])
@pytest.mark.parametrize("is_async", [False, True])
def test_recorded_times_exclude_the_harness(monkeypatch, is_async, timeout):
    """What a call records is the time of the function, not that of reading its answer."""
    clock = Clock()
    for module in (timing, loops):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=clock))

    class Slow(list):
        def __iter__(self):
            clock.sleep(1000)
            return super().__iter__()

    def search(query):
        clock.sleep(3)
        return Slow(["d1", "d2"])

    async def search_later(query):
        return search(query)

    outcome = Caller(10, timeout).call(search_later if is_async else search, "x")
    assert [d for d, _ in outcome.ranking] == ["d1", "d2"]
    assert clock.now > 1000
    assert outcome.seconds == 3


def test_an_answer_after_the_limit_is_a_timeout_even_when_its_caller_wakes_late(monkeypatch):
    def late(future, timeout=None):
        return whole(future)

    whole = Future.result
    monkeypatch.setattr(Future, "result", late)
    outcome = Caller(10, 0.01).call(lambda query: time.sleep(0.05) or ["d1"], "x")
    assert (outcome.error, outcome.seconds, outcome.ranking) == ("timeout", 0.01, [])


# --- cold and warm ---


def test_cold_and_warm_calls_are_reported_apart():
    seen = set()

    def cached(query):
        time.sleep(0.001 if query in seen else 0.03)
        seen.add(query)
        return answer(query)

    result = experiment({"a": cached, "b": answer}, repeats=2, warmup=1, control=False).run()
    timing = result.timings["a"]
    assert timing.p50 >= 0.03 > timing.warm.p50 >= 0.001
    assert timing.warm.calls == len(QUERIES)
    assert timing.first_call >= 0.03
    assert result["a"]["Latency"] >= 0.03
    assert "warm p50" in str(result)


# --- the control ---


def test_the_control_is_two_more_calls_after_the_first():
    calls = []
    systems = {n: (lambda query, n=n: calls.append((n, query)) or answer(query)) for n in "abc"}
    result = experiment(systems, warmup=0, baseline="b").run()
    assert len(calls) == 5 * len(QUERIES)
    places = set()
    for i, query in enumerate(QUERIES.values()):
        own = [name for name, text in calls[5 * i : 5 * i + 5] if text == query]
        assert sorted(own) == ["a", "b", "b", "b", "c"]
        places.add(tuple(own))
    assert len(places) > 5
    assert result.control.pairs == len(QUERIES)
    assert result.control.system == "b"
    assert result.timings["b"].calls == len(QUERIES)


def test_places_of_the_control_are_random_and_symmetric():
    base = ("b", None)
    keys = [("a", None), base, ("c", None)]
    firsts = []
    for seed in range(2000):
        rng = random.Random(seed)
        order = with_control([(key, "q", 0) for key in rng.sample(keys, 3)], base, rng)
        repeats = [repeat for key, _, repeat in order if key == base]
        assert repeats[0] == 0
        assert sorted(repeats[1:]) == sorted(CALLS)
        firsts.append(repeats[1])
    assert 0.45 < firsts.count(CALLS[0]) / 2000 < 0.55


def test_large_experiments_have_a_small_control():
    queries = [f"q{i}" for i in range(5001)]
    chosen = control_queries(queries)
    assert 0.9 * PAIRS <= len(chosen) <= PAIRS
    assert {"q0", "q2600"} <= chosen


def controlled(pairs, test="t"):
    """A folder with these seconds of the control's calls."""
    folder = Folder(None)
    folder.settings = {"systems": {"a": {"address": "x"}}}
    for number, pair in enumerate(pairs):
        for call, seconds in zip(CALLS, pair, strict=True):
            folder.add({"control": "a", "address": "x", "seed": None, "of": f"q{number}", "call": call,
                        "seconds": float(seconds), "session": 1})  # fmt: skip
    from goodgain.experiment.control import control_of

    return control_of(folder, test)


def test_a_noisy_machine_is_said(tmp_path):
    rng = np.random.default_rng(2)
    quiet = rng.normal(0.010, 0.001, (100, 2))
    noisy = quiet + np.array([0.002, 0.0])
    assert controlled(quiet).is_quiet
    result = controlled(noisy)
    assert not result.is_quiet
    assert result.difference == pytest.approx(0.002, rel=0.3)
    assert result.low < result.difference < result.high
    assert controlled(quiet[:3]).is_quiet is None
    experiment({"a": answer, "b": answer}).run(tmp_path)
    log = tmp_path / "calls.jsonl"
    records = [json.loads(line) for line in log.read_text().splitlines()]
    for record in records:
        if "control" in record:
            record["seconds"] = 0.5 + 0.1 * record["call"] + 0.001 * int(record["of"][1:])
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    opened = gg.ExperimentResult.open(tmp_path)
    assert opened.control.is_quiet is False
    assert any("the machine was too noisy to compare latencies" in w for w in opened.warnings())
    assert "The machine was too noisy to compare latencies." in str(opened)
    opened.report(tmp_path / "page.html")
    assert "too noisy to compare latencies" in (tmp_path / "page.html").read_text()


def test_without_a_control_the_result_says_so():
    assert "No A/A control" in str(experiment({"a": answer, "b": answer}, control=False).run())
    alone = experiment({"a": answer}).run()
    assert alone.control is None
    assert "A/A" not in str(alone)


@pytest.mark.parametrize("shape", ["normal", "long tail", "drift", "bursts"])
def test_the_control_shows_nothing_in_95_of_100_runs(shape):
    """Simulated machines; `make soak` runs more, and real ones."""
    runs = int(os.environ.get("GOODGAIN_CONTROLS", "400"))
    rng = np.random.default_rng(6)
    alarms = 0
    for _ in range(runs):
        n = 130
        pairs = rng.normal(0.01, 0.001, (n, 2))
        if shape == "long tail":
            pairs = 0.005 + 0.005 * rng.pareto(2.5, (n, 2))
        elif shape == "drift":
            pairs += np.linspace(0, 0.02, n)[:, None]
        elif shape == "bursts":
            pairs += 0.05 * (rng.random((n, 2)) < 0.02)
        alarms += not controlled(pairs).is_quiet
    assert alarms <= 0.05 * runs + 3 * math.sqrt(0.05 * 0.95 * runs)


@pytest.mark.slow
def test_the_control_of_real_runs():
    """Runs on this machine, whatever else it does; more of them in `make soak`."""
    runs = int(os.environ.get("GOODGAIN_CONTROL_RUNS", "20"))

    def works(query):
        return [(f"d{i}", float(-i)) for i in range(300)][:2]

    quiet = [
        experiment({"a": works, "b": answer}, warmup=1).run().control.is_quiet for _ in range(runs)
    ]
    # binomial with 5 %: more alarms than this come once in 10,000 times
    alarms, most = quiet.count(False), 0
    while sum(math.comb(runs, k) * 0.05**k * 0.95 ** (runs - k) for k in range(most + 1)) < 0.9999:
        most += 1
    assert alarms <= most


def test_concurrent_rounds_have_a_control():
    result = experiment({"a": answer, "b": answer}, concurrency=4).run()
    assert result.control.pairs == len(QUERIES)
