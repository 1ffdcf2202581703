"""`experiment.optimise` and `goodgain optimise`: races over real calls."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections import Counter
from queue import SimpleQueue

import pytest

import goodgain as gg
from goodgain.cli import run as run_command
from goodgain.errors import GoodgainError
from goodgain.experiment import read_experiment
from goodgain.experiment.optimisation import Optimisation
from goodgain.results.loading import load

QUERIES = 120
DOCUMENTS = {f"d{i}": f"text {i}" for i in range(QUERIES)}
TEXTS = {f"q{i}": f"text {i}" for i in range(QUERIES)}
QRELS = {f"q{i}": {f"d{i}": 1} for i in range(QUERIES)}


class Shifted:
    """Right for a share of the queries, in a way that looks random; counts its calls."""

    def __init__(self, percent, seconds=0.0):
        self.percent, self.seconds = percent, seconds
        self.log = SimpleQueue()  # state that no fingerprint reads: a version names the system
        self.log.put(Counter())

    @property
    def calls(self):
        counts = self.log.get()
        self.log.put(counts)
        return counts

    def __call__(self, query):
        counts = self.log.get()
        counts[query] += 1
        self.log.put(counts)
        if self.seconds:
            time.sleep(self.seconds)
        number = int(query.split()[1])
        is_right = (number * 37) % 100 < self.percent
        return [f"d{number}"] if is_right else ["d-none"]


def systems(**percents):
    return {name: Shifted(percent) for name, percent in percents.items()}


def experiment(own, **options):
    versions = dict.fromkeys(own, "1")
    options = {"warmup": 0, "measures": "P@1 RR", "versions": versions, "control": False, **options}
    return gg.Experiment(DOCUMENTS, TEXTS, QRELS, own, **options)


def test_a_race_finds_the_best_and_stops_calling_the_others(tmp_path):
    own = systems(bad=5, good=95, poor=20)
    result = experiment(own).optimise("P@1", tmp_path)
    assert (result.best, result.outcome, result.is_decided) == ("good", "one left", True)
    assert own["bad"].calls.total() < 30
    assert own["good"].calls.total() == QUERIES  # in the race, and then held out
    assert max(own["good"].calls.values()) == 1
    assert result.savings.used == sum(s.calls.total() for s in own.values())
    assert result.savings.full == 3 * QUERIES
    assert result.estimate.queries + result.raced == QUERIES
    assert result.estimate.queries >= QUERIES / 2
    text = str(result)
    assert text.startswith(f"good is the best of 3 settings by P@1, after {result.raced} queries.")
    assert (
        f"chosen on {result.raced} queries, measured on the other {result.estimate.queries}" in text
    )
    assert "worse than good" in text


def test_the_estimate_is_the_mean_of_queries_that_the_race_did_not_see(tmp_path):
    own = systems(bad=5, good=70)
    result = experiment(own).optimise("P@1", tmp_path, seed=3)
    raced = {q for q, n in own["bad"].calls.items() if n}
    unseen = [q for q in TEXTS.values() if q not in raced]
    right = [(int(q.split()[1]) * 37) % 100 < 70 for q in unseen]
    assert len(unseen) == result.estimate.queries
    assert result.estimate.mean == pytest.approx(sum(right) / len(right))


def test_an_experiment_reuses_the_calls_of_a_race_and_the_reverse(tmp_path):
    own = systems(bad=5, good=95)
    experiment(own).optimise("P@1", tmp_path)
    experiment(own).run(tmp_path)
    assert {name: s.calls.total() for name, s in own.items()} == {"bad": QUERIES, "good": QUERIES}
    again = experiment(own).optimise("RR", tmp_path)
    assert {name: s.calls.total() for name, s in own.items()} == {"bad": QUERIES, "good": QUERIES}
    assert again.savings.reused == again.savings.used


def test_not_enough_evidence_is_an_answer():
    result = experiment(systems(a=50, b=52)).optimise("P@1")
    assert (result.outcome, result.is_decided) == ("not enough evidence", False)
    assert result.raced == QUERIES / 2
    text = str(result)
    assert text.startswith("Not enough evidence: after all 60 queries of the race, 2 of 2 settings")
    assert "not separable from the best" in text
    assert "leads" in text


def test_a_setting_over_the_budget_loses_though_it_is_better(tmp_path):
    own = {"slow": Shifted(95, 0.02), "fast": Shifted(60), "bad": Shifted(3)}
    result = experiment(own).optimise("P@1", tmp_path, max_latency="p50=10ms")
    assert result.best == "fast"
    (slow,) = (s for s in result.settings if s.name == "slow")
    assert slow.verdict == "over the latency budget"
    assert slow.queries < 20
    (check,) = result.checks
    assert check.verdict == "within"
    assert "within the budget of 10 ms" in str(result)


def test_a_percentile_of_few_calls_is_not_shown():
    result = experiment(systems(a=5, b=95)).optimise("P@1", max_latency="p99=1s")
    (check,) = result.checks
    assert (check.verdict, check.high) == ("not shown", math.inf)
    assert "not shown to be within the budget of 1 s" in str(check)
    assert "too few to bound it: 368" in str(check)


def test_nobody_is_within_the_budget():
    own = {"a": Shifted(95, 0.004), "b": Shifted(50, 0.004)}
    result = experiment(own).optimise("P@1", max_latency="1ms")
    assert (result.best, result.estimate) == (None, None)
    assert str(result).startswith("None of 2 settings is within the budget")
    assert result.savings.used < 40


def test_a_budget_of_costs_needs_costs():
    with pytest.raises(GoodgainError, match="no system reported the cost"):
        experiment(systems(a=5, b=95)).optimise("P@1", max_cost=0.01)


class Paid(Shifted):
    def __init__(self, percent, cost):
        super().__init__(percent)
        self.cost = cost

    def __call__(self, query):
        return {"results": super().__call__(query), "cost": self.cost}


def test_a_budget_of_costs(tmp_path):
    own = {"dear": Paid(99, 0.05), "cheap": Paid(60, 0.001), "bad": Paid(3, 0.001)}
    result = experiment(own).optimise("P@1", tmp_path, max_cost="p50=0.01")
    outcomes = {s.name: s.outcome for s in result.settings}
    assert outcomes == {"dear": "cost", "cheap": "best", "bad": "worse"}
    (check,) = result.checks
    assert str(check).startswith("Cost: p50 0.001 [0.001, 0.001], within the budget of 0.01")
    assert result.savings.cost == pytest.approx(
        0.05 * own["dear"].calls.total() + 0.001 * (result.savings.used - own["dear"].calls.total())
    )
    assert result.savings.cost_saved > 0.05 * 100
    assert "of cost" in str(result)


class Broken(Shifted):
    def index(self, documents):
        raise RuntimeError("no disk")


def test_a_setting_that_cannot_be_indexed_is_a_row(tmp_path):
    own = {"broken": Broken(99), "good": Shifted(95), "bad": Shifted(5)}
    result = experiment(own).optimise("P@1", tmp_path)
    assert result.best == "good"
    assert result.failures == {"broken": "cannot index the documents: RuntimeError: no disk"}
    assert "broken: cannot index the documents: RuntimeError: no disk" in result.warnings()
    assert result.savings.full == 2 * QUERIES


def test_failed_calls_are_counted_and_retried(tmp_path):
    class Flaky(Shifted):
        broken = True

        def __call__(self, query):
            if self.broken and int(query.split()[1]) % 2:
                raise RuntimeError("down")
            return super().__call__(query)

    own = {"flaky": Flaky(95), "other": Shifted(93)}
    result = experiment(own).optimise("P@1", tmp_path)
    (flaky,) = (s for s in result.settings if s.name == "flaky")
    assert flaky.failed > 5
    assert "calls failed" in flaky.verdict
    message = "calls failed and count as empty lists (RuntimeError: down)"
    assert any(message in warning for warning in result.warnings())
    own["flaky"].broken = False
    again = experiment(own).optimise("P@1", tmp_path)
    assert all(s.failed == 0 for s in again.settings)


def test_seeds_are_averaged(tmp_path):
    class Seeded(Shifted):
        def seeded(self, seed):
            return Shifted(self.percent + seed)

    own = {"seeded": Seeded(90), "bad": Shifted(3)}
    result = experiment(own, seeds=[0, 5]).optimise("P@1", tmp_path)
    assert result.best == "seeded"
    assert result.savings.full == 3 * QUERIES


def test_several_calls_in_flight(tmp_path):
    one = experiment(systems(bad=5, good=95)).optimise("P@1")
    four = experiment(systems(bad=5, good=95), concurrency=4).optimise("P@1", tmp_path)
    assert (four.best, four.raced) == (one.best, one.raced)
    assert four.estimate == one.estimate


# --- kills ---

SCRIPT = """
import os, sys, json
import goodgain as gg
class Mine:
    def __init__(self, percent): self.percent = percent
    def __call__(self, query):
        left = int(os.environ["LEFT"]) - 1
        os.environ["LEFT"] = str(left)
        if left < 0: os._exit(9)
        number = int(query.split()[1])
        return [f"d{number}"] if (number * 37) % 100 < self.percent else ["d-none"]
