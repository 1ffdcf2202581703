"""What an experiment may be trusted with: edited systems, failures, locks, seeds, depths, latencies."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from queue import SimpleQueue

import pytest

import goodgain as gg
from goodgain.errors import GoodgainError, UsageError
from goodgain.experiment.retrievers import BM25, KNN, Hybrid, Retriever, Swarm
from goodgain.experiment.session import warm_up_queries

DOCUMENTS = {f"d{i}": f"word{i} about topic{i % 5} and more" for i in range(40)}
QUERIES = {f"q{i}": f"topic{i % 5} word{i}" for i in range(10)}
QRELS = {q: {f"d{i}": 1 for i in range(40) if i % 5 == int(q[1:]) % 5} for q in QUERIES}


def right(query):
    topic = int(query.split()[0][5:])
    return [(f"d{topic + 5 * i}", 9.0 - i) for i in range(8)]


def wrong(query):
    return [("d-none", 9.5), *right(query)[7:]]


def run(systems, folder=None, **options):
    options = {"warmup": 0, "measures": "P@5", **options}
    return gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, **options).run(folder)


class Shifted:
    """A retriever whose answers depend on its state."""

    def __init__(self, shift):
        self.shift = shift

    def __call__(self, query):
        return right(query)[self.shift :]


class Subclass(Retriever):
    name = "mine"

    def __init__(self, *, shift: int = 0) -> None:
        self.shift = shift

    def search(self, query, depth):
        return right(query)[self.shift :]


def made(shift):
    return lambda query: right(query)[shift:]


EDITS = {
    "another function of the same name": lambda: (
        _function("def search(query): return [('d-none', 1.0)]"),
        _function("def search(query): return [(f'd{int(query[5])}', 1.0)]"),
    ),
    "a lambda": lambda: ((lambda query: wrong(query)), (lambda query: right(query))),
    "a closure": lambda: (made(8), made(0)),
    "the state of an object": lambda: (Shifted(8), Shifted(0)),
    "a bound method": lambda: (Shifted(8).__call__, Shifted(0).__call__),
    "a parameter of a class": lambda: (Subclass(shift=8), Subclass(shift=0)),
    "an embedding": lambda: (
        KNN(lambda texts: [[1.0, 0.0] for _ in texts]),
        KNN(lambda texts: [[float("topic1" in t), float("topic2" in t) + 0.1] for t in texts]),
    ),
    "a built-in's parameter": lambda: (
        BM25(prepare=lambda text: text[:3]), BM25(prepare=lambda text: text.lower()),
    ),
    "a component": lambda: (
        Hybrid([wrong, wrong], depth=20), Hybrid([right, right], depth=20),
    ),
}  # fmt: skip


def _function(text):
    space: dict = {}
    exec(text, space)
    return space["search"]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_system_is_run_again(edit, tmp_path):
    before, after = EDITS[edit]()
    first = run({"mine": before, "other": right}, tmp_path)
    second = run({"mine": after, "other": right}, tmp_path)
    fresh = run({"mine": after, "other": right})
    assert second["mine"]["P@5"] == fresh["mine"]["P@5"] != first["mine"]["P@5"]
    assert second["other"]["P@5"] == first["other"]["P@5"]
    opened = gg.ExperimentResult.open(tmp_path)
    assert opened["mine"]["P@5"] == second["mine"]["P@5"]
    again = run({"mine": before, "other": right}, tmp_path)
    assert again["mine"]["P@5"] == first["mine"]["P@5"]


def test_an_unchanged_system_is_not_run_again_by_another_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import goodgain as gg, sys\n"
        "log = sys.argv[1]\n"
        "SHIFT = 2\n"
        "class Mine:\n"
        "    def __init__(self): self.words = {'a', 'b', 'c', 'd'}\n"
        "    def __call__(self, query):\n"
        "        open(log, 'a').write('x')\n"
        "        return [f'd{(len(query) + i + SHIFT) % 9}' for i in range(3)]\n"
        "docs = {f'd{i}': f'text {i}' for i in range(9)}\n"
        "queries = {f'q{i}': 'text ' * (i + 1) for i in range(5)}\n"
        "qrels = {q: {'d1': 1} for q in queries}\n"
        "gg.Experiment(docs, queries, qrels, {'mine': Mine()}, warmup=0).run(sys.argv[2])\n"
    )
    log, folder = tmp_path / "log", tmp_path / "folder"
    for _ in range(2):  # hashes of sets differ between processes
        subprocess.run([sys.executable, script, log, folder], check=True)
    assert log.read_text() == "x" * 5
    script.write_text(script.read_text().replace("SHIFT = 2", "SHIFT = 3"))
    subprocess.run([sys.executable, script, log, folder], check=True)
    assert log.read_text() == "x" * 10


def test_a_system_whose_state_cannot_be_read_is_run_again_unless_it_has_a_version(tmp_path):
    import sqlite3

    database = sqlite3.connect(":memory:", check_same_thread=False)
    calls = SimpleQueue()

    def search(query):
        calls.put(query)
        return [str(row[0]) for row in database.execute("SELECT 'd1'")]

    run({"mine": search}, tmp_path / "a")
    result = run({"mine": search}, tmp_path / "a")
    assert calls.qsize() == 20
    assert any("versions=" in text and "sqlite3.Connection" in text for text in result.warnings())
    many = run({"mine": search}, tmp_path / "c", repeats=3)
    assert many.timings["mine"].calls == 30
    once = run({"mine": search}, tmp_path / "c")
    assert once.timings["mine"].calls == 10  # nothing of the run before is mixed in
    while calls.qsize() > 20:
        calls.get()
    for version, expected in (("1", 30), ("1", 30), ("2", 40)):
        result = run({"mine": search}, tmp_path / "b", versions={"mine": version})
        assert calls.qsize() == expected
        assert not any("versions=" in text for text in result.warnings())
    with pytest.raises(UsageError, match="unknown system 'mien' in versions"):
        run({"mine": search}, versions={"mien": "1"})


def test_a_system_that_always_fails_is_a_row_with_its_error(tmp_path):
    def down(query):
        raise ConnectionRefusedError("port 9")

    result = run({"up": right, "down": down}, tmp_path)
    assert result.systems == ("up",)
    assert result["up"]["P@5"] == 1
    assert result.failures["down"].calls == 10
    assert "ConnectionRefusedError: port 9" in str(result)
    assert any("down: 10 calls failed: ConnectionRefusedError" in w for w in result.warnings())
    with pytest.raises(KeyError, match="no answer"):
        result["down"]
    assert "down" in gg.ExperimentResult.open(tmp_path).failures
    repaired = run({"up": right, "down": right}, tmp_path)
    assert repaired["down"]["P@5"] == 1
    assert not repaired.failures
    result.report(tmp_path / "page.html")


def test_a_baseline_that_fails_is_said(tmp_path):
    def down(query):
        raise OSError("gone")

    result = run({"down": down, "a": right, "b": wrong}, tmp_path)
    assert result.comparison.baselines == ("a",)
    assert any("the baseline down has no answer" in text for text in result.warnings())
    alone = run({"down": down}, tmp_path / "alone")
    assert "OSError: gone" in str(alone)
    with pytest.raises(GoodgainError, match="no system answered"):
        alone.report(tmp_path / "page.html")


def test_failed_calls_are_made_again_on_resume(tmp_path):
    flag = tmp_path / "up"

    def flaky(query):
        if "word3" in query and not flag.exists():
            raise RuntimeError("down")
        return right(query)

    first = run({"a": right, "flaky": flaky}, tmp_path / "out")
    assert first["flaky"]["P@5"] == 0.9
    flag.touch()
    second = run({"a": right, "flaky": flaky}, tmp_path / "out")
    assert second["flaky"]["P@5"] == 1
    assert second.timings["flaky"].errors == {}
    assert len(second.folder.calls) == len(first.folder.calls) + 1


def test_an_index_that_fails_costs_its_own_row(tmp_path):
    class Broken:
        def __init__(self, works):
            self.works = works

        def index(self, documents):
            if not self.works:
                raise MemoryError("too large")

        def __call__(self, query):
            return right(query)

    result = run({"a": right, "broken": Broken(False)}, tmp_path)
    assert "cannot index the documents: MemoryError: too large" in result.failures["broken"].error
    assert result["a"]["P@5"] == 1
    assert run({"a": right, "broken": Broken(True)}, tmp_path)["broken"]["P@5"] == 1


@pytest.mark.parametrize(
    ("measures", "depth"),
    [("Recall@1000", 1000), ("P@5", 100), ("AP", 1000), ("MRR", 100), ("nDCG@250 P@5", 250)],
)
def test_the_depth_follows_the_measures(measures, depth):
    def all_of_them(query):
        return [(f"x{i}", 2000.0 - i) for i in range(2000)]

    result = run({"a": all_of_them}, measures=measures)
    assert result.settings["depth"] == depth
    assert {len(call["hits"]) for call in result.folder.calls} == {depth}
    assert not any("lists" in text for text in result.warnings())


def test_lists_that_are_too_short_are_said():
    result = run({"a": right, "b": lambda query: right(query)[:3]}, measures="P@5")
    assert any("b at most 3, others up to 8" in text for text in result.warnings())
    cut = run({"a": right}, measures="P@20", depth=4)
    assert "P@20 looks at 20 documents, but lists are cut to 4" in cut.warnings()


@pytest.mark.parametrize("seeds", [[3, 1, 2], [10, 9]])
def test_every_seed_has_its_own_file(seeds, tmp_path):
    class Seeded:
        def __init__(self, seed=0):
            self.seed = seed

        def seeded(self, seed):
            return Seeded(seed)

        def __call__(self, query):
            return [(f"seed{self.seed}", 1.0), ("d1", 0.5)]

    result = run({"mine": Seeded(), "a": right}, tmp_path, seeds=seeds)
    for seed in seeds:
        assert f"seed{seed} 1" in (tmp_path / "runs" / f"mine.seed{seed}.run").read_text()
    assert result.seeds["mine"] == sorted(seeds)
    fewer = run({"mine": Seeded(), "a": right}, tmp_path, seeds=seeds[:1])
    assert fewer.seeds["mine"] == seeds[:1]
    assert len(fewer.runs["mine"]) == 1
    more = run({"mine": Seeded(), "a": right}, tmp_path, seeds=[*seeds, 77])
    assert more.seeds["mine"] == sorted([*seeds, 77])


def test_systems_with_similar_names_have_their_own_files(tmp_path):
    names = ["a/b", "a_b", "a%2Fb", "a b", "..", "a\\b", "é"]
    run(dict.fromkeys(names, right), tmp_path)
    assert len(list((tmp_path / "runs").glob("*.run"))) == len(names)


def test_a_folder_is_used_by_one_process_at_a_time(tmp_path):
    folder = tmp_path / "out"
    script = (
        "import goodgain as gg, sys, time\n"
        "def slow(query):\n"
        "    print('called', flush=True)\n"
        "    time.sleep(30)\n"
        "    return ['d1']\n"
        "gg.Experiment({'d1': 'x'}, {'q1': 'x'}, {'q1': {'d1': 1}}, {'slow': slow}, warmup=0)"
        ".run(sys.argv[1])\n"
    )
    other = subprocess.Popen([sys.executable, "-c", script, folder], stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"called\n"
        with pytest.raises(GoodgainError, match=rf"is in use by process {other.pid} \(since "):
            run({"a": right}, folder)
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    with pytest.raises(GoodgainError, match="different documents or queries"):
        run({"a": right}, folder)  # the lock is gone with the process


def test_data_that_changed_is_noticed(tmp_path):
    run({"a": right}, tmp_path)
    for documents, queries in (
        ({**DOCUMENTS, "d0": "another text"}, QUERIES),
        (DOCUMENTS, {**QUERIES, "q0": "topic0 another"}),
    ):
        other = gg.Experiment(documents, queries, QRELS, {"a": right})
        with pytest.raises(GoodgainError, match="different documents or queries"):
            other.run(tmp_path)


def test_warm_up_queries_are_none_of_the_timed_ones():
    seen = SimpleQueue()

    def logged(query):
        seen.put(query)
        return right("topic1 x")

    run({"a": logged}, warmup=3)
    queries = [seen.get() for _ in range(seen.qsize())]
    assert len(queries) == 13
    assert not set(queries[:3]) & set(QUERIES.values())
    assert len(set(queries)) == 13
    assert warm_up_queries(["one"], 2) == ["one one"]
    assert warm_up_queries(["a b", "a b"], 2)[0] not in ("a b",)


def test_latencies_of_different_sessions_are_not_compared(tmp_path):
    def slow(query):
        time.sleep(0.01)
        return right(query)

    run({"a": right, "b": wrong}, tmp_path, measures="P@5 Latency")
    result = run({"a": right, "b": wrong, "slow": slow}, tmp_path, measures="P@5 Latency")
    compared = {(pair.system, pair.measure.name) for pair in result.comparison.pairs}
    assert ("b", "Latency") in compared
    assert ("slow", "P") in compared
    assert ("slow", "Latency") not in compared
    assert any("slow was timed in another session than a" in text for text in result.warnings())
    together = run({"a": right, "b": wrong, "slow": slow}, measures="P@5 Latency")
    assert together.comparison["slow", "Latency"].stars.startswith("†")


def test_a_repeated_call_is_warm_and_reported_apart():
    cache = {}

    def cached(query):
        if query not in cache:
            time.sleep(0.02)
            cache[query] = True
        return right(query)

    result = run({"a": cached}, repeats=3)
    timing = result.timings["a"]
    assert timing.mean >= 0.02
    assert timing.warm.mean < 0.01
    assert timing.warm.p95 < 0.02 <= timing.p50
    assert result["a"]["Latency"] >= 0.02


def test_integer_ids_work_everywhere(tmp_path):
    documents = {i: f"word{i}" for i in range(5)}
    queries = {i: f"word{i}" for i in range(3)}
    qrels = {i: {i: 1} for i in range(3)}
    systems = {
        "ids": lambda query: [int(query[4:]), 4],
        "pairs": lambda query: [(int(query[4:]), 2.5), (4, 1)],
        "keyword": "bm25",
    }
    result = gg.Experiment(documents, queries, qrels, systems, measures="P@1").run(tmp_path)
    assert [result[name]["P@1"] for name in systems] == [1, 1, 1]
    assert gg.ExperimentResult.open(tmp_path)["ids"]["P@1"] == 1


def test_duplicates_and_identity_are_those_of_evaluate():
    def chunks(query):
        topic = int(query[5])
        return [(f"d{topic}#2", 3.0), (f"d{topic}#1", 2.0), (f"d{topic + 5}#1", 1.0)]

    result = run({"a": chunks}, identity="doc#chunk", measures="P@2")
    assert result["a"]["P@2"] == 1
    twice = lambda query: [("d9", 5.0), ("d1", 3.0), ("d9", 1.0)]  # noqa: E731
    assert run({"a": twice}).runs["a"][0].to_dict()["q1"] == {"d9": 5.0, "d1": 3.0}
    late = lambda query: [("d9", 1.0), ("d1", 3.0), ("d9", 5.0)]  # noqa: E731
    assert run({"a": late}, duplicates="first").runs["a"][0].to_dict()["q1"]["d9"] == 1.0
    failed = run({"a": twice}, duplicates="error")
    assert "duplicate document 'd9'" in failed.failures["a"].error
    with pytest.raises(UsageError, match="invalid duplicates='all'"):
        run({"a": right}, duplicates="all")


def test_an_async_client_stays_on_its_loop_inside_a_hybrid():
    class Client:
        loop = None

        async def __call__(self, query):
            running = asyncio.get_running_loop()
            if self.loop not in (None, running):
                raise RuntimeError("attached to a different loop")
            self.loop = running
            await asyncio.sleep(0)
            return right(query)

    client = Client()
    result = run({"client": client, "hybrid": Hybrid([client, "keyword"]), "keyword": BM25()})
    assert not result.failures
    assert all(not t.errors for t in result.timings.values())


def test_a_runaway_does_not_slow_the_others():
    def hangs(query):
        if "word2" in query:
            end = time.perf_counter() + 0.5
            while time.perf_counter() < end:
                sum(range(1000))
        return right(query)

    result = run({"hangs": hangs, "a": right}, timeout=0.2, measures="P@5 Latency")
    assert result.timings["hangs"].timed_out == 1
    beside = sum(t.beside for t in result.timings.values())
    timed = sum(t.calls for t in result.timings.values())
    assert timed + beside == 20
    assert beside >= 1
    assert any("overlapped with one that had timed out" in text for text in result.warnings())


def test_the_machine_is_recorded(tmp_path):
    run({"a": "knn"}, tmp_path)
    settings = json.loads((tmp_path / "experiment.json").read_text())
    machine = settings["machine"]
    assert machine["cores"] >= 1
    assert machine["cpu"]
    assert "blas" in machine
    assert len(machine["load"]) == 2
    assert settings["versions"]["numpy"]


def test_seeds_of_swarm_still_share_an_index(tmp_path):
    result = run({"knn": "knn", "swarm": Swarm("knn")}, tmp_path, seeds=[2, 1])
    assert result.seeds["swarm"] == [1, 2]
    assert result.seeds["knn"] == [None]


def test_secrets_are_never_saved(tmp_path, monkeypatch):
    from goodgain.experiment.retrievers import make

    monkeypatch.setenv("MY_KEY", "very-secret-1")
    systems = {
        "variable": make("http", {"url": "http://127.0.0.1:9/?q={query}&api_key=${MY_KEY}"}),
        "url": make(
            "http", {"url": "http://me:very-secret-2@127.0.0.1:9/?q={query}&token=very-secret-3"}
        ),
        "body": make(
            "http",
            {
                "url": "http://127.0.0.1:9/",
                "body": {"query": "{query}", "auth": {"password": "very-secret-4"}},
                "headers": {"Authorization": "Bearer very-secret-5"},
            },
        ),
        "a": right,
    }
    result = run(systems, tmp_path / "out")
    result.report(tmp_path / "out" / "page.html")
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert "very-secret" not in path.read_text(errors="replace"), path
    settings = json.loads((tmp_path / "out" / "experiment.json").read_text())["systems"]
    assert "api_key=${MY_KEY}" in settings["variable"]["url"]
    assert settings["body"]["body"]["query"] == "{query}"


def test_an_interrupted_experiment_is_said(tmp_path):
    def stops(query):
        if "word5" in query:
            raise KeyboardInterrupt
        return right(query)

    with pytest.raises(KeyboardInterrupt):
        run({"a": stops}, tmp_path)
    with pytest.raises(GoodgainError, match="was interrupted before it had a result"):
        str(gg.ExperimentResult.open(tmp_path))
    run({"a": right}, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run({"a": stops}, tmp_path)
    opened = gg.ExperimentResult.open(tmp_path)
    assert any("a: interrupted after 5 of 10 queries" in text for text in opened.warnings())
