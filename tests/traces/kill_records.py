"""Kill processes that record searches into one file: python kill_records.py FILE KILLS SEED.

Each process is a fork that records conversations and says on a pipe which of its searches are done; a second
one records beside it into the same file. After the last kill every search that was done is in the file, once,
and beyond them at most the one that each process was at.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import goodgain as gg


def record(path: Path, name: str, done: int) -> None:
    """Record until the end of time; 20 kB a search take more than one block."""
    with gg.record(path, append=True) as recorder:
        number = 0
        while True:
            recorder.conversation(f"{name}-{number}")
            for _ in range(3):
                recorder.search(f"{name}.{number}", [{"id": str(number), "content": "x" * 20_000}])
                os.write(done, b".")
                number += 1


def begin(path: Path, name: str) -> tuple[int, int]:
    """Start a process; returns its id and the pipe on which it counts."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            record(path, name, writing)
        finally:
            os._exit(1)
    os.close(writing)
    return pid, reading


def stop(pid: int, pipe: int) -> int:
    """Kill a process; returns the number of searches that it had done."""
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), status
    with os.fdopen(pipe, "rb") as counts:
        return len(counts.read())


def main(path: Path, kills: int, seed: int) -> None:
    """Kill `kills` processes, two at a time."""
    chooser = random.Random(seed)
    with gg.record(path) as recorder:  # all imports are done, so that the kills hit the work
        recorder.conversation("first")
        recorder.search("first.0", [{"id": "0"}])
    done: dict[str, int] = {}
    while len(done) < kills:
        both = [(f"p{len(done) + i}", *begin(path, f"p{len(done) + i}")) for i in range(2)]
        for name, pid, pipe in both:
            if (
                chooser.random() < 0.7
            ):  # after so many searches, however long they take, and a moment
                before = len(os.read(pipe, chooser.randint(1, 30)))
                time.sleep(chooser.uniform(0, 0.005))
            else:
                before = 0
                time.sleep(chooser.uniform(0, 0.02))
            done[name] = before + stop(pid, pipe)
    reader = gg.read_traces(path)
    seen = Counter(
        s["query"]
        for trace in reader
        for turn in trace.to_dict()["turns"]
        for iteration in turn.get("iterations", ())
        for s in iteration["searches"]
    )
    assert seen.pop("first.0") == 1
    extra = 0
    for name, count in done.items():
        own = {int(q.partition(".")[2]) for q in seen if q.partition(".")[0] == name}
        assert own >= set(range(count)), (name, count, sorted(set(range(count)) - own)[:5])
        assert len(own) <= count + 1, (name, count, len(own))
        extra += len(own) - count
    assert set(seen.values()) <= {1}
    working = sum(count > 0 for count in done.values())
    print(
        f"{len(done)} processes were killed, {working} after a search: {sum(done.values()):,} searches, none "
        f"lost; {extra} more were written before their process said so; notes: {reader.notes}"
    )
    assert working >= kills // 3


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