texts = {f"q{i}": f"text {i}" for i in range(60)}
documents = {f"d{i}": f"text {i}" for i in range(60)}
qrels = {f"q{i}": {f"d{i}": 1} for i in range(60)}
own = {"bad": Mine(5), "good": Mine(95), "fair": Mine(50)}
e = gg.Experiment(documents, texts, qrels, own, warmup=0, measures="P@1")
r = e.optimise("P@1", sys.argv[1])
print(json.dumps([10_000 - int(os.environ["LEFT"]), r.best, r.outcome, r.raced, r.estimate.mean,
                  [(s.name, s.mean, s.queries) for s in r.settings]]))
"""


def test_a_killed_race_loses_no_call_and_ends_the_same(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def go(folder, limit):
        done = subprocess.run(
            [sys.executable, script, tmp_path / folder], capture_output=True, text=True,
            env={**os.environ, "LEFT": str(limit)},
        )  # fmt: skip
        return json.loads(done.stdout) if done.returncode == 0 else done.returncode

    whole = go("whole", 10_000)
    for limit in (3, 17, 40):
        assert go("killed", limit) == 9
    log = (tmp_path / "killed" / "calls.jsonl").read_text().splitlines()
    saved = sum("query" in json.loads(line) for line in log)
    assert saved == 3 + 17 + 40
    resumed = go("killed", 10_000)
    assert resumed[0] == whole[0] - saved
    assert resumed[1:] == whole[1:]


# --- what is refused, saved, printed ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "DCG@10"}, "DCG@10 has no known range"),
        ({"measure": "Latency"}, "Latency is a cost"),
        ({"measure": "P@1 RR"}, "one measure is optimised, got P@1, RR"),
        ({"measure": "Recall@1000"}, "Recall@1000 looks at 1000 documents, but lists are cut to 100"),
        ({"margin": "2%"}, "invalid margin '2%'"),
        ({"margin": 1.5}, "invalid margin '1.5'"),
        ({"held_out": 1.0}, "held_out must be between 0 and 1, got 1"),
        ({"alpha": 0}, "alpha must be between 0 and 1, got 0"),
        ({"max_latency": "soon"}, "invalid latency budget 'soon'"),
    ],
)  # fmt: skip
def test_refusals_come_before_any_call(options, message, tmp_path):
    own = systems(a=5, b=95)
    with pytest.raises(GoodgainError, match=message):
        experiment(own).optimise(folder=tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()
    assert not own["a"].calls


def test_one_system_is_no_race():
    with pytest.raises(GoodgainError, match="there is only one system"):
        experiment(systems(a=5)).optimise("P@1")


def test_a_saved_result_is_the_same(tmp_path):
    result = experiment(systems(bad=5, good=95)).optimise("P@1", max_latency="1s", margin=0.05)
    result.save(tmp_path / "race.json")
    assert Optimisation.load(tmp_path / "race.json") == result
    assert load(tmp_path / "race.json") == result
    assert result.rules.margin == 0.05
    for format_ in ("csv", "jsonl", "markdown", "latex"):
        assert "good" in result.render(format_)
    assert json.loads(result.render("json"))["best"] == "good"
    assert "good" in result._repr_html_()


FILE = """
corpus = "corpus.jsonl"
queries = "queries.tsv"
qrels = "qrels.txt"
measures = "nDCG@10 RR"
[systems.keyword]
retriever = "bm25"
[systems.useless]
retriever = "own_useless:search"
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"d{i}", "text": f"word{i} and more"} for i in range(60)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    lines = "".join(f"q{i}\tword{i}\n" for i in range(60))
    (tmp_path / "queries.tsv").write_text(f"id\ttext\n{lines}")
    (tmp_path / "qrels.txt").write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(60)))
    (tmp_path / "own_useless.py").write_text("def search(query): return ['d0']\n")
    path = tmp_path / "e.toml"
    path.write_text(FILE)
    return path


