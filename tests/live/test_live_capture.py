"""The capture itself: decorators, conversations, sampling, redaction, rotation, and what can go wrong."""

from __future__ import annotations

import asyncio
import errno
import inspect
import json
import logging
import multiprocessing
import os
import random
import threading
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from captured_traces import PAGES, only, queries, read

import goodgain as gg
from goodgain.live import capture, open_tool, search_tool
from goodgain.live.encoding import encode
from goodgain.live.recent import Recent


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.jsonl"


# --- plain functions ---


def test_a_function(path):
    @gg.search_tool
    def find_pages(query, limit=2):
        """Docs."""
        return PAGES[:limit]

    with capture(path, system="mine") as live, live.conversation("c1", user="Where?") as turn:
        assert find_pages("Seine", limit=1) is not None
        assert find_pages(query="Loire") == PAGES
        turn.answer("At Source-Seine [1].", citations=["https://example.org/seine"], tokens=9)
    trace = only(path)
    assert (trace.conversation, trace.system) == ("c1", "mine")
    assert [(s.query, s.tool, len(s.results)) for s in trace.searches()] == [
        ("Seine", "find_pages", 1),
        ("Loire", "find_pages", 2),
    ]
    (turn,) = trace.turns
    assert (turn.user, turn.answer) == ("Where?", "At Source-Seine [1].")
    assert {c.url for c in turn.citations} == {"https://example.org/seine", None}
    assert turn.iterations[-1].tokens == 9
    assert find_pages.__doc__ == "Docs."
    assert list(inspect.signature(find_pages).parameters) == ["query", "limit"]


def test_without_a_capture_nothing_happens(tmp_path):
    @gg.search_tool
    def find(query):
        return query

    assert find("a") == "a"
    with capture(tmp_path / "t.jsonl"):
        find("b")
    assert find("c") == "c"
    assert queries(only(tmp_path / "t.jsonl")) == ["b"]


def test_methods_coroutines_and_generators(path):
    class Index:
        @search_tool
        def find(self, query):
            return PAGES

        @search_tool
        @classmethod
        def find_all(cls, query):
            return PAGES

        @search_tool
        @staticmethod
        def find_any(query):
            return PAGES

        @search_tool(name="slow", query="text")
        async def find_later(self, limit, text):
            await asyncio.sleep(0)
            return PAGES[:limit]

        @search_tool
        def stream(self, query):
            yield PAGES[0]
            yield PAGES[1]
            return "done"

        @search_tool
        async def stream_later(self, query):
            for page in PAGES:
                yield page

        @search_tool
        def lazily(self, query):
            return (page for page in PAGES)

        @search_tool
        def iterator(self, query):
            return iter(PAGES)

        @search_tool
        def promised(self, query):
            return self._promise()

        async def _promise(self):
            return PAGES[:1]

    async def later(index):
        first = await index.find_later(1, "d")
        assert first == PAGES[:1]
        assert [p async for p in index.stream_later("f")] == PAGES
        assert await index.promised("g") == PAGES[:1]

    def consume(generator):
        pages = []
        try:
            while True:
                pages.append(next(generator))
        except StopIteration as stop:
            return pages, stop.value

    index = Index()
    with capture(path) as live, live.conversation("c1"):
        assert index.find("a") is PAGES
        assert Index.find_all("b") is Index().find_all("b") is PAGES
        assert Index.find_any("c") is PAGES
        asyncio.run(later(index))
        assert consume(index.stream("e")) == (PAGES, "done")
        assert list(index.lazily("h")) == PAGES
        stopped = index.stream("i")
        next(stopped)
        stopped.close()
        assert list(index.iterator("j")) == PAGES
        assert live.errors == 0
    trace = only(path)
    counts = {s.query: len(s.results) for s in trace.searches()}
    assert counts == {
        "a": 2, "b": 2, "c": 2, "d": 1, "e": 2, "f": 2, "g": 1, "h": 2, "i": 1, "j": 0,
    }  # fmt: skip
    unread = {s.query: s.unread for s in trace.searches() if s.unread}
    assert unread == {"j": "an iterator of type 'list_iterator'"}
    assert Counter(queries(trace))["b"] == 2
    assert {s.tool for s in trace.searches() if s.query == "d"} == {"slow"}


