"""Label until done, with a process that is killed again and again; started by test_kills.py.

    python killed.py URL STORE LABELS KILLS SEED

Each attempt is a fork of this process, which has all imports behind it, so that the kills fall into the
work: into reading the store, planning, calling, writing. Every other kill waits until the attempt has made
labels, however long that takes; those between come at any moment of an attempt. An attempt is given its share
of the work and no more: one that ends before a busy machine comes to kill it leaves enough for the others,
and is no kill. Prints one JSON line.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing

import openai  # noqa: F401 - so that each fork need not

from goodgain.labels import OpenAIJudge, Store, label
from goodgain.labels.limits import Limits

CONCURRENCY = 8
CALL = 0.03  # seconds that the server takes


def work(url: str, store: str, count: int) -> None:
    pairs = [("q", f"d{i}", "what?", f"document {i}") for i in range(count)]
    judge = OpenAIJudge("m", base_url=url)
    label(pairs, judge, Store(store), limits=Limits(concurrency=CONCURRENCY, wait=0.02))


def begin(url: str, store: str, count: int) -> int:
    """An attempt at so many of the labels; its process."""
    child = os.fork()
    if child == 0:
        try:
            work(url, store, count)
        finally:
            os._exit(0)
    return child


def read(store: str, query: str) -> list[tuple]:
    """Rows of the store, none of which there are before it is made; closed again before the next fork."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=60)) as db:
            return db.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def finished(store: str) -> set[str]:
    return {key for (key,) in read(store, "SELECT key FROM replies WHERE status = 'ok'")}


def until(store: str, replies: int, child: int) -> None:
    """Wait for so many replies in the store, or for the end of the child."""
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if sum(number or 0 for (number,) in read(store, "SELECT max(id) FROM replies")) >= replies:
            return
        time.sleep(0.002)


def main() -> None:
    url, store, count, kills, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    chance = random.Random(seed)
    found = {"killed": 0, "while_working": 0, "lost": 0, "damaged": 0}
    before: set[str] = set()
    longest = 0.0
    while left := kills - found["killed"]:
        share = (count - len(before)) // left
        upto = len(before) + share
        child = begin(url, store, upto)
        start = time.monotonic()
        if left % 2 == 0:
            until(store, len(before) + chance.randint(1, max(1, share - CONCURRENCY)), child)
            time.sleep(chance.uniform(0, CALL))
            longest = time.monotonic() - start
        else:
            time.sleep(chance.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        after = finished(store)
        found["killed"] += killed
        found["lost"] += len(before - after)
        found["while_working"] += killed and len(before) < len(after) < upto
        before = after
    os.waitpid(begin(url, store, count), 0)
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
