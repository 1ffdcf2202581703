"""Label until done, with a process that is killed again and again; started by test_kills.py.

    python killed.py URL STORE LABELS KILLS SEED

Each attempt is a fork of this process, which has all imports behind it, so that the kills fall into the
work: into reading the store, planning, calling, writing. Prints one JSON line.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time

import openai  # noqa: F401 - so that each fork need not

from goodgain.labels import OpenAIJudge, Store, label
from goodgain.labels.limits import Limits

CONCURRENCY = 8


def work(url: str, store: str, count: int) -> None:
    pairs = [("q", f"d{i}", "what?", f"document {i}") for i in range(count)]
    judge = OpenAIJudge("m", base_url=url)
    label(pairs, judge, Store(store), limits=Limits(concurrency=CONCURRENCY, wait=0.02))


def finished(store: str) -> set[str]:
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
            return {key for (key,) in db.execute("SELECT key FROM replies WHERE status = 'ok'")}
    except sqlite3.OperationalError:
        return set()


def main() -> None:
    url, store, count, kills, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    chance = random.Random(seed)
    found = {"killed": 0, "while_working": 0, "lost": 0, "damaged": 0}
    before: set[str] = set()
    longest = 0.2
    while True:
        last = found["killed"] >= kills
        child = os.fork()
        if child == 0:
            try:
                work(url, store, count)
            finally:
                os._exit(0)
        if last:
            os.waitpid(child, 0)
            break
        time.sleep(chance.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found["killed"] += 1
        after = finished(store)
        found["lost"] += len(before - after)
        found["while_working"] += len(before) < len(after) < count
        # So long that each attempt gets its share of the work done, however slow the machine is.
        step, share = len(after) - len(before), (count - len(after)) / (kills - found["killed"] + 1)
        longest = min(10.0, longest * 1.25) if step < share else longest * 0.8
        before = after
    with sqlite3.connect(store) as db:
        found["damaged"] = int(db.execute("PRAGMA integrity_check").fetchone() != ("ok",))
        counts = db.execute(
            "SELECT count(*) FROM replies WHERE status = 'ok' GROUP BY key"
        ).fetchall()
        found["labels"] = len(counts)
        found["twice"] = sum(n != 1 for (n,) in counts)
        found["failed"] = db.execute(
            "SELECT count(*) FROM replies WHERE status != 'ok'"
        ).fetchone()[0]
    print(json.dumps(found | {"concurrency": CONCURRENCY}))


main()