def test_generators_are_passed_through():
    """Sent values and thrown errors reach the function as without the decorator."""

    def talk():
        heard = []
        while len(heard) < 3:
            try:
                heard.append((yield len(heard)))
            except KeyError as error:
                heard.append(repr(error))
        return heard

    def use(generator):
        next(generator)
        generator.send("x")
        generator.throw(KeyError("y"))
        try:
            generator.send("z")
        except StopIteration as stop:
            return stop.value

    assert use(search_tool(talk)()) == use(talk()) == ["x", "KeyError('y')", "z"]


Row = namedtuple("Row", "id score")


@dataclass
class Page:
    url: str
    title: str


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (["d1", "d2"], 2),
        ([("d1", 0.5), ("d2", 0.25)], 2),
        ([Row("d1", 0.5)], 1),
        ([Page("https://x.org", "X")], 1),
        ({"results": PAGES, "total": 2}, 2),
        (json.dumps(PAGES), 2),
        ([], 0),
        (({"id": 1, "score": float("nan")},), 1),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_a_search_may_return(path, value, number):
    find = search_tool(lambda query: value, name="find")
    with capture(path) as live, live.conversation("c1"):
        assert find("a") is value
        assert live.errors == live.dropped == 0
    (search,) = only(path).searches()
    assert (len(search.results), search.unread, search.error) == (number, None, None)


def test_what_cannot_be_read_is_unread(path):
    find = search_tool(lambda query: object(), name="find")
    prose = search_tool(lambda query: "The Seine rises somewhere.", name="prose")
    with capture(path) as live, live.conversation("c1"):
        find("a")
        prose("b")
    first, second = only(path).searches()
    assert first.unread and second.unread and not first.results


def test_errors_are_raised_and_captured(path):
    @search_tool
    def find(query):
        raise KeyError("down")

    @search_tool
    async def find_later(query):
        raise asyncio.CancelledError

    with capture(path) as live, live.conversation("c1"):
        with pytest.raises(KeyError, match="down"):
            find("a")
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(find_later("b"))
    assert [s.error for s in only(path).searches()] == ["'down'", "CancelledError"]


def test_results_are_taken_out_by_a_function(path):
    @search_tool(results=lambda reply: reply["stuff"])
    def find(query):
        return {"stuff": ["d1", "d2", "d3"]}

    @search_tool(results=lambda reply: reply["missing"])
    def find_badly(query):
        return {}

    with capture(path) as live, live.conversation("c1"):
        find("a")
        assert find_badly("b") == {}
        assert (live.errors, live.dropped) == (1, 0)
    first, second = only(path).searches()
    assert len(first.results) == 3
    assert second.unread == "results that could not be taken out: KeyError('missing')"


def test_opens(path):
    @open_tool
    def fetch(url):
        return "text"

    @open_tool(name="read")
    def read_document(document_id, depth=1):
        return "text"

    with capture(path) as live, live.conversation("c1"):
        fetch("https://example.org/seine")
        read_document("d7")
    opens = [o for i in only(path).turns[0].iterations for o in i.opens]
    assert [(o.url, o.id, o.tool) for o in opens] == [
        ("https://example.org/seine", None, "fetch"),
        (None, "d7", "read"),
    ]


def test_functions_inside_functions_are_one_search(path):
    @search_tool
    def inner(query):
        return PAGES

    @search_tool
    def outer(query):
        return inner(query)

    with capture(path) as live, live.conversation("c1"):
        outer("a")
    assert queries(only(path)) == ["a"]


# --- conversations ---


def test_a_name_again_is_the_next_turn(path):
    find = search_tool(lambda query: PAGES, name="find")
    with capture(path) as live:
        for number in range(3):
            with live.conversation("c1", user=f"u{number}"):
                find(f"q{number}")
            with live.conversation("other", user="x"):
                pass
    traces = read(path)
    assert [(t.user, t.iterations[0].searches[0].query) for t in traces["c1"].turns] == [
        ("u0", "q0"), ("u1", "q1"), ("u2", "q2"),
    ]  # fmt: skip
    assert len(traces["other"].turns) == 3 and not list(traces["other"].searches())


