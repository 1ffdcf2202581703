"""Kill a check at random moments: python kill_checks.py FOLDER KILLS SEED.

Two versions of a search take turns, each approved with --update, so that every output differs from the one
before. Half of the kills are at a random file operation, half at a random time. After each kill every file is
the whole of one version or of the other, and the check after it finds its way.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import random
import re
import signal
import sys
import time
from pathlib import Path

from goodgain.cli import run

EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.truncate", "os.chmod")
QUERIES = [f"q{i}" for i in range(20)]
VERSIONS = ("first", "second")
WRITTEN = ("approved.jsonl", "out.txt", "out.md", "out.xml", "out.html", "out.jsonl")


def build(folder: Path) -> None:
    """A golden set, and two versions of a search that answer it."""
    cases = [
        f"  - id: {q}\n    query: what is {q}?\n    relevant: [{q}-good, {q}-fair]" for q in QUERIES
    ]
    (folder / "golden.yaml").write_text("cases:\n" + "\n".join(cases) + "\n")
    for version in VERSIONS:
        docs = ("good", "fair", f"unjudged-{version}")
        lines = [f"{q} Q0 {q}-{d} {i + 1} {9 - i} t\n" for q in QUERIES for i, d in enumerate(docs)]
        (folder / f"{version}.txt").write_text("".join(lines))


def check(version: str) -> int:
    """Approve what a version of the search returns, with every output."""
    line = (
        f"check golden.yaml --target {version}.txt --baseline approved.jsonl --update {version} -q "
        "--unsure pass --target-version "
        + version
        + " -o out.txt --summary out.md --junit out.xml "
        "--report out.html --unjudged out.jsonl --history history.jsonl"
    )
    with contextlib.redirect_stdout(io.StringIO()):
        return run(line.split())


def contents() -> dict[str, str]:
    """What is written, without times, and the space that they take."""
    return {
        name: re.sub(
            r"[\s─-]+",
            " ",
            re.sub(r"\d[\d.,:TZ-]*(e-\d+)?,?( ?[mµ]?s\b)?", "#", Path(name).read_text()),
        )
        for name in WRITTEN
        if Path(name).exists()
    }


def child(version: str, kill_at: int = 0, count_to: Path | None = None) -> int:
    """Run a check in a fork, which ends itself at a file operation or says how many there were."""
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
    status = 70
    try:
        status = check(version)
        if count_to is not None:
            count_to.write_text(str(events))
    finally:
        os._exit(status)


def finish(version: str) -> None:
    """A check that is not killed."""
    _, status = os.waitpid(child(version), 0)
    assert os.waitstatus_to_exitcode(status) == 0, (version, status)


def history() -> list[str]:
    """The version of every line of the history; a line that is not whole is an error."""
    path = Path("history.jsonl")
    text = path.read_text() if path.exists() else ""
    assert text == "" or text.endswith("\n")
    return [json.loads(line)["version"] for line in text.splitlines()]


def main(folder: Path, kills: int, seed: int) -> None:
    """Go on until `kills` checks were killed: those that end before do not count."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    build(folder)
    assert check("first") == 0  # all imports are done, so that the kills hit the work
    start = time.perf_counter()
    os.waitpid(child("first", count_to=folder / "events"), 0)
    seconds, events = time.perf_counter() - start, int((folder / "events").read_text())
    # What each version writes, after itself and after the other one.
    whole: dict[str, dict[str, set[str]]] = {v: {n: set() for n in WRITTEN} for v in VERSIONS}
    for version in ("first", "second", "second", "first"):
        finish(version)
        for name, text in contents().items():
            whole[version][name].add(text)
    differing = [name for name in WRITTEN if not whole["first"][name] & whole["second"][name]]
    assert {"approved.jsonl", "out.html"} <= {*differing}  # otherwise nothing is proved
    chooser, killed, ended = random.Random(seed), 0, len(history())
    for number in itertools.count():
        if killed == kills:
            break
        assert number < 4 * kills, f"only {killed} of {number} were killed"
        version = VERSIONS[(number + 1) % 2]
        if number % 4 < 2:
            pid = child(version)
            time.sleep(chooser.uniform(0, seconds))
            os.kill(pid, signal.SIGKILL)
        else:
            pid = child(version, kill_at=chooser.randint(1, events))
        _, status = os.waitpid(pid, 0)
        killed += os.WIFSIGNALED(status)
        for name, text in contents().items():
            assert any(text in whole[v][name] for v in VERSIONS), (number, name)
        assert ended <= len(history()) <= ended + 1, (number, "history")
        finish(version)
        for name, text in contents().items():
            assert text in whole[version][name], (number, name)
        assert set(contents()) == set(WRITTEN)
        assert history()[-1] == version
        ended = len(history())
        assert not list(Path().glob(".*.goodgain")), (number, "temporary files")
    print(f"{killed} of {number} were killed in a check of {events} file operations")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
