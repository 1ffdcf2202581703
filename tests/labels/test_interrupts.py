"""One Ctrl-C ends every wait within a second; in a notebook, interrupting the cell ends the calls."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from server import Server

from goodgain.errors import Interrupted, JudgeError
from goodgain.labels import Fatal, Labels, Limits, Retry, Store, label

pytestmark = pytest.mark.slow

SOON = 1.0  # seconds from Ctrl-C to the end where nothing is in flight


def pairs(count: int) -> list[tuple[str, str, str, str]]:
    return [("q", f"d{i}", "what?", f"document {i}") for i in range(count)]


class Interrupt:
    """Sends Ctrl-C to this process after a delay, and measures how long it takes to end."""

    def __init__(self, *delays: float) -> None:
        self._delays = delays
        self._sent = 0.0

    def __enter__(self) -> "Interrupt":
        threading.Thread(target=self._send, daemon=True).start()
        return self

    def _send(self) -> None:
        for delay in self._delays:
            time.sleep(delay)
            self._sent = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self._sent


async def busy(request: Any) -> int:
    raise Retry("busy")


async def told_to_wait(request: Any) -> int:
    raise Retry("busy", after=500.0)


async def quick(request: Any) -> int:
    return 2


WAITS: dict[str, tuple[Callable[[Any], Any], Limits]] = {
    "backoff": (busy, Limits(wait=100)),
    "retry-after": (told_to_wait, Limits()),
    "requests per minute": (quick, Limits(requests=1)),
    "tokens per minute": (quick, Limits(tokens=1)),
}


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_ctrl_c_ends_every_wait(wait: str, inside_a_loop: bool) -> None:
    judge, limits = WAITS[wait]

    async def inside() -> None:
        label(pairs(50), judge, limits=limits)

    with Interrupt(0.7) as interrupt, pytest.raises(KeyboardInterrupt):
        if inside_a_loop:
            asyncio.run(inside())
        else:
            label(pairs(50), judge, limits=limits)
    assert interrupt.seconds < SOON


def test_ctrl_c_ends_the_wait_for_another_process(tmp_path: Path) -> None:
    from goodgain.labels.claims import Claims

    with Store(tmp_path / "l.db") as store:
        label(pairs(1), quick, store)
        setting = Labels.of(store).setting
        other = Claims(store, ())
        other.take([setting.key("what?", f"document {i}", 0) for i in range(50)])
        with Interrupt(0.7) as interrupt, pytest.raises(Interrupted) as raised:
            label(pairs(50), quick, store)
    assert interrupt.seconds < SOON
    assert "1" in str(raised.value) or "0 of" in str(raised.value)


@pytest.mark.parametrize("ahead", [0.0, 60.0])
def test_ctrl_c_ends_planning_even_if_the_input_waits(
    ahead: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goodgain.labels.labeller._PLAN_AHEAD", ahead)

    def endless() -> Iterator[tuple[str, str, str, str]]:
        yield from pairs(600)
        time.sleep(60)

    with Interrupt(1.5) as interrupt, pytest.raises(KeyboardInterrupt):
        label(endless(), quick)
    assert interrupt.seconds < SOON


def test_an_interrupt_lets_calls_in_flight_finish_and_has_their_labels(tmp_path: Path) -> None:
    started: list[int] = []

    async def slow(request: Any) -> int:
        started.append(1)
        await asyncio.sleep(1.0)
        return 2

    with Interrupt(0.7), pytest.raises(Interrupted) as raised:
        label(pairs(50), slow, tmp_path / "l.db", concurrency=4, name="slow")
    labels = raised.value.result
    assert isinstance(labels, Labels)
    assert labels.summary is not None
    assert labels.summary.statuses == {"ok": 4}
    assert len(started) == 4
    again = label(pairs(50), quick, tmp_path / "l.db", name="slow")
    assert again.summary is not None
    assert again.summary.stored == 4


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_a_second_interrupt_aborts_calls_in_flight(sync: bool, inside_a_loop: bool) -> None:
    def blocking(request: Any) -> int:
        time.sleep(20)
        return 2

    async def waiting(request: Any) -> int:
        await asyncio.sleep(20)
        return 2

    async def inside() -> None:
        label(pairs(4), blocking if sync else waiting)

    with Interrupt(0.7, 0.5) as interrupt, pytest.raises(KeyboardInterrupt):
        if inside_a_loop:
            asyncio.run(inside())
        else:
            label(pairs(4), blocking if sync else waiting)
    assert interrupt.seconds < SOON


def test_an_aborted_call_has_cost_something() -> None:
    class Paid:
        from goodgain.labels import Price

        model, price, max_tokens = "paid", Price(1, 1), 10

        async def __call__(self, request: Any) -> int:
            await asyncio.sleep(20)
            return 2

    store = Store()
    with Interrupt(0.5, 0.3), pytest.raises(KeyboardInterrupt):
        label(pairs(3), Paid(), store, concurrency=2)
    spent = store.db.execute("SELECT count(*), min(estimated) FROM spending").fetchall()
    assert spent == [(2, 1)]


@pytest.mark.parametrize("error", [Fatal("no key"), ValueError("in the callback")])
def test_errors_inside_a_running_loop_are_raised(error: Exception) -> None:
    async def judge(request: Any) -> int:
        if isinstance(error, Fatal):
            raise error
        return 2

    def progress(state: Any) -> None:
        if not isinstance(error, Fatal):
            raise error

    async def inside() -> None:
        label(pairs(50), judge, progress=progress, name="j")

    with pytest.raises(JudgeError if isinstance(error, Fatal) else ValueError):
        asyncio.run(inside())


def test_a_store_that_cannot_be_written_ends_the_calls(tmp_path: Path) -> None:
    calls: list[int] = []

    async def judge(request: Any) -> int:
        calls.append(1)
        if len(calls) == 10:
            store.db.execute("DROP TABLE spending")
            store.db.execute("DROP TABLE replies")
        return 2

    store = Store(tmp_path / "l.db")

    async def inside() -> None:
        label(pairs(1_000), judge, store, concurrency=2, name="j")

    with pytest.raises(Exception, match="replies"):
        asyncio.run(inside())
    assert len(calls) < 40


def test_one_ctrl_c_ends_the_command_while_the_server_asks_it_to_wait(
    server: Server, tmp_path: Path
) -> None:
    server.forms = lambda *_: (429, {"error": {"message": "later"}}, "retry-after: 500\r\n")
    path = tmp_path / "p.jsonl"
    row = {"query_id": "q", "question": "what?"}
    path.write_text(
        "".join(
            json.dumps({**row, "doc_id": str(i), "text": f"{i} FORM=x"}) + "\n" for i in range(50)
        )
    )
    argv = [
        sys.executable, "-m", "goodgain", "label", str(path), "--model", "m", "--base-url",
        server.openai_url, "--store", str(tmp_path / "l.db"),
    ]  # fmt: skip
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while sum(server.requests.values()) < 32 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - start < SOON + 5.0  # Python itself has to end, on a busy machine
    assert process.returncode == 130
    assert "run the same command to continue" in errors and "Traceback" not in errors


CELLS = (
    """
