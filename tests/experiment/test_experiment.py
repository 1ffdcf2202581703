"""Experiments: measures, latencies, continuing after a stop, and errors."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from queue import SimpleQueue

import pytest

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.experiment.groups import by_targets
from goodgain.experiment.retrievers import Graph, Hybrid, Swarm

DOCUMENTS = {f"d{i}": f"word{i} about topic{i % 5} and more" for i in range(40)}
QUERIES = {f"q{i}": f"topic{i % 5} word{i}" for i in range(10)}
QRELS = {q: {f"d{i}": 1 for i in range(40) if i % 5 == int(q[1:]) % 5} for q in QUERIES}


def first(query):
    return [("d0", 2.0), ("d1", 1.0)]


def sleeping(seconds):
    """A sync and an async retriever that take this long."""

    def sleeps(query):
        time.sleep(seconds)
        return first(query)

    async def sleeps_async(query):
        await asyncio.sleep(seconds)
        return first(query)

    return {"sync": sleeps, "async": sleeps_async}


def experiment(systems, **options):
    return gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, **options)


def in_time_result(systems, in_time, **options):
    """The first of several experiments with plausible times, since a busy machine may be late."""
    for _ in range(6):
        result = experiment(systems, **options).run()
        if all(in_time(t) for t in result.timings.values()):
            return result
    return pytest.fail(f"never in time: {result.timings}")


def test_functions_without_scores_have_the_numbers_of_their_order(tmp_path):
    order = ["d3", "d0", "d1", "d7"]
    systems = {
        "scored": lambda _: [(doc, 9.0 - i) for i, doc in enumerate(order)],
        "ids": lambda _: order,
        "dictionaries": lambda _: [{"id": doc, "text": "t"} for doc in order],
        "sometimes": lambda q: (
            order if "topic1" in q else [(doc, -i) for i, doc in enumerate(order)]
        ),
        "empty at times": lambda q: order if "topic3" in q else [],
    }
    folder = str(tmp_path / "out")
    result = experiment(systems, measures="nDCG@3 AP RR").run(folder)
    columns = {m: [run.column(m) for run in result.scores.runs] for m in ("nDCG@3", "AP", "RR")}
    for values in columns.values():
        assert values[0] == values[1] == values[2] == values[3]
    assert result.scores["scored"].per_query["q3"]["RR"] == 1
    assert result.scores["empty at times"].per_query["q3"]["RR"] == 1
    assert result.scores["empty at times"].per_query["q2"]["RR"] == 0
    with_scores = {name: runs[0].has_scores for name, runs in result.runs.items()}
    assert with_scores == dict.fromkeys(systems, False) | {"scored": True}
    again = experiment(systems, measures="nDCG@3 AP RR").run(folder)
    assert again.scores.per_query == result.scores.per_query


def test_the_numbers_are_those_of_evaluate_and_compare():
    systems = {"keyword": "bm25", "knn": "knn", "mine": first, "both": Hybrid(["keyword", "knn"])}
    one = experiment(systems, baseline="mine", measures="MRR DR@20")
    result = one.run()
    runs = {
        name: {q: dict(one.systems[name](text)) for q, text in QUERIES.items()} for name in systems
    }
    theirs = gg.evaluate(QRELS, runs, "MRR DR@20")
    assert {n: dict(list(m.items())[:2]) for n, m in result.scores.means.items()} == theirs.means
    pair = gg.compare(theirs, baseline="mine", measures="MRR DR@20")["keyword", "MRR"]
    assert result["keyword", "MRR"].p == pair.p
    assert result["keyword", "MRR"].difference == pair.difference
    assert "mine (baseline)" in str(result)


def test_a_sleeping_retriever_shows_its_sleep():
    def in_time(t):
        if t.system == "fast":
            return t.mean < 0.001
        return t.p50 < 0.03 and t.mean < 0.04 and t.p99 < 0.06  # no stall that hides the sleep

    systems = {"fast": first, **sleeping(0.02)}
    result = in_time_result(systems, in_time, repeats=3)
    for name in ("sync", "async"):
        t = result.timings[name]
        assert t.p50 >= 0.02
        assert t.p50 <= t.p95 <= t.p99
        assert t.per_second == pytest.approx(1 / t.mean)
        assert result[name, "Latency"].p_corrected < 0.001


def test_equal_costs_show_no_difference():
    def works(query):
        return [(f"d{i}", float(i)) for i in range(300)][-2:]

    twins = {name: (lambda query: works(query)) for name in ("a", "b", "c")}
    many = {f"q{i}": "text" for i in range(100)}
    qrels = {q: {"d0": 1} for q in many}
    lowest = []
    for _ in range(4):  # one in twenty may differ by chance
        result = gg.Experiment(DOCUMENTS, many, qrels, twins, repeats=10).run()
        lowest.append(min(result[name, "Latency"].p_corrected for name in "bc"))
        if lowest[-1] > 0.05:
            break
    assert max(lowest) > 0.05, lowest


def test_interleaving_orders_differ():
    calls = []
    systems = {
        name: (lambda query, name=name: calls.append(name) or first(query)) for name in "abc"
    }
    experiment(systems, warmup=0, repeats=2, control=False).run()
    rounds = [tuple(calls[i : i + 3]) for i in range(0, len(calls), 3)]
    assert all(sorted(r) == ["a", "b", "c"] for r in rounds)  # a query goes to all before the next
    assert len(set(rounds)) > 3  # in random orders


def test_warm_up_is_not_counted():
    calls = []

    def slow_at_first(query):
        calls.append(query)
        if len(calls) == 1:
            time.sleep(0.1)
        return first(query)

    result = experiment({"a": slow_at_first, "b": first}, warmup=1, control=False).run()
    assert len(calls) == len(QUERIES) + 1
    assert result.timings["a"].calls == len(QUERIES)
    assert result.timings["a"].mean < 0.05


def test_concurrency():
    def in_time(t):  # five calls of 50 ms run at a time; one by one it would be 20 per second
        return t.mean < 0.15 and t.per_second > 30

    result = in_time_result(sleeping(0.05), in_time, concurrency=5, warmup=0)
    assert all(t.mean >= 0.05 for t in result.timings.values())


def test_errors_and_timeouts_are_recorded_and_do_not_stop_the_experiment():
    def breaks(query):
        if "word3" in query:
            raise RuntimeError("no such shard")
        return first(query)

    def hangs(query):
        if "word4" in query:
            time.sleep(1.2)
        return first(query)

    async def hangs_async(query):
        await asyncio.sleep(3 if "word5" in query else 0)
        return first(query)

    def nonsense(query):
        return [("d0", 1.0), ("d0", 2.0)] if "word6" in query else first(query)

    systems = {
        "good": first,
        "breaks": breaks,
        "hangs": hangs,
        "later": hangs_async,
        "nonsense": nonsense,
    }
    result = experiment(systems, measures="MRR", timeout=0.8, warmup=0).run()
    t = result.timings
    assert t["good"].errors == {}
    assert t["breaks"].errors == {"q3": "RuntimeError: no such shard"}
    assert t["hangs"].errors == {"q4": "timeout"}
    assert t["later"].errors == {"q5": "timeout"}
    assert t["nonsense"].errors == {}
    assert result.runs["nonsense"][0].to_dict()["q6"] == {"d0": 2.0}
    assert any("nonsense: 1 answer held a document twice" in text for text in result.warnings())
    assert (t["breaks"].failed, t["hangs"].timed_out) == (1, 1)
    assert result.runs["hangs"][0].latency["q4"] == 0.8  # its user waited that long
    assert t["breaks"].calls == 9
    assert result.scores["breaks"].per_query["q3"]["MRR"] == 0
    assert any("RuntimeError: no such shard" in text for text in result.warnings())


def test_seeds_and_groups():
    systems = {"knn": "knn", "graph": Graph("knn"), "swarm": Swarm("knn")}
    result = experiment(systems, measures="MRR DR@20", seeds=[0, 1, 2], by="targets").run()
    assert [len(result.runs[name]) for name in systems] == [1, 3, 3]
    assert {s.system for s in result.comparison.seeds} == {"graph", "swarm"}
    assert result.comparison.groups == ("complex (> 6)",)
    assert "Means over 3 seeds of graph, swarm" in str(result)


def test_groups_by_targets_count_targets_not_documents():
    rows = [("a", f"d{i}", 2, "one") for i in range(9)]
    rows += [("b", f"d{i}", 2, f"t{i}") for i in range(5)] + [("b", "d9", 1, "t9")]
    rows += [("c", f"d{i}", 2, f"t{i}") for i in range(7)]
    assert by_targets(gg.Qrels(rows), rel=2) == {
        "a": "simple (<= 3 targets)",
        "b": "medium (4-6)",
        "c": "complex (> 6)",
    }


def test_groups_by_a_column_of_the_queries():
    queries = [
        {"id": q, "text": t, "kind": "even" if int(q[1:]) % 2 == 0 else "odd"}
        for q, t in QUERIES.items()
    ]
    one = gg.Experiment(
        DOCUMENTS, queries, QRELS, {"a": first, "b": "bm25"}, by="kind", measures="MRR"
    )
    assert one.run().comparison.groups == ("even", "odd")


def test_a_folder_opens_again(tmp_path):
    systems = {"mine": first, "keyword": "bm25", "swarm": Swarm("knn"), "knn": "knn"}
    result = experiment(systems, seeds=[3, 4], repeats=2).run(tmp_path / "out")
    again = gg.ExperimentResult.open(tmp_path / "out")
    assert str(again) == str(result)
    assert again.settings["seeds"] == [3, 4]
    assert again.settings["versions"]["numpy"]
    other = gg.ExperimentResult.open(tmp_path / "out", baseline="knn", test="wilcoxon")
    assert other["mine", "MRR"].test == "wilcoxon"
    more = gg.ExperimentResult.open(tmp_path / "out", measures="AP")
    assert more.scores["keyword"]["AP"] == 1
    none = {q: {"nothing": 1} for q in QRELS}
    judged_anew = gg.ExperimentResult.open(tmp_path / "out", measures="AP", qrels=none)
    assert judged_anew.scores["keyword"]["AP"] == 0
    assert sorted(p.name for p in (tmp_path / "out" / "runs").iterdir()) == [
        "keyword.run", "knn.run", "mine.run", "swarm.seed3.run", "swarm.seed4.run"
    ]  # fmt: skip
    runs = gg.evaluate(QRELS, tmp_path / "out" / "runs" / "keyword.run", "MRR")
    assert runs["MRR"] == result.scores["keyword"]["MRR"]


def test_a_folder_contains_what_its_page_needs(tmp_path):
    """The original data are not needed to open it; targets are saved with the judgments."""
    long = {doc: f"{text} " + "x" * 1000 for doc, text in DOCUMENTS.items()}
    rows = [
        {"query": q, "doc": d, "gain": g, "target": f"t-{d}"}
        for q, docs in QRELS.items()
        for d, g in docs.items()
    ]
    systems = {"mine": first, "keyword": "bm25"}
    result = gg.Experiment(long, QUERIES, rows, systems, measures="DR@20 MRR").run(tmp_path / "out")
    again = gg.ExperimentResult.open(tmp_path / "out")
    assert again.queries == QUERIES
    assert again.documents
    assert all(long[doc].startswith(text) for doc, text in again.documents.items())
    assert max(map(len, again.documents.values())) == 300
    assert again.scores.per_query == result.scores.per_query
    again.report(tmp_path / "page.html")
    assert "There are no ranked lists" not in (tmp_path / "page.html").read_text()


def test_a_result_is_a_frozen_mapping_of_its_systems():
    systems = {"mine": first, "keyword": "bm25", "knn": "knn", "swarm": Swarm("knn")}
    result = experiment(systems, measures="MRR DR@20", seeds=[0, 1]).run()
    assert list(result) == list(result.systems) == list(systems)
    assert len(result) == 4
    assert "swarm" in result
    assert "nothing" not in result
    table = dict(result)
    assert table["keyword"]["MRR"] == result["keyword"]["MRR"] == result.scores["keyword"]["MRR"]
    assert list(dict(table["keyword"])) == ["MRR", "DR@20", "Latency"]
    seeds = [result.scores[f"swarm (seed {seed})"]["DR@20"] for seed in (0, 1)]
    assert result["swarm"]["DR@20"] == sum(seeds) / 2
    assert result["swarm", "DR@20"].mean == pytest.approx(result["swarm"]["DR@20"])
    assert result["knn"].timing is result.timings["knn"]
    with pytest.raises(KeyError, match="unknown system 'nothing'; available: mine, keyword"):
        result["nothing"]
    for change in (
        lambda: setattr(result, "plan", None),
        lambda: setattr(result, "other", None),
        lambda: delattr(result, "qrels"),
        lambda: setattr(result["knn"], "name", "x"),
        lambda: setattr(result.timings["knn"], "mean", 0.0),
        lambda: setattr(result.plan, "baseline", "knn"),
    ):
        with pytest.raises(AttributeError):
            change()


def test_a_result_of_one_system_is_a_mapping_of_its_measures():
    result = experiment({"keyword": "bm25"}, measures="MRR").run()
    assert result["MRR"] == result["keyword"]["MRR"] == result.scores["MRR"]
    assert dict(result) == dict(result["keyword"])
    assert list(result) == ["MRR", "Latency"]
    assert len(result) == 2
    assert "keyword" in result
    assert "MRR" in result
    with pytest.raises(KeyError, match="one system"):
        result["keyword", "MRR"]


def test_a_folder_of_version_0_1_opens(tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(Path(__file__).parent / "folder_of_version_0_1", folder)
    result = gg.ExperimentResult.open(folder)
    assert result.settings["judgments"] == 16
    assert result.systems == ("first", "keyword", "swarm", "knn")
    saved = gg.Evaluation.load(folder / "scores.json")
    for name in ("MRR", "DR@20"):  # version 0.1 took the mean latency of repeats
        for run, other in zip(result.scores.runs, saved.runs, strict=True):
            assert list(run.column(name)) == list(other.column(name))
    assert result["first"]["MRR"] == 0.375
    assert result["first"]["DR@20"] == pytest.approx(1 / 6)
    assert result.timings["swarm"].calls == 16
    assert result.timings["knn"].index_bytes == 2368
    assert result.comparison.groups == ("simple (<= 3 targets)",)
    assert gg.ExperimentResult.open(folder, measures="AP")["knn"]["AP"] == 1

    with pytest.raises(GoodgainError, match="was written by an earlier version"):
        experiment({"first": first}).run(folder)


def test_measures_are_saved_with_their_direction(tmp_path):
    measures = [gg.parse("Unjudged@10").with_direction("lower"), "MRR"]
    result = experiment({"mine": first, "keyword": "bm25"}, measures=measures).run(tmp_path)
    again = gg.ExperimentResult.open(tmp_path)
    for each in (result, again):
        assert [m.label for m in each.plan.measures] == ["Unjudged@10", "MRR", "Latency"]
        assert [m.direction for m in each.plan.measures] == ["lower", "higher", "lower"]
        assert each["keyword", "Unjudged@10"].measure.lower_is_better
    other = gg.ExperimentResult.open(tmp_path, measures=[gg.parse("AP")])
    assert list(other["mine"]) == ["AP"]


def test_a_second_run_makes_no_calls_and_a_new_system_only_its_own(tmp_path):
    calls = SimpleQueue()

    def counted(query):
        calls.put(query)
        return first(query)

    before = experiment({"a": counted, "b": first}, warmup=0, control=False).run(tmp_path)
    after = experiment({"a": counted, "b": first}, warmup=0, control=False).run(tmp_path)
    assert calls.qsize() == len(QUERIES)
    assert str(after) == str(before)
    more = experiment({"a": counted, "b": first, "c": "bm25"}, warmup=0, control=False).run(
        tmp_path
    )
    assert calls.qsize() == len(QUERIES)
    assert more.systems == ("a", "b", "c")


def test_another_experiment_is_refused(tmp_path):
    experiment({"a": first, "b": "bm25"}).run(tmp_path)
    other = gg.Experiment({**DOCUMENTS, "new": "text"}, QUERIES, QRELS, {"a": first, "b": "bm25"})
    with pytest.raises(GoodgainError, match="with different documents or queries"):
        other.run(tmp_path)


KILLED = """
import os, sys, time
sys.path.insert(0, {home!r})
import goodgain as gg
from goodgain.experiment.retrievers import Swarm

