"""Every command, interrupted at several moments: how long it takes to end, and what it leaves.

    python tests/cli/interrupts.py [MOMENTS] [COMMAND ...]

prints a table. A moment is a share of the processor time that the command needs when nobody interrupts it, so
that it means the same on a busy machine; so does the processor time between Ctrl-C and the end.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from goodgain.cli import COMMANDS, run

LONGEST = 180  # seconds, after which a command that goes on is killed
TICKS = os.sysconf("SC_CLK_TCK")
QUERIES = [f"q{i}" for i in range(400)]
MEASURES = [f"{name}@{k}" for name in ("nDCG", "AP", "ERR", "RBP", "P") for k in range(1, 61)]
RESULTS = "-o out.txt --save out.json --report out.html -q"
RUNS = "first.txt second.txt third.txt"
SERVER = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); time.sleep(60)"

# A command line that takes at least some tenths of a second; {port} is a server that replies late.
LINES = {
    "evaluate": f"evaluate qrels.txt {RUNS} -m @measures {RESULTS}",
    "explain": "explain qrels.txt first.txt -m nDCG@10 --against trec_eval9 -o out.txt",
    "compare": f"compare qrels.txt {RUNS} --test randomisation --permutations 1000000 {RESULTS}",
    "gate": "gate qrels.txt first.txt second.txt -m @measures -q -o out.txt --summary out.md",
    "check": "check golden.yaml --target http://127.0.0.1:{port}/?q={{query}} -q -o out.txt "
    "--history out.jsonl",
    "trace": f"trace traces.jsonl --stop {RESULTS} --ledger out.jsonl",
    "live": "live mcp -o out.jsonl -- @python -c @server",
    "dedup": "dedup traces.jsonl --audit -o out.txt",
    "label": "label pairs.jsonl --model m --base-url http://127.0.0.1:{port}/v1 --store out.db",
    "labels": "labels export labels.db --annotator ann --to jsonl -o out.jsonl",
    "judge": "judge labels.db --pairs pairs.jsonl --port 0",
    "calibrate": f"calibrate human.txt labels.db --runs {RUNS} --design pairs --resamples 50000 {RESULTS}",
    "experiment": "experiment experiment.toml --folder out -q -o out.txt",
    "optimise": "optimise experiment.toml --folder out -q -o out.txt",
    "fuse": f"fuse {RUNS} --tune qrels.txt --method wsum -q -o out.txt",
    "demo": "demo --folder out -q -o out.txt --report out.html",
    "report": "report saved.json -o out.html -q",
    "view": "view saved.json",
    "plot": "plot leaderboard saved.json -q -o out.svg",
    "measures": "measures",
    "convert": "convert first.txt out.parquet -q",
    "trec-eval": "trec-eval -q -m all_trec qrels.txt first.txt",
    "sql": "sql --dialect duckdb -m nDCG@10 -m AP -m RR -o out.sql",
    "doctor": "doctor qrels.txt first.txt second.txt -o out.txt",
    "selftest": "selftest qrels.txt first.txt -m nDCG@10 -m AP --sample 400 -o out.txt",
    "audit": f"audit qrels.txt {RUNS} --table table.csv -q -o out.txt",
}
# What may be there after Ctrl-C, because it is whole: what an experiment, a label store or a recording has so
# far, from which the next run goes on, and the ledger, which is complete before anything is measured.
LEFT = {
    "trace": ("out.jsonl",),
    "live": ("out.jsonl",),
    "label": ("out.db",),
    "experiment": ("out",),
    "optimise": ("out",),
    "demo": ("out",),
}
# Ctrl-C is how these are meant to end.
SERVERS = ("judge", "view")
# These wait for others: no share of their own processor time says where they are, so they get seconds.
WAITING = ("check", "label", "judge", "view", "live")


class Outcome(NamedTuple):
    """How a command ended; times are since Ctrl-C."""

    status: int
    seconds: float
    processor: float
    errors: str
    written: list[str]

    @property
    def was_interrupted(self) -> bool:
        return self.status not in (0, 1, 3)


def build(folder: Path) -> None:
    """Inputs large enough for some tenths of a second."""
    from goodgain.labels import Store, Vote, label

    chance = random.Random(1)
    docs = [f"d{i}" for i in range(600)]
    judged = {q: {d: chance.randrange(4) for d in chance.sample(docs, 60)} for q in QUERIES}
    (folder / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, gains in judged.items() for d, g in gains.items())
    )
    for name in ("first", "second", "third"):
        rows = [
            f"{q} Q0 {d} {n + 1} {300 - n} {name}\n"
            for q in QUERIES
            for n, d in enumerate(chance.sample(docs, 300))
        ]
        (folder / f"{name}.txt").write_text("".join(rows))
    (folder / "table.csv").write_text(
        "run,AP,nDCG@10\nfirst,0.2,0.3\nsecond,0.2,0.3\nthird,0.2,0.3\n"
    )
    (folder / "traces.jsonl").write_text("".join(_conversation(i, chance) for i in range(150)))
    pairs = [(q, d, f"what is {q}?", f"about {d}") for q in QUERIES[:60] for d in docs[:20]]
    (folder / "pairs.jsonl").write_text(
        "".join(
            json.dumps({"query_id": q, "doc_id": d, "question": question, "text": text}) + "\n"
            for q, d, question, text in pairs
        )
    )
    label(pairs, lambda request: len(request.document) % 3, folder / "labels.db", name="judge")
    with Store(folder / "labels.db") as store:
        store.add_votes([Vote(annotator="ann", query=q, doc=d, gain=1) for q, d, *_ in pairs])
    (folder / "human.txt").write_text("".join(f"{q} 0 {d} {len(d) % 3}\n" for q, d, *_ in pairs))
    cases = [f"  - id: {q}\n    query: what is {q}?\n    relevant: [d1]" for q in QUERIES[:50]]
    (folder / "golden.yaml").write_text("cases:\n" + "\n".join(cases) + "\n")
    words = [f"word{i}" for i in range(3000)]
    (folder / "documents.jsonl").write_text(
        "".join(
            json.dumps({"id": d, "text": " ".join(chance.sample(words, 200))}) + "\n" for d in docs
        )
    )
    (folder / "queries.tsv").write_text(
        "id\ttext\n" + "".join(f"{q}\t{' '.join(chance.sample(words, 8))}\n" for q in QUERIES)
    )
    (folder / "experiment.toml").write_text(
        'corpus = "documents.jsonl"\nqueries = "queries.tsv"\nqrels = "qrels.txt"\nmeasures = "AP"\n'
        '[systems.a]\nretriever = "bm25"\n[systems.b]\nretriever = "bm25"\nk1 = 2.0\n'
    )
    line = f"evaluate qrels.txt {RUNS} -q -o {os.devnull} --save saved.json"
    assert run(line.split()) == 0


def _conversation(number: int, chance: random.Random) -> str:
    iterations = []
    for i in range(5):
        results = [
            {
                "id": f"d{d}",
                "url": f"https://example.org/{d}",
                "snippet": f"text {d}",
                "gain": d % 4,
            }
            for d in chance.sample(range(500), 30)
        ]
        iterations.append({"searches": [{"query": f"query {i}", "results": results}]})
    turn = {"user": "What?", "answer": "That.", "iterations": iterations}
    return json.dumps({"conversation": f"c{number}", "turns": [turn]}) + "\n"


class SlowServer(ThreadingHTTPServer):
    """Takes half a minute to reply to a search, and asks models' clients to wait for a minute.

    So `label` has no call in flight: for those it would wait, since they are paid for.
    """

    daemon_threads = True

    def __init__(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                time.sleep(30)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(429)
                self.send_header("Retry-After", "60")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def words_of(command: str, port: int) -> list[str]:
    """The words of a command's line."""
    places = {"@python": [sys.executable], "@server": [SERVER], "@measures": [" ".join(MEASURES)]}
    line = LINES[command].format(port=port)
    return [word for part in line.split() for word in places.get(part, [part])]