def test_steps_are_iterations(path):
    find = search_tool(lambda query: PAGES, name="find")
    with capture(path) as live, live.conversation("c1") as turn:
        turn.step(tokens=5, cost=0.25)
        find("a")
        find("b")
        turn.step()
        find("c")
    iterations = only(path).turns[0].iterations
    assert [len(i.searches) for i in iterations] == [2, 1]
    assert (iterations[0].tokens, iterations[0].cost) == (5, 0.25)


def test_threads_and_tasks_without_names_do_not_mix(path):
    find = search_tool(lambda query: PAGES, name="find")

    async def agent(number):
        for step in range(5):
            await asyncio.sleep(0)
            find(f"{number}.{step}")

    async def agents():
        await asyncio.gather(*map(agent, range(50)))

    with capture(path):
        asyncio.run(agents())
        barrier = threading.Barrier(8)

        def work(number):
            barrier.wait()
            for step in range(5):
                find(f"{number}.{step}")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(100, 108)))
    reader = gg.read_traces(path)
    traces = list(reader)
    assert sorted(queries(t) for t in traces) == sorted(
        [f"{n}.{s}" for s in range(5)] for n in [*range(50), *range(100, 108)]
    )
    assert any("not named when they were captured" in note for note in reader.notes)


def test_named_conversations_in_threads(path):
    find = search_tool(lambda query: PAGES, name="find")
    barrier = threading.Barrier(8)

    def agent(number):
        with live.conversation(f"c{number}", user=f"u{number}") as turn:
            barrier.wait()
            for step in range(20):
                find(f"{number}.{step}")
            turn.answer(f"a{number}")

    with capture(path) as live, ThreadPoolExecutor(8) as pool:
        list(pool.map(agent, range(8)))
    traces = read(path)
    assert len(traces) == 8
    for number in range(8):
        trace = traces[f"c{number}"]
        assert queries(trace) == [f"{number}.{step}" for step in range(20)]
        assert (trace.turns[0].user, trace.turns[0].answer) == (f"u{number}", f"a{number}")


def _work(path, number):
    find = search_tool(lambda query: PAGES * 20, name="find")
    with capture(path, rotate="40 KB") as live:
        for c in range(3):
            with live.conversation(f"{number}.{c}"):
                for step in range(10):
                    find(f"{number}.{c}.{step}")
        assert (live.errors, live.dropped) == (0, 0)


@pytest.mark.slow
def test_processes_and_rotation(tmp_path):
    """Four processes write and rotate one file; the folder, or a pattern, is one source."""
    folder = tmp_path / "live"
    folder.mkdir()
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_work, args=(folder / "t.jsonl", n)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    files = sorted(folder.iterdir())
    assert len(files) > 5 and files[-1].name == "t.jsonl"
    expected = {f"{n}.{c}": [f"{n}.{c}.{s}" for s in range(10)] for n in range(4) for c in range(3)}
    for source in (folder, f"{folder}/t*.jsonl"):
        assert {name: queries(t) for name, t in read(source).items()} == expected
        assert gg.good_gain(source).ledger.searches == 120
    assert sum(len(queries(t)) for f in files for t in gg.read_traces(f)) == 120


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_goes_on(path):
    find = search_tool(lambda query: PAGES, name="find")
    with capture(path) as live:
        with live.conversation("parent"):
            find("a")
        child = os.fork()
        if not child:
            with live.conversation("child"):
                find("b")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        with live.conversation("parent"):
            find("c")
    assert {n: queries(t) for n, t in read(path).items()} == {"parent": ["a", "c"], "child": ["b"]}


# --- what goes wrong ---


def test_an_unwritable_target(tmp_path, caplog):
    find = search_tool(lambda query: PAGES, name="find")
    with caplog.at_level(logging.WARNING, "goodgain"):
        live = capture(tmp_path / "no" / "t.jsonl")
        with live.conversation("c1", user="u") as turn:
            assert all(find("a") is PAGES for _ in range(10))
            turn.answer("b")
        live.close()
    assert (live.dropped, live.errors) == (12, 13)
    assert caplog.text.count("capture:") == 1
    assert "cannot write" in caplog.text
    assert "dropped=12" in repr(live)


