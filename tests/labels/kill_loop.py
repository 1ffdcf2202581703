"""Label in a process that is killed repeatedly, until all is done; started by test_kills.py.

    python kill_loop.py URL STORE LABELS KILLS SEED [PROCESSES]

Each attempt is a fork of this process, in which all imports are done, so that the kills hit the work:
reading the store, planning, calling, writing. Every other kill waits until the attempt has stored labels,
however long that takes; the others come at a random moment. Each attempt works on its share of the labels
only: if it ends before it is killed, because the machine is busy, enough is left for the others, and it does
not count as a kill. With two processes, another one works on the same share beside the one that is killed,
and every third kill hits both. Prints one JSON line.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing

import openai  # noqa: F401 - imported once, not in each fork

from goodgain.labels import OpenAIJudge, Store, label
from goodgain.labels.limits import Limits

CONCURRENCY = 8
CALL = 0.03  # seconds that the server takes to reply


def work(url: str, store: str, count: int) -> None:
    pairs = [("q", f"d{i}", "what?", f"document {i}") for i in range(count)]
    judge = OpenAIJudge("m", base_url=url)
    label(pairs, judge, Store(store), limits=Limits(concurrency=CONCURRENCY, wait=0.02))


def begin(url: str, store: str, count: int) -> int:
    """Start an attempt at the first `count` labels; returns its process id."""
    child = os.fork()
    if child == 0:
        try:
            work(url, store, count)
        finally:
            os._exit(0)
    return child


def read(store: str, query: str) -> list[tuple]:
    """Rows of the store, or none if it does not exist yet; closed before the next fork."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=60)) as db:
            return db.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def finished(store: str) -> set[str]:
    return {key for (key,) in read(store, "SELECT key FROM replies WHERE status = 'ok'")}


def until(store: str, replies: int, child: int) -> None:
    """Wait until the store has this many replies, or the child has ended."""
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if sum(number or 0 for (number,) in read(store, "SELECT max(id) FROM replies")) >= replies:
            return
        time.sleep(0.002)


def stop(child: int) -> bool:
    """Kill a process; False if it had ended already."""
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main() -> None:
    url, store, count, kills, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    companions = int(sys.argv[6]) - 1 if len(sys.argv) > 6 else 0
    chance = random.Random(seed)
    counts = {"killed": 0, "while_working": 0, "lost": 0, "damaged": 0}
    before: set[str] = set()
    longest = 0.0
    while (left := kills - counts["killed"]) > 0:
        share = (count - len(before)) // left
        upto = len(before) + share
        child = begin(url, store, upto)
        others = [begin(url, store, upto) for _ in range(companions)]
        start = time.monotonic()
        if left % 2 == 0:
            until(store, len(before) + chance.randint(1, max(1, share - CONCURRENCY)), child)
            time.sleep(chance.uniform(0, CALL))
            longest = time.monotonic() - start
        else:
            time.sleep(chance.uniform(0, longest))
        killed = stop(child)
        counts["killed"] += killed
        for other in others:
            if left % 3 == 0 and counts["killed"] < kills:
                counts["killed"] += stop(other)
            else:
                os.waitpid(other, 0)
        after = finished(store)
        counts["lost"] += len(before - after)
        counts["while_working"] += killed and len(before) < len(after) <= upto
        before = after
    os.waitpid(begin(url, store, count), 0)
    with sqlite3.connect(store) as db:
        counts["damaged"] = int(db.execute("PRAGMA integrity_check").fetchone() != ("ok",))
        labels_per_key = db.execute(
            "SELECT count(*) FROM replies WHERE status = 'ok' GROUP BY key"
        ).fetchall()
        counts["labels"] = len(labels_per_key)
        counts["twice"] = sum(n != 1 for (n,) in labels_per_key)
        counts["failed"] = db.execute(
            "SELECT count(*) FROM replies WHERE status != 'ok'"
        ).fetchone()[0]
    print(json.dumps(counts | {"concurrency": CONCURRENCY}))


main()
