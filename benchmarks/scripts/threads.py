"""Evaluate a run with some threads: seconds, and the share of processor time that only one thread can use.

`python threads.py QRELS RUN THREADS` prints JSON. The share counts processor time, so a busy machine does not
change it.
"""

import json
import sys
import time

import goodgain as gg
from goodgain import _core


def main(qrels: str, run: str, threads: int) -> None:
    gg.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}).means  # noqa: B018  (all is imported)
    start, cpu, shared = time.perf_counter(), time.process_time(), _core.shared_cpu_seconds()
    gg.evaluate(qrels, run, threads=threads).means  # noqa: B018
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    serial = 1 - (_core.shared_cpu_seconds() - shared) / used
    print(json.dumps({"seconds": seconds, "cpu": used, "serial": serial}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