def processor_time(pid: int) -> float:
    """Seconds of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def attempt(folder: Path, words: list[str], at: float | None, *, waiting: bool = False) -> Outcome:
    """Run a command and interrupt it at a time of its processor, or, if it is `waiting`, of the clock."""
    before = {path.name for path in folder.iterdir()}
    with tempfile.TemporaryDirectory() as temporary:
        environment = {**os.environ, "TMPDIR": temporary, "XDG_STATE_HOME": temporary + "/state"}
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "goodgain", *words],
                cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=errors,
            )  # fmt: skip
            sent, used = time.monotonic(), 0.0
            if at is not None:
                used = _reach(process, at, waiting)
                sent = time.monotonic()
                os.kill(process.pid, signal.SIGINT)  # it may have ended, and is not reaped yet
            watchdog = threading.Timer(LONGEST, os.kill, (process.pid, signal.SIGKILL))
            watchdog.start()
            _, status, usage = os.wait4(process.pid, 0)
            watchdog.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.monotonic() - sent
            errors.seek(0)
            text = errors.read().decode("utf-8", "replace")
        left = [f"TMPDIR/{p.name}" for p in Path(temporary).iterdir() if p.name != "state"]
    new = {path.name for path in folder.iterdir()} - before
    written = sorted(
        n for n in new if not n.endswith(("-wal", "-shm"))
    )  # SQLite's, also while it reads
    total = usage.ru_utime + usage.ru_stime
    return Outcome(process.returncode, seconds, total - used, text, written + left)


def _reach(process: subprocess.Popen[bytes], at: float, waiting: bool) -> float:
    """Wait for the moment; returns the processor time so far."""
    start, used = time.monotonic(), 0.0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        used = processor_time(process.pid)
        if (time.monotonic() - start if waiting else used) >= at:
            break
        time.sleep(0.002)
    return used


def clean(folder: Path, names: list[str]) -> None:
    """Remove what a command has written."""
    import shutil

    for name in names:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()


def main(moments: int, commands: list[str]) -> None:
    """Print a table of the slowest of all moments."""
    with tempfile.TemporaryDirectory() as name, SlowServer() as server:
        folder = Path(name)
        os.chdir(folder)
        build(folder)
        print("| command | its own time | interrupted | longest to the end | of it processor |")
        print("| --- | --- | --- | --- | --- |")
        for command in commands or COMMANDS:
            words, waiting = words_of(command, server.server_port), command in WAITING
            whole = 3.0
            if not waiting:
                uninterrupted = attempt(folder, words, None)
                assert not uninterrupted.was_interrupted, uninterrupted
                clean(folder, uninterrupted.written)
                whole = uninterrupted.processor
            outcomes = []
            for number in range(moments):
                outcome = attempt(folder, words, whole * (number + 0.5) / moments, waiting=waiting)
                clean(folder, outcome.written)
                outcomes.append(outcome)
            ended = [o for o in outcomes if o.was_interrupted]
            for o in ended:
                left = [name for name in o.written if name not in LEFT.get(command, ())]
                if o.status not in (130, -signal.SIGINT) or left or "Traceback" in o.errors:
                    print(f"{command}: {o}", file=sys.stderr)
            longest = max((o.seconds for o in ended), default=0.0)
            processor = max((o.processor for o in ended), default=0.0)
            own = "waits" if waiting else f"{whole:.1f} s"
            print(
                f"| {command} | {own} | {len(ended)} of {moments} | {longest:.2f} s | {processor:.2f} s |"
            )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(int(arguments[0]) if arguments else 4, arguments[1:])