def test_the_command_races_and_then_chooses(file, capsys):
    assert run_command(["optimise", str(file), "--max-latency", "p50=5s", "--save", "r.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("keyword is the best of 2 settings by nDCG@10")
    assert "within the budget of 5 s" in out
    assert "instead of the 120 of the full grid: saved" in out
    assert json.loads((file.parent / "r.json").read_text())["best"] == "keyword"
    assert (
        run_command(["optimise", str(file.parent / "e")]) == 2
    )  # not every system has every query
    assert "useless was called for" in capsys.readouterr().err
    assert run_command(["experiment", str(file), "-q"]) == 0
    capsys.readouterr()
    assert run_command(["optimise", str(file.parent / "e"), "-m", "RR"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("keyword has the best RR of 2 settings: 1.0000 (no interval: too few")
    assert run_command(["optimise", str(file.parent / "e"), "--max-latency", "1s"]) == 2
    assert "--max-latency needs an experiment to race" in capsys.readouterr().err


def test_points_of_a_grid_race(file, capsys):
    file.write_text(FILE + "[grid]\nk1 = [0.5, 1.2]\n")
    experiment_, folder = read_experiment(file)
    result = experiment_.optimise("nDCG@10", folder, margin=0.2)
    assert {s.name for s in result.settings} == {*experiment_.grids["keyword"], "useless"}
    assert result.best in experiment_.grids["keyword"]
    finished = experiment_.run(folder)
    assert "has the best nDCG@10 of 3 settings" in str(finished)
    chosen = finished.choose("nDCG@10")
    assert [c.family for c in chosen.choices] == ["keyword", "all systems"]


def test_the_command_writes_a_page(file):
    assert run_command(["optimise", str(file), "--report", "page.html", "-q"]) == 0
    text = (file.parent / "page.html").read_text()
    assert "is the best of 2 settings" in text