def test_a_target_that_becomes_writable(tmp_path, monkeypatch):
    find = search_tool(lambda query: PAGES, name="find")
    monkeypatch.setattr("goodgain.live.capturing._RETRY", 0.0)
    with capture(tmp_path / "no" / "t.jsonl") as live, live.conversation("c1"):
        find("a")
        (tmp_path / "no").mkdir()
        find("b")
    assert queries(only(tmp_path / "no" / "t.jsonl")) == ["b"]
    assert live.dropped == 1


def test_a_file_of_something_else_is_left_alone(path, caplog):
    path.write_text("my notes\n")
    find = search_tool(lambda query: PAGES, name="find")
    with capture(path) as live, live.conversation("c1"):
        find("a")
    assert path.read_text() == "my notes\n"
    assert live.dropped == 1 and "is not a recording" in caplog.text


def test_a_full_disk(path, monkeypatch, caplog):
    find = search_tool(lambda query: PAGES, name="find")

    with capture(path) as live, live.conversation("c1"):
        find("a")
        with monkeypatch.context() as patch:
            patch.setattr("goodgain.traces.writer.append_line", lambda *line: -1 - errno.ENOSPC)
            assert find("b") is PAGES
        find("c")
    assert queries(only(path)) == ["a", "c"]
    assert (live.errors, live.dropped) == (1, 1)
    assert "No space left on device" in caplog.text


class Hostile:
    """Raises at every touch."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __iter__(self):
        raise RuntimeError("iter")

    def __str__(self):
        raise RuntimeError("str")

    __repr__ = __str__


def test_hostile_values(path):
    hostile = Hostile()
    circle = []
    circle.append(circle)
    with capture(path) as live, live.conversation("c1"):
        for value in (
            hostile,
            [hostile],
            {"a": hostile},
            circle,
            {1: {(2, 3): 4}},
            b"\xff",
            "\ud800",
        ):
            assert search_tool(lambda query, v=value: v, name="find")("q") is value
            search_tool(lambda query: PAGES, name="find")(value)
    reader = gg.read_traces(path)
    (trace,) = reader
    searches = list(trace.searches())
    assert len(searches) == 14 - live.dropped
    assert sum(len(s.results) == 2 for s in searches) >= 7 - live.dropped


def test_recent_forgets():
    recent = Recent(3)
    for number in range(10):
        recent[str(number)] = number
    assert recent.get("9") == 9 and recent.get("0") is None
    assert recent.pop("9") == 9 and recent.get("9") is None and recent.pop("9") is None


# --- lines ---

CHARACTERS = [*map(chr, range(0x60)), *'\x7féöß…中😀"\\\n']
NUMBERS = [0, -1, 2**70, -(2**63), 2**63 - 1, 1.0, -0.0, 1e300, 1e-300, 0.1, True, False, None]


def random_value(chance, depth=0):
    kind = chance.random()
    if depth > 3 or kind < 0.5:
        return "".join(chance.choices(CHARACTERS, k=chance.randrange(40)))
    if kind < 0.6:
        return chance.choice([*NUMBERS, chance.random() * 10 ** chance.randrange(-20, 20)])
    if kind < 0.8:
        return [random_value(chance, depth + 1) for _ in range(chance.randrange(5))]
    return {random_value(chance, 9): random_value(chance, depth + 1) for _ in range(3)}


def test_lines_are_the_json_of_python():
    chance = random.Random(1)
    for _ in range(3000):
        event = {"value": random_value(chance)}
        line = encode(event)
        assert json.loads(line) == event
        assert b"\n" not in line


def test_what_json_cannot_hold():
    event = {
        "nan": float("nan"),
        "keys": {1: "a", None: "b"},
        "half": "\ud800",
        "set": {7},
        "bytes": b"x",
    }
    assert json.loads(encode(event)) == {
        "nan": None, "keys": {"1": "a", "None": "b"}, "half": "?", "set": [7], "bytes": "<bytes>",
    }  # fmt: skip