import asyncio, time, threading
from goodgain.labels import Retry, label
calls = []
async def judge(request):
    calls.append(time.monotonic())
    await asyncio.sleep(0.05)
    return 2
pairs = [("q", f"d{i}", "what?", f"text {i}") for i in range(100_000)]
""",
    "label(pairs, judge, name='j', concurrency=2)",
    "count = len(calls); time.sleep(0.5); print(count > 0, len(calls) == count)",
    "label(pairs[:9], lambda request: 1 / 0, retry='invalid').statuses",
    """
from goodgain.labels import Fatal
async def wrong(request):
    raise Fatal("no such key", "check it")
label(pairs[:9], wrong)
""",
)


def test_interrupting_a_cell_ends_the_calls_and_errors_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", allow_errors=True,
        resources={"metadata": {"path": str(tmp_path)}},
    )  # fmt: skip
    with client.setup_kernel():
        client.execute_cell(notebook.cells[0], 0)
        timer = threading.Timer(
            3.0, lambda: os.kill(client.km.provisioner.process.pid, signal.SIGINT)
        )
        timer.start()
        start = time.monotonic()
        client.execute_cell(notebook.cells[1], 1)
        assert time.monotonic() - start < 20
        for number in (2, 3, 4):
            client.execute_cell(notebook.cells[number], number)
    errors = [
        [output.ename for output in cell.outputs if output.output_type == "error"]
        for cell in notebook.cells
    ]
    assert errors == [[], ["Interrupted"], [], [], ["JudgeError"]]
    assert notebook.cells[2].outputs[0].text.strip() == "True True"
