"""The recorder loses nothing, mixes nothing, and writes what the reader reads."""

import asyncio
import errno
import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

import goodgain as gg
from goodgain.errors import InputError, UsageError
from goodgain.traces.recorder import Recorder
from goodgain.traces.writer import TraceWriter


def read(path):
    return {t.conversation: t for t in gg.read_traces(path)}


def queries(trace):
    return [s.query for s in trace.searches()]


def recorded(tmp_path, results):
    """The canonical results that come back."""
    path = tmp_path / "one.jsonl"
    with gg.record(path, append=True) as rec:
        rec.conversation()
        rec.search("q", results)
    *_, trace = gg.read_traces(path)
    return [r.to_dict() for r in next(trace.searches()).results]


# --- what it writes ---


def test_record_a_loop(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path, system="agent") as rec:
        rec.conversation("c1", user="Where is Paris?")
        rec.search("paris", [{"url": "https://x.org", "gain": 3}, "doc-7"], latency=0.5, tokens=10)
        with rec.iteration():
            rec.search("one", [{"link": "https://x.org", "name": "X"}])
            rec.search("two", [])
        rec.turn("And Rome?")
        rec.search(
            "rome", [{"page_content": "Rome is in Italy", "metadata": {"source": "https://r.org"}}]
        )
        rec.end("In Italy.")
        rec.conversation("c2")
        rec.search("x", [])
    one, two = gg.read_traces(path)
    assert (one.conversation, one.system, two.conversation) == ("c1", "agent", "c2")
    assert [len(i.searches) for i in one.turns[0].iterations] == [1, 2]
    assert one.turns[0].iterations[0].searches[0].latency == 0.5
    assert one.turns[0].iterations[1].searches[0].results[0].url == "https://x.org"
    assert one.turns[1].iterations[0].searches[0].results[0].content == "Rome is in Italy"
    assert one.turns[1].answer == "In Italy."
    assert repr(one) == "Trace('c1', 2 turns, 4 searches, 4 results)"


def test_record_without_conversations(tmp_path):
    with gg.record(tmp_path / "t.jsonl") as rec:
        rec.search("a", [{"id": "1", "gain": 2}])
        rec.search("b", [{"id": "1"}])
    gain = gg.good_gain(tmp_path / "t.jsonl")
    assert gain.figure("SRR").value == 0.5


def test_a_conversation_without_a_search_is_a_conversation(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path) as rec:
        rec.conversation("lazy", user="Where?")
        rec.end("No idea.")
    (trace,) = gg.read_traces(path)
    assert (trace.turns[0].user, trace.turns[0].answer) == ("Where?", "No idea.")


def test_recordings_convert_to_canonical_traces(tmp_path):
    source, target = tmp_path / "t.jsonl", tmp_path / "c.jsonl"
    with gg.record(source) as rec:
        rec.conversation("c1")
        rec.search("a", ["d1"])
    from goodgain.cli import run

    assert run(["convert", str(source), str(target), "-q"]) == 0
    assert json.loads(target.read_text())["conversation"] == "c1"


def test_opens_answers_and_usage(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path) as rec:
        rec.conversation("c1", user="Where?")
        with rec.iteration(tokens=120, cost=0.01, seconds=1.5):
            rec.search("a", ["d1", "d2"], tries=2)
            rec.open({"id": "d1"}, tool="fetch")
        rec.search("b", [], error=TimeoutError("too slow"))
        rec.search("c", unread="the provider withholds the sources")
        rec.open("https://x.org/p")
        rec.answer("There.", citations=[{"id": "d1"}], confidence=0.8, seconds=9)
    (trace,) = map(json.loads, _lines(path))
    turn = trace["turns"][0]
    first, second, third = turn["iterations"]
    assert (first["tokens"], first["cost"], first["seconds"]) == (120, 0.01, 1.5)
    assert first["opens"] == [{"id": "d1", "tool": "fetch"}]
    assert first["searches"][0]["tries"] == 2
    assert second["searches"][0]["error"] == "too slow"
    assert third["searches"][0]["unread"] == "the provider withholds the sources"
    assert third["opens"] == [{"url": "https://x.org/p"}]
    assert (turn["answer"], turn["confidence"], turn["seconds"]) == ("There.", 0.8, 9)
    assert turn["citations"] == [{"id": "d1"}]


def _lines(path):
    from goodgain.traces import open_traces

    return list(open_traces(str(path)).lines())


# --- threads, tasks, processes ---


def test_threads_do_not_mix(tmp_path):
    path = tmp_path / "t.jsonl"
    barrier = threading.Barrier(8)

    def agent(number):
        rec.conversation(f"c{number}", user=f"u{number}")
        barrier.wait()
        for step in range(20):
            with rec.iteration():
                rec.search(f"{number}.{step}.a", [f"d{number}"])
                rec.search(f"{number}.{step}.b", [])
        rec.end(f"a{number}")

    with gg.record(path) as rec, ThreadPoolExecutor(8) as pool:
        list(pool.map(agent, range(8)))
    traces = read(path)
    assert set(traces) == {f"c{n}" for n in range(8)}
    for n in range(8):
        assert queries(traces[f"c{n}"]) == [f"{n}.{s}.{x}" for s in range(20) for x in "ab"]
        assert [len(i.searches) for i in traces[f"c{n}"].turns[0].iterations] == [2] * 20
        assert (traces[f"c{n}"].turns[0].user, traces[f"c{n}"].turns[0].answer) == (
            f"u{n}",
            f"a{n}",
        )


