"""Where the system refuses to start threads, a command does without or says so; none crashes or hangs."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from interrupts import LEFT, WAITING, attempt, clean, words_of

from goodgain.cli import COMMANDS
from goodgain.experiment import Experiment, loops
from goodgain.experiment.timing import Caller
from goodgain.labels.threads import DaemonThreads
from goodgain.threads import NoThreadsError

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="needs LD_PRELOAD and a compiler"
)
LINES = [
    "goodgain: the system refuses to start another thread",
    "hint: raise the limit on processes: ulimit -u, or the limit on PIDs of a container",
]


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "no_threads.so"
    source = Path(__file__).parents[1] / "native" / "no_threads.c"
    subprocess.run(
        ["cc", "-O1", "-Wall", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
    )  # fmt: skip
    return str(library)


@pytest.mark.parametrize(
    ("command", "count"), [*((c, 0) for c in COMMANDS), ("plot", 2), ("live", 1), ("label", 2)]
)
def test_few_threads(long_inputs, slow_server, shim, monkeypatch, command, count):
    monkeypatch.setenv("LD_PRELOAD", shim)
    monkeypatch.setenv("THREADS", str(count))
    waiting = command in WAITING
    at = 2.5 if waiting else 1.0
    outcome = attempt(long_inputs, words_of(command, slow_server.server_port), at, waiting=waiting)
    left = [name for name in outcome.written if name not in LEFT.get(command, ())]
    clean(long_inputs, outcome.written)
    assert outcome.seconds < 20, outcome
    if outcome.status == 2:
        assert outcome.errors.splitlines()[-2:] == LINES, outcome
        assert not left, outcome
    else:  # it did without, perhaps until the Ctrl-C of this test
        assert outcome.status in (0, 130, -signal.SIGINT), outcome
        while_python_ends = outcome.status != 130 and "KeyboardInterrupt" in outcome.errors
        assert "Traceback" not in outcome.errors or while_python_ends, outcome


def refuse(thread):
    raise RuntimeError("can't start new thread")


async def squares(pool, count):
    return await asyncio.gather(*(pool.run(lambda n: n * n, n) for n in range(count)))


def test_a_judge_without_threads_ends_the_run(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NoThreadsError):
        asyncio.run(squares(DaemonThreads(3), 1))


def test_a_judge_with_fewer_threads_makes_every_call(monkeypatch):
    pool = DaemonThreads(3)
    asyncio.run(squares(pool, 1))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert asyncio.run(asyncio.wait_for(squares(pool, 5), 20)) == [0, 1, 4, 9, 16]
    pool.close()


def test_the_loop_of_retrievers_can_be_started_later(monkeypatch):
    async def seven():
        return 7

    monkeypatch.setattr(loops, "_loop", None)
    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", refuse)
        waiting = seven()
        with pytest.raises(NoThreadsError):
            loops.wait_for(waiting)
        waiting.close()
    assert loops.wait_for(seven(), 20) == 7


def test_no_thread_is_no_failure_of_a_system(monkeypatch):
    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", refuse)
        with pytest.raises(NoThreadsError):
            Caller(10, timeout=5.0).call(lambda query: ["d1"], "river")
    outcome = Caller(10, timeout=5.0).call(lambda query: ["d1"], "river")
    assert len(outcome.ranking) == 1 and not outcome.error


def test_no_thread_while_indexing_ends_the_experiment(tmp_path):
    class System:
        def index(self, documents):
            raise NoThreadsError

        def __call__(self, query):
            return ["d1"]

    experiment = Experiment(
        corpus={"d1": "a river"}, queries={"q1": "river"}, qrels={"q1": {"d1": 1}},
        systems={"a": System()}, measures="AP",
    )  # fmt: skip
    with pytest.raises(NoThreadsError):
        experiment.run(folder=tmp_path)
