"""Kill a grid at random moments and finish it: python kill_grid.py FOLDER KILLS SEED.

Half of the kills are at a random file operation of the whole run, so that late ones occur as often as early
ones, and half at a random time. The finished experiment must have the numbers of one that was never killed.
What the first run imported is imported before the others are forked, so that these take half as long and the
kills hit the work.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import goodgain as gg
from goodgain.experiment.retrievers import BM25, KNN, Hybrid

WORDS = ["river", "house", "garden", "stone", "bridge", "tree", "cloud", "road"]
DOCUMENTS = {f"d{i}": " ".join(WORDS[(i * k) % 8] for k in (1, 3, 5)) for i in range(40)}
QUERIES = {f"q{i}": f"{WORDS[i]} {WORDS[(i + 3) % 8]}" for i in range(8)}
QRELS = {f"q{i}": {f"d{i}": 1, f"d{i + 8}": 1} for i in range(8)}
EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.truncate", "os.utime")


def one(texts: list[str]) -> list[list[float]]:
    """An embedding."""
    return [[text.count(word) + 0.1 for word in WORDS] for text in texts]


def two(texts: list[str]) -> list[list[float]]:
    """Another one."""
    return [[text.count(word) + 0.3 / (i + 1) for i, word in enumerate(WORDS)] for text in texts]


def run(folder: Path) -> None:
    """The whole experiment."""
    systems = {
        "keyword": BM25(),
        "knn": KNN(batch=10),
        "both": Hybrid(["keyword", "knn"], method="wsum"),
    }
    grid = {"embed": [one, two], "alpha": [0.2, 0.8]}
    gg.Experiment(
        DOCUMENTS, QUERIES, QRELS, systems, grid=grid, measures="nDCG@10 P@5", warmup=0
    ).run(folder)


def numbers(folder: Path) -> dict[str, object]:
    """What an interruption must not change."""
    result = gg.ExperimentResult.open(folder)
    calls = sorted((c["system"], c["query"]) for c in result.folder.current_calls())
    runs = {p.name: p.read_bytes() for p in sorted((folder / "runs").iterdir())}
    scores = {
        name: [result.scores[name].column(m) for m in ("nDCG@10", "P@5")] for name in result.systems
    }
    left = [
        str(p) for p in (folder / "stages").rglob("*") if p.suffix in (".lock", ".trash", ".part")
    ]
    return {"calls": calls, "runs": runs, "scores": scores, "left": left}


def child(folder: Path, kill_at: int = 0, count_to: Path | None = None) -> int:
    """Run the experiment in a fork; it ends itself at a file operation, or reports how many there were."""
    pid = os.fork()
    if pid:
        return pid
    events = 0

    def count(event: str, _: object) -> None:
        nonlocal events
        if event in EVENTS:
            events += 1
            if events == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    try:
        run(folder)
        report = {"events": events, "modules": sorted(sys.modules)}
        if count_to is not None:
            count_to.write_text(json.dumps(report))
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)
    finally:
        os._exit(2)


def main(place: Path, kills: int, seed: int) -> None:
    """Kill and finish `kills` experiments: those that end before they are killed do not count."""
    chooser = random.Random(seed)
    place.mkdir(parents=True, exist_ok=True)
    _, status = os.waitpid(child(place / "whole", count_to=place / "first"), 0)
    assert status == 0, status
    for name in json.loads((place / "first").read_text())["modules"]:
        if name != "__main__":
            importlib.import_module(name)
    start = time.perf_counter()
    _, status = os.waitpid(child(place / "usual", count_to=place / "counts"), 0)
    assert status == 0, status
    seconds, events = (
        time.perf_counter() - start,
        json.loads((place / "counts").read_text())["events"],
    )
    expected = numbers(place / "whole")
    assert not expected["left"]
    killed = 0
    for number in itertools.count():
        if killed == kills:
            break
        assert number < 4 * kills, f"only {killed} of {number} were killed"
        folder = place / str(number)
        if number % 2:
            pid = child(folder)
            time.sleep(chooser.uniform(0, seconds))
            os.kill(pid, signal.SIGKILL)
        else:
            pid = child(folder, kill_at=chooser.randint(1, events))
        _, status = os.waitpid(pid, 0)
        killed += os.WIFSIGNALED(status)
        _, status = os.waitpid(child(folder), 0)
        assert status == 0, (number, status)
        actual = numbers(folder)
        for name in ("calls", "runs", "scores"):
            assert actual[name] == expected[name], (number, name)
    print(f"{killed} of {number} were killed in the run of {events} file operations")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
