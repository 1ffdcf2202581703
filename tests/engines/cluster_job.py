"""A cluster job with a measure that waits on the executor until the test has killed another executor.

    python cluster_job.py MASTER FOLDER

`FOLDER` holds qrels.jsonl, run.jsonl and traces.jsonl; `started-PID` files tell which processes measure,
and nothing is measured to its end before there is a file `go`. The result is written to result.json.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import goodgain as gg
import goodgain.spark


def waiting(folder: str):
    """A measure that counts results, after waiting for the test."""

    def measure(gains):
        (Path(folder) / f"started-{os.getpid()}").touch()
        deadline = time.monotonic() + 400
        while not (Path(folder) / "go").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return float(len(gains))

    return measure


def main(master: str, folder: str) -> None:
    gg.register("Waiting", waiting(folder))
    session = goodgain.spark.start(
        master,
        {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.ui.enabled": "false",
        },
    )
    qrels = session.read.json(f"{folder}/qrels.jsonl", "query string, doc string, gain double")
    run = session.read.json(f"{folder}/run.jsonl", "query string, doc string, score double")
    run = run.repartition(6)
    scores = goodgain.spark.evaluate(
        qrels, run, "nDCG@10 AP Waiting", small_qrels=0, partitions=6, session=session
    )
    traces = session.read.text(f"{folder}/traces.jsonl").repartition(4)
    gained = goodgain.spark.good_gain(traces, session=session).good_gain
    finals = {s.name: s.final("CG") for s in gained.systems}
    result = {"runs": scores.evaluation.to_dict()["runs"], "traces": finals}
    (Path(folder) / "result.json").write_text(json.dumps(result))
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
