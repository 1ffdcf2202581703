"""Calls over several processes: same replies, same failures, and no process outlives its runner."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from server import KEY, Server

from goodgain.errors import UsageError
from goodgain.labels import Fatal, Labels, OpenAIJudge, Prompt, Request, Retry, label
from goodgain.labels.judges.processes import JudgeProcesses

CHILDREN = "/proc/{pid}/task/{pid}/children"
needs_children = pytest.mark.skipif(
    not Path(CHILDREN.format(pid=os.getpid())).exists(), reason="the system does not list children"
)


def ask(document: str) -> Request:
    return Request("what?", (document,), Prompt.of())


def children(pid: int) -> list[int]:
    """The worker processes of a process; it may have other children, such as Spark's."""
    try:
        pids = [int(word) for word in Path(CHILDREN.format(pid=pid)).read_text().split()]
        return [c for c in pids if b"judges.worker" in Path(f"/proc/{c}/cmdline").read_bytes()]
    except OSError:
        return []


def with_two_others(
    server: Server, work: Callable[[JudgeProcesses], Awaitable[None]], timeout: float = 30.0
) -> None:
    """Do the work once two other processes are ready."""

    async def main() -> None:
        judge = JudgeProcesses(OpenAIJudge("m", base_url=server.openai_url, timeout=timeout), 3)
        try:
            assert (await judge(ask("GAIN=1"))).text  # made by this process while the others start
            deadline = time.monotonic() + 60
            while judge.ready < 2 and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
            assert judge.ready == 2
            await work(judge)
        finally:
            await judge.aclose()

    asyncio.run(main())


def test_another_process_makes_most_of_the_calls(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It uses the key from its environment; this process keeps the one that its client was created with."""

    async def main() -> None:
        one = OpenAIJudge("m", base_url=server.openai_url)
        await one(ask("GAIN=1"))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
        judge = JudgeProcesses(one, 2)
        await judge(ask("GAIN=1"))
        while judge.ready < 1:
            await asyncio.sleep(0.05)
        server.headers.clear()
        replies = await asyncio.gather(*(judge(ask(f"GAIN={i % 5} of {i}")) for i in range(40)))
        assert [json.loads(reply.text)["gain"] for reply in replies] == [i % 5 for i in range(40)]
        assert {(reply.tokens_in, reply.tokens_out) for reply in replies} == {(100, 10)}
        await judge.aclose()

    asyncio.run(asyncio.wait_for(main(), 120))
    keys = Counter(headers["authorization"] for headers in server.headers)
    assert keys == {f"Bearer {KEY}": 13, "Bearer sk-another": 27}  # 27 = 13 + 40 / 3


def test_failures_arrive_unchanged(server: Server) -> None:
    async def work(judge: JudgeProcesses) -> None:
        with pytest.raises(Retry, match="status 503") as passing:
            await judge(ask("FAULT=503"))
        assert passing.value.after is None
        with pytest.raises(Retry) as delayed:
            await judge(ask("FAULT=429"))
        assert delayed.value.after is not None
        with pytest.raises(Retry, match="no connection"):
            await judge(ask("FAULT=reset"))
        with pytest.raises(Fatal, match="status 401") as wrong:
            await judge(ask("FAULT=401"))
        assert "OPENAI_API_KEY" in wrong.value.hint
        assert KEY not in str(wrong.value)
        assert (await judge(ask("FAULT=filter"))).status == "filtered"

    with_two_others(server, work)


def test_a_cancelled_call_is_cancelled_in_its_process_too(server: Server) -> None:
    """The server sees the connections of these calls end, long before they would by themselves."""

    async def work(judge: JudgeProcesses) -> None:
        calls = [f"FAULT=drip {i}" for i in range(4)]  # replies that take 50 seconds
        waiting = [asyncio.create_task(judge(ask(call))) for call in calls]
        async with asyncio.timeout(30):
            while not all(server.requests[call] for call in calls):
                await asyncio.sleep(0.02)
        assert not server.abandoned
        for call in waiting:
            call.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert (await judge(ask("GAIN=3"))).status == "ok"
        async with asyncio.timeout(40):
            while not all(server.abandoned[call] for call in calls):
                await asyncio.sleep(0.02)

    with_two_others(server, work, timeout=120.0)


@pytest.mark.slow
@needs_children
def test_calls_of_a_killed_process_are_retried(server: Server) -> None:
    async def work(judge: JudgeProcesses) -> None:
        server.delay = 30
        lost = [asyncio.create_task(judge(ask(f"GAIN=2 of {i}"))) for i in range(2)]
        while server.in_flight < 2:
            await asyncio.sleep(0.02)
        for child in children(os.getpid()):
            os.kill(child, signal.SIGKILL)
        for call in lost:
            with pytest.raises(Retry, match="has ended"):
                await call
        server.delay = 0
        assert judge.ready == 0
        assert (await judge(ask("GAIN=3"))).status == "ok"  # by this process

    with_two_others(server, work)


COUNT = 3000
CONCURRENCY = 32


def command(server: Server, folder: Path) -> list[str]:
    rows = (
        {"query_id": "q", "doc_id": f"d{i}", "question": "what?", "text": f"document {i}"}
        for i in range(COUNT)
    )
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [
        sys.executable, "-m", "goodgain", "label", str(folder / "pairs.jsonl"), "--model", "m",
        "--base-url", server.openai_url, "--store", str(folder / "l.db"), "--processes", "3",
        "--concurrency", str(CONCURRENCY), "-q",
    ]  # fmt: skip


def stopped(server: Server, folder: Path, how: signal.Signals) -> int:
    """Stop the command while it works; its exit status, once its processes have ended too."""
    server.delay = 0.05
    process = subprocess.Popen(command(server, folder), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 90
    while sum(server.answered.values()) < COUNT / 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    helpers = children(process.pid)
    assert len(helpers) == 2
    process.send_signal(how)
    status = process.wait(60)
    while any(Path(f"/proc/{pid}").exists() for pid in helpers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in helpers)
    return status


@pytest.mark.slow
@needs_children
def test_a_killed_run_leaves_no_process_behind_and_can_resume(
    server: Server, tmp_path: Path
) -> None:
    assert stopped(server, tmp_path, signal.SIGKILL) == -signal.SIGKILL
    subprocess.run(command(server, tmp_path), check=True, timeout=120, stdout=subprocess.DEVNULL)
    labels = Labels.of(tmp_path / "l.db")
    assert labels.statuses == {"ok": COUNT}
    assert labels.to_dict()["q"] == {
        f"d{i}": sum(f"document {i}".encode()) % 4 for i in range(COUNT)
    }
    assert sum(server.answered.values()) <= COUNT + CONCURRENCY  # what was in flight


@pytest.mark.slow
@needs_children
def test_ctrl_c_stores_all_replies_of_its_processes(server: Server, tmp_path: Path) -> None:
    assert stopped(server, tmp_path, signal.SIGINT) == 130
    labels = Labels.of(tmp_path / "l.db")
    assert COUNT / 3 <= labels.statuses["ok"] == sum(server.answered.values()) < COUNT


def test_only_a_built_in_judge_uses_several_processes() -> None:
    with pytest.raises(UsageError, match="only possible with a built-in judge"):
        label([("q", "d", "what?", "text")], lambda request: 1, processes=2)
    with pytest.raises(UsageError, match="processes must be a positive integer, got 0"):
        label([("q", "d", "what?", "text")], lambda request: 1, processes=0)