def test_tasks_do_not_mix(tmp_path):
    path = tmp_path / "t.jsonl"

    async def tool(query):
        await asyncio.sleep(0)
        rec.search(query, ["d"])

    async def agent(number):
        rec.conversation(f"c{number}")
        for step in range(10):
            with rec.iteration():  # the tool calls of one step run as tasks of their own
                await asyncio.gather(*(tool(f"{number}.{step}.{x}") for x in "abc"))
            await asyncio.sleep(0)

    async def main():
        await asyncio.gather(*map(agent, range(10)))

    with gg.record(path) as rec:
        asyncio.run(main())
    traces = read(path)
    assert len(traces) == 10
    for n in range(10):
        iterations = traces[f"c{n}"].turns[0].iterations
        assert [sorted(s.query for s in i.searches) for i in iterations] == [
            [f"{n}.{step}.{x}" for x in "abc"] for step in range(10)
        ]


def test_a_pool_inside_an_iteration_uses_its_object(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path) as rec, ThreadPoolExecutor(3) as pool:
        conversation = rec.conversation("c1")
        with rec.iteration() as step:
            list(pool.map(step.search, ["a", "b", "c"]))
        pool.submit(conversation.search, "d", ["d1"]).result()
        with pytest.raises(UsageError, match="no conversation in thread"):
            pool.submit(rec.search, "e").result()
    (trace,) = gg.read_traces(path)
    assert [len(i.searches) for i in trace.turns[0].iterations] == [3, 1]


def _write_from_process(path, number):
    with gg.record(path, append=True) as rec:
        for c in range(5):
            rec.conversation(f"{number}.{c}" if c else None)
            for step in range(10):
                rec.search(f"{number}.{c}.{step}", [{"content": "x" * 3000 * step}] if step else [])


@pytest.mark.slow
def test_processes_write_one_file(tmp_path):
    path = tmp_path / "t.jsonl"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write_from_process, args=(path, n)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    traces = list(gg.read_traces(path))
    assert len(traces) == len({t.conversation for t in traces}) == 20
    assert Counter(q for t in traces for q in queries(t)) == Counter(
        f"{n}.{c}.{s}" for n in range(4) for c in range(5) for s in range(10)
    )
    assert all([s.query.split(".")[2] for s in t.searches()] == list("0123456789") for t in traces)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_may_go_on(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path) as rec:
        rec.conversation("parent")
        rec.search("a", [])
        child = os.fork()
        if not child:
            rec.conversation("child")
            rec.search("b", [])
            os._exit(0)
        rec.search("c", [])
        assert os.waitpid(child, 0)[1] == 0
    traces = read(path)
    assert {name: queries(t) for name, t in traces.items()} == {
        "parent": ["a", "c"],
        "child": ["b"],
    }


