"""What labelling adds to the time of the replies, and whether memory grows with the labels.

The server is the one of the tests, in a process of its own: 50 ms a reply, 64 calls at once. As a program
this module is one measurement: `labels.py RATE|TWO|CLIENT|SLEEP|MEMORY|PLAN COUNT`.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import table
from measure import HERE, worker
from subject import Bar, Context, Section, Subject, at_least

DELAY = 0.05
CONCURRENCY = 64
IDEAL = CONCURRENCY / DELAY
SERVER = HERE.parent / "tests" / "labels" / "server.py"
PEAK = 224  # megabytes, of any number of labels: Python, and caches of a fixed size
TEXT = "A document of some length. " * 40


def run(context: Context) -> Section:
    """Each measurement in a process of its own."""
    calls = 4_000 if context.quick else 20_000
    few, many = 10_000, 20_000 if context.quick else 100_000
    rows = []
    rates = {}
    for what, mode in (
        ("`label`, OpenAI client", "RATE"),
        ("the same with `processes=2`", "TWO"),
        ("the OpenAI client alone", "CLIENT"),
        ("`label`, a function that sleeps", "SLEEP"),
    ):
        found = worker("labels", mode, calls)
        rates[mode] = found["rate"]
        rows.append([
            what, f"{calls:,}", f"{found['rate']:,.0f}/s", f"{100 * found['rate'] / IDEAL:.0f} %",
            f"{found['cpu'] * 1e3:.2f} ms", f"{found['server'] * 1e3:.2f} ms", table.megabytes(found["peak"]),
        ])  # fmt: skip
    peaks = [worker("labels", "MEMORY", count)["peak"] for count in (few, many)]
    for count, peak in zip((few, many), peaks, strict=True):
        rows.append(["`label`, a function", f"{count:,}", "", "", "", "", table.megabytes(peak)])
    pairs = 50_000 if context.quick else 1_000_000
    scale = pairs / 1_000_000
    plan = worker("labels", "PLAN", pairs)
    rows.append(
        [
            "`label`, a function, from a file of pairs",
            f"{pairs:,}",
            f"{plan['rate']:,.0f}/s",
            "",
            "",
            "",
            table.megabytes(plan["peak"]),
        ]
    )
    share = rates["RATE"] / IDEAL
    own = rates["SLEEP"] / IDEAL
    return Section(
        columns=[
            "what", "labels", "rate", "of the ideal", "processor a label", "the server's", "peak",
        ],
        rows=rows,
        text=f"{DELAY * 1e3:.0f} ms a reply, {CONCURRENCY} calls at once: at best {IDEAL:,.0f} a second.",
        bars=[
            Bar("labels: rate with the OpenAI client", ">= 80 %", f"{100 * share:.0f} %", share >= 0.8),
            at_least("labels: rate of a process over its client alone", 0.8, rates["RATE"] / rates["CLIENT"]),
            Bar("labels: rate of the runner itself", ">= 80 %", f"{100 * own:.0f} %", own >= 0.8),
            _peak_bar(f"labels: peak memory of {many:,}", peaks[1]),
            _seconds_bar(f"labels: first of {pairs:,} calls after", 10, plan["first"]),
            _seconds_bar(f"labels: {pairs:,} pairs planned", 60 * scale, plan["plan"]),
            _seconds_bar(f"labels: {pairs:,} finished labels resumed", 30 * scale, plan["resume"]),
            _peak_bar(f"labels: peak memory of {pairs:,} planned and resumed", plan["peak"]),
        ],
        notes=[
            "Processor time is of all processes, their start included; the server runs on the same cores. "
            "The peak is that of the largest process.",
            "Memory grows until the caches are full, which have a fixed size: 68 MB for the store, and 32 MB "
            "for each of two tables of hashes, by which texts and calls are told apart.",
            "The client alone makes the same calls by the same HTTP client in one process and keeps nothing.",
        ],
    )  # fmt: skip


def _seconds_bar(what: str, most: float, seconds: float) -> Bar:
    return Bar(what, f"<= {most:g} s", f"{seconds:.1f} s", seconds <= most)


def _peak_bar(what: str, peak: float) -> Bar:
    return Bar(what, f"<= {PEAK} MB", table.megabytes(peak), peak <= PEAK)


class _Served:
    """The server of the tests while a measurement runs."""

    def __enter__(self) -> str:
        self._process = subprocess.Popen(
            [sys.executable, str(SERVER), "--delay", str(DELAY)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        return f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def seconds(self) -> float:
        """Of processor time that it took so far, where the system tells."""
        try:
            words = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return float("nan")
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _pairs(count: int):
    return ((f"q{i % 50}", f"d{i}", f"question {i % 50}", f"{TEXT}{i}") for i in range(count))


def _measure(mode: str, count: int) -> dict[str, float]:
    from goodgain.labels import OpenAIJudge, Reply, Request, label

    async def sleeping(request: Request) -> Reply:
        await asyncio.sleep(DELAY)
        return Reply('{"reason": "because", "gain": 2}', tokens_in=400, tokens_out=20)

    async def quick(request: Request) -> Reply:
        return Reply(
            json.dumps({"reason": "because " * 20, "gain": 2}), tokens_in=400, tokens_out=20
        )

    served = _Served()
    with tempfile.TemporaryDirectory() as folder, served as url:
        store = Path(folder) / "labels.db"
        judge = OpenAIJudge("m", base_url=url)
        if mode in ("RATE", "TWO", "CLIENT"):
            judge.prepare()  # its imports are not what is measured
        before = served.seconds()
        if mode == "CLIENT":
            start, cpu = time.perf_counter(), _seconds()
            asyncio.run(_alone(judge, count))
            seconds, cpu = time.perf_counter() - start, _seconds() - cpu
        else:
            chosen = {"SLEEP": sleeping, "MEMORY": quick}.get(mode, judge)
            processes = 2 if mode == "TWO" else None
            cpu = _seconds()
            labels = label(
                _pairs(count), chosen, store, concurrency=CONCURRENCY, processes=processes
            )
            done = labels.summary
            seconds, cpu = done.seconds, _seconds() - cpu
            assert done.statuses == {"ok": count}
        server = served.seconds() - before
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(who).ru_maxrss for who in whose) / 1024
    return {"rate": count / seconds, "cpu": cpu / count, "server": server / count, "peak": peak}


def _seconds() -> float:
    """Of processor time, of this process and of those it has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