def logged(name, pause):
    def search(query):
        time.sleep(pause)
        with open({log!r}, "a") as file:
            file.write(f"{{name}} {{query}}\\n")
        return [(f"d{{(len(query) * 7 + i) % 40}}", 10.0 - i) for i in range(5)]
    return search

documents = {{f"d{{i}}": f"word{{i}} about topic{{i % 5}} and more" for i in range(40)}}
queries = {{f"q{{i}}": f"topic{{i % 5}} word{{i}}" + "x" * i for i in range(40)}}
qrels = {{q: {{f"d{{i}}": 1 for i in range(40) if i % 5 == int(q[1:]) % 5}} for q in queries}}
systems = {{"a": logged("a", 0.02), "b": logged("b", 0.02), "knn": "knn", "swarm": Swarm("knn")}}
gg.Experiment(documents, queries, qrels, systems, warmup=0, seeds=[1, 2], control=False).run({folder!r})
"""


@pytest.mark.slow
def test_killed_and_started_again(tmp_path):
    """The final numbers are the same, and no finished call is made again."""

    def script(name):
        file = tmp_path / f"{name}.py"
        home = str(Path(gg.__file__).parent.parent)
        file.write_text(
            KILLED.format(home=home, log=str(tmp_path / f"{name}.log"), folder=str(tmp_path / name))
        )
        return [sys.executable, str(file)]

    subprocess.run(script("whole"), check=True, timeout=300)
    log = tmp_path / "stopped" / "calls.jsonl"
    kills = 0
    for lines in (40, 90):
        process = subprocess.Popen(script("stopped"))
        deadline = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < deadline:
            if log.exists() and log.read_bytes().count(b"\n") > lines:
                os.kill(process.pid, signal.SIGKILL)
                break
            time.sleep(0.001)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 2
    with log.open("ab") as file:
        file.write(b'{"system":"a","seed":nu')  # as if killed in the middle of a write
    finished = [json.loads(line) for line in log.read_bytes().splitlines()[:-1]]
    finished = [(c["system"], c["query"]) for c in finished if c.get("system") in ("a", "b")]
    assert 20 < len(finished) < 80
    subprocess.run(script("stopped"), check=True, timeout=300)

    whole, stopped = (gg.ExperimentResult.open(tmp_path / name) for name in ("whole", "stopped"))
    for measure in ("MRR", "DR@20", "Hit@5"):
        for ours, theirs in zip(stopped.scores.runs, whole.scores.runs, strict=True):
            assert ours.name == theirs.name
            assert ours.column(measure) == theirs.column(measure)
    calls = (tmp_path / "stopped.log").read_text().splitlines()
    texts = {f"q{i}": f"topic{i % 5} word{i}" + "x" * i for i in range(40)}
    for system, query in finished:  # a call interrupted by the kill may be made again
        assert calls.count(f"{system} {texts[query]}") == 1
    assert len(calls) <= 80 + 2
    keys = [
        (c["system"], c["seed"], c["query"])
        for c in map(json.loads, log.read_text().splitlines())
        if "query" in c
    ]
    assert len(keys) == len(set(keys)) == 40 * 5


def test_repeats_that_differ_are_reported():
    answers = iter(range(10_000))
    result = experiment(
        {"steady": first, "unsteady": lambda query: [("d0", float(next(answers)))]}, repeats=2
    ).run()
    assert result.timings["unsteady"].inconsistent == len(QUERIES)
    assert any("returned different results in a repeat" in text for text in result.warnings())


def test_own_index_is_timed():
    class Own:
        def index(self, documents):
            self.names = list(documents)
            time.sleep(0.05)

        def __call__(self, query):
            return [(self.names[0], 1.0)]

    result = experiment({"own": Own(), "b": first}).run()
    assert result.timings["own"].index_seconds >= 0.05
    assert result.timings["own"].index_bytes >= 0
    assert result.timings["b"].index_seconds is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"corpus": {}}, "the corpus is empty"),
        ({"queries": {}}, "there are no queries"),
        ({"corpus": [("a", "x"), ("a", "y")]}, "duplicate document id 'a'"),
        ({"queries": [("q1", "x"), ("q1", "y")]}, "duplicate query id 'q1'"),
        ({"queries": {**QUERIES, "extra": "text"}}, "1 of 11 queries have no judgments: extra"),
        ({"queries": {"other": "text"}}, "no query has judgments"),
        ({"queries": {"q1": "text"}}, "9 of 10 judged queries have no text: q0, q2, q3 and 6 more"),
        ({"queries": {**QUERIES, "q1": " "}}, "query 'q1' has no text"),
        ({"systems": {}}, "the experiment has no systems"),
        ({"systems": {"a": "bm26"}}, "unknown retriever 'bm26'"),
        ({"systems": {"a": 3}}, "the system 'a' has type int and cannot be called"),
        (
            {"systems": {"a": first, "h": Hybrid(["a", "b"])}},
            "unknown system 'b'\nhint: .*: a, h",
        ),
        ({"systems": {"a": first, "h": Hybrid(["a", "h"])}}, "'h' is built on itself"),
        ({"baseline": "x"}, "unknown baseline 'x'\nhint: available systems: a, b"),
        ({"measures": "nDCGG@10"}, "nDCGG"),
        ({"by": "kind"}, "column 'kind' not found in the queries"),
        ({"repeats": 0}, "repeats must be an integer of at least 1, got 0"),
        ({"timeout": 0}, "timeout must be a positive number of seconds, got 0"),
        ({"seeds": []}, "seeds must be different numbers"),
        ({"metrics": "AP"}, r"Experiment\(\) has no parameter 'metrics'\nhint: use measures="),
    ],
)
def test_errors_before_any_work(change, message):
    def never(query):
        raise AssertionError("called")

    arguments = {
        "corpus": DOCUMENTS,
        "queries": QUERIES,
        "qrels": QRELS,
        "systems": {"a": never, "b": never},
    }
    with pytest.raises(GoodgainError, match=message):
        gg.Experiment(**{**arguments, **change})


def test_unjudged_queries_can_be_skipped():
    one = gg.Experiment(
        DOCUMENTS, {**QUERIES, "extra": "text"}, QRELS, {"a": first}, unjudged="skip"
    )
    assert "extra" not in one.queries
    assert "MRR" in str(one.run())  # one system alone is measured and timed


def test_progress_is_drawn_in_a_terminal_only(monkeypatch):
    import io

    from goodgain.experiment.progress import Progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    drawn = {}
    for kind in (Terminal, io.StringIO):
        monkeypatch.setattr("sys.stderr", kind())
        bar = Progress("searching", 4, True)
        for _ in range(4):
            bar.advance()
        drawn[kind] = sys.stderr.getvalue()
        bar.close()
    assert "searching [########################] 4/4, 0 s left" in drawn[Terminal]
    assert drawn[io.StringIO] == ""


def test_more_repeats_continue(tmp_path):
    calls = SimpleQueue()

    def counted(query):
        calls.put(query)
        return first(query)

    experiment({"a": counted, "b": first}, warmup=0, control=False).run(tmp_path)
    result = experiment({"a": counted, "b": first}, warmup=0, repeats=3, control=False).run(
        tmp_path
    )
    assert calls.qsize() == 3 * len(QUERIES)
    assert result.timings["a"].calls == 3 * len(QUERIES)