_KILLED = """
import sys, goodgain as gg
with gg.record(sys.argv[1], append=True) as rec:
    n = 0
    while True:
        rec.conversation(user="u")
        for _ in range(3):
            rec.search(f"q{n}", [{"content": "x" * 20000, "id": str(n)}])
            print(n, flush=True)
            n += 1
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.slow
def test_kill_loses_nothing_that_was_finished(tmp_path):
    path = tmp_path / "t.jsonl"
    finished = []
    for run in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(path)], stdout=subprocess.PIPE, text=True
        )
        lines = [process.stdout.readline() for _ in range(20 + 7 * run)]
        process.kill()
        lines += process.communicate()[0].splitlines()
        finished.append(int(lines[-1]))
    seen = Counter(int(q[1:]) for t in gg.read_traces(path) for q in queries(t))
    for number in range(max(finished) + 1):
        assert seen[number] >= sum(number <= last for last in finished)


def test_an_incomplete_line_is_reported_and_the_next_run_starts_a_new_one(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path) as rec:
        rec.conversation("c1")
        rec.search("a", ["d1"])
        rec.search("b", ["d2"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    with gg.record(path, append=True) as rec:
        rec.conversation("c2")
        rec.search("c", ["d3"])
    reader = gg.read_traces(path)
    assert [queries(t) for t in reader] == [["a"], ["c"]]
    assert any("1 incomplete line: a process was killed while writing" in n for n in reader.notes)


def test_a_damaged_line_is_an_error(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path) as rec:
        rec.search("a", ["d1"])
    path.write_text(path.read_text() + "not a line}\n")
    with pytest.raises(InputError, match="the line is not valid JSON") as error:
        list(gg.read_traces(path))
    assert error.value.where == f"{path}:3"
    reader = gg.read_traces(path, skip_bad=True)
    assert [queries(t) for t in reader] == [["a"]]
    assert reader.skipped == 1


# --- the second run ---


def test_a_second_run_refuses_or_appends(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path) as rec:
        rec.search("a", [])
    before = path.read_bytes()
    with pytest.raises(UsageError, match="is not empty"), gg.record(path):
        raise AssertionError
    assert path.read_bytes() == before
    with gg.record(path, append=True) as rec:
        rec.search("b", [])
    assert path.read_bytes().startswith(before)
    assert sorted(queries(t) for t in gg.read_traces(path)) == [["a"], ["b"]]


def test_only_recordings_are_appended_to(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"conversation": "c1", "turns": []}\n')
    with pytest.raises(UsageError, match="it is not a recording"), gg.record(path, append=True):
        raise AssertionError


def test_the_same_name_again_is_a_repeat(tmp_path):
    path = tmp_path / "t.jsonl"
    for run in range(3):
        with gg.record(path, system="a", append=True) as rec:
            rec.conversation("c1")
            rec.search(f"run {run}", ["d1"])
            rec.conversation("c1", system="other")
            rec.search("x", [])
    traces = [json.loads(line) for line in _lines(path)]
    assert [t.get("repeat") for t in traces if t["system"] == "a"] == [None, 2, 3]
    assert all(len(t["turns"]) == 1 for t in traces)


def test_a_conversation_is_resumed_by_another_process(tmp_path):
    path = tmp_path / "t.jsonl"
    for turn in range(3):
        with gg.record(path, system="a", append=True) as rec:
            rec.conversation("c1", user=f"u{turn}", resume=True)
            rec.search(f"q{turn}", ["d1"])
            rec.conversation("other")
            rec.search("x", [])
    (trace,) = (t for t in gg.read_traces(path) if t.conversation == "c1")
    assert [(t.user, t.iterations[0].searches[0].query) for t in trace.turns] == [
        ("u0", "q0"), ("u1", "q1"), ("u2", "q2"),
    ]  # fmt: skip


def test_conversations_are_read_as_they_end(tmp_path):
    """A reader holds only the conversations that are not complete."""
    path = tmp_path / "t.jsonl"
    with gg.record(path) as rec:
        for n in range(200):
            rec.conversation(str(n))
            rec.search("q", ["d"])
    from goodgain.traces import open_traces

    first = next(open_traces(str(path)).read())
    assert first["conversation"] == "0"


# --- not strict ---


def test_the_application_goes_on(tmp_path, caplog):
    path = tmp_path / "t.jsonl"
    with caplog.at_level(logging.WARNING, "goodgain"), gg.record(path, strict=False) as rec:
        rec.conversation("c1")
        rec.search("a", [object()])
        rec.search("b", ["d1"], latency="fast")
        rec.search("c", ["d1"])
        thread = threading.Thread(target=rec.search, args=("d",))
        thread.start()
        thread.join()
    assert rec.writer.lost == 1
    assert "no conversation in thread" in caplog.text
    traces = [json.loads(line) for line in _lines(path)]
    assert len(traces) == 2
    first, third = (i["searches"][0] for i in traces[0]["turns"][0]["iterations"])
    assert first["unread"] == "cannot record a result of type 'object'"
    assert third["query"] == "c"
    rec.search("after the end", [])  # only logged
    assert rec.writer.lost == 2


def test_a_full_disk_does_not_stop_the_application(tmp_path, monkeypatch):
    with gg.record(tmp_path / "t.jsonl", strict=False) as rec:
        rec.search("a", [])

        monkeypatch.setattr(
            "goodgain.traces.writer.append_line", lambda fd, line, known: -1 - errno.ENOSPC
        )
        rec.search("b", [])
        assert rec.writer.lost == 1
        rec.writer.strict = True
        with pytest.raises(InputError, match="No space left on device"):
            rec.search("c", [])


# --- misuse ---


def test_misuse(tmp_path):
    with pytest.raises(UsageError, match="the recorder is not open"):
        gg.record(tmp_path / "t.jsonl").search("a", [])
    with pytest.raises(InputError, match="cannot write"):
        gg.record(tmp_path / "no" / "t.jsonl").__enter__()
    with gg.record(tmp_path / "t.jsonl") as rec:
        conversation = rec.conversation("c1")
        rec.end()
        with pytest.raises(UsageError, match="the conversation 'c1' has ended"):
            conversation.search("a")
        with pytest.raises(UsageError, match="no conversation"):
            rec.search("a")
        rec.conversation("c2")
        with pytest.raises(InputError, match="latency"):
            rec.search("a", latency=-1)


def test_the_writer_alone(tmp_path):
    with pytest.raises(UsageError, match="the writer is closed"):
        writer = TraceWriter(tmp_path / "w.jsonl").open()
        writer.write({"a": "\ud800"})
        writer.close()
        writer.write({"b": 1})
    assert (tmp_path / "w.jsonl").read_text() == '{"a": "?"}\n'
    assert isinstance(gg.record(tmp_path / "x"), Recorder)