async def _alone(judge, count: int) -> None:
    from goodgain.labels import Prompt, Request

    prompt = Prompt.of()
    pairs = _pairs(count)

    async def one() -> None:
        for _, _, question, text in pairs:
            await judge(Request(question, (text,), prompt))

    await asyncio.gather(*(one() for _ in range(CONCURRENCY)))
    await judge.aclose()


def _plan(count: int) -> dict[str, float]:
    """A run over a file of pairs: calls wait until all is planned, then take no time; and a second run."""
    from goodgain.labels import Request, label
    from goodgain.labels.runner import Progress

    calls: list[float] = []
    planned: list[float] = []

    async def judge(request: Request) -> int:
        if not calls:
            calls.append(time.perf_counter())
        while not planned:
            await asyncio.sleep(0.05)
        return 2

    def show(progress: Progress) -> None:
        if not progress.planning and not planned:
            planned.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        store, pairs = Path(folder) / "labels.db", Path(folder) / "pairs.jsonl"
        with pairs.open("w") as file:
            for query, doc, question, text in _pairs(count):
                row = {"query_id": query, "doc_id": doc, "question": question, "text": text[-200:]}
                file.write(json.dumps(row) + "\n")
        times = [time.perf_counter()]
        labels = label(
            pairs, judge, store, name="benchmark", concurrency=CONCURRENCY, progress=show
        )
        assert labels.summary.statuses == {"ok": count}
        times.append(time.perf_counter())
        labels.store.close()
        assert label(pairs, judge, store, name="benchmark").summary.stored == count
        times.append(time.perf_counter())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "plan": planned[0] - times[0],
        "first": calls[0] - times[0],
        "rate": count / (times[1] - planned[0]),
        "resume": times[2] - times[1],
        "peak": peak,
    }


SUBJECT = Subject("labels", "Labelling", 70, run)

if __name__ == "__main__":
    measure = _plan(int(sys.argv[2])) if sys.argv[1] == "PLAN" else None
    print(json.dumps(measure or _measure(sys.argv[1], int(sys.argv[2]))))
