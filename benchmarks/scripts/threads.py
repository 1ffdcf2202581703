"""Evaluate a run with some threads: seconds, and how they share the work.

`python threads.py QRELS RUN THREADS` prints JSON. `longest` is the processor time of the busiest thread: what
the evaluation takes if nothing waits. `serial` is the share of processor time that only one thread can use.
Both count processor time, so a busy machine does not change them.
"""

import json
import sys
import time

import goodgain as gg
from goodgain import _core


def main(qrels: str, run: str, threads: int) -> None:
    gg.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}).means  # noqa: B018  (all is imported)
    start, cpu, shared = time.perf_counter(), time.process_time(), _core.shared_cpu_seconds()
    main = time.thread_time()
    gg.evaluate(qrels, run, threads=threads).means  # noqa: B018
    main, seconds = time.thread_time() - main, time.perf_counter() - start
    used = time.process_time() - cpu
    serial = 1 - (_core.shared_cpu_seconds() - shared) / used
    longest = max(main, (used - main) / max(threads - 1, 1))
    print(json.dumps({"seconds": seconds, "longest": longest, "serial": serial}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
