"""Faults of the system at every call: short reads, EINTR, EIO and ENOSPC, in the way of SQLite's tests.

A shim fails calls on the files of a folder: opening, reading, writing, syncing, renaming, closing. A command
must give the right answer, or refuse with one sentence and change nothing.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import goodgain as gg
from goodgain.labels.imports import import_labels
from goodgain.labels.verify import verify

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="needs LD_PRELOAD and a compiler"
)
STEP = int(os.environ.get("GOODGAIN_FAULT_STEP", "0"))  # 1: every single call fails once
RUN = "".join(f"q{i % 40} Q0 d{i} 1 {i / 7} t\n" for i in range(4000))
QRELS = "".join(f"q{i} 0 d{i + 40 * j} {j % 3}\n" for i in range(40) for j in range(20))
SEARCH = '{"query": "q", "results": [%s]}'
TRACE = '{"conversation": "c%d", "turns": [{"user": "u", "iterations": [{"searches": [%s]}]}]}\n'
EVALUATE = ["-m", "AP nDCG@10", "--per-query", "--format", "csv", "-q", "-o", "out.csv"]
COMMANDS = {
    "evaluate": ["evaluate", "qrels.txt", "run.txt", *EVALUATE],
    "evaluate gzip": ["evaluate", "qrels.txt", "run.txt.gz", *EVALUATE],
    "evaluate csv": ["evaluate", "qrels.txt", "run.csv", *EVALUATE],
    "evaluate parquet": ["evaluate", "qrels.txt", "run.parquet", *EVALUATE],
    "evaluate in little memory": ["evaluate", "qrels.txt", "shuffled.txt", *EVALUATE, "--memory", "64kB"],
    "convert": ["convert", "run.txt", "out.jsonl.gz"],
    "fuse": ["fuse", "run.txt", "run.csv", "-o", "out.txt"],
    "trace": ["trace", "traces.jsonl", "--format", "csv", "-q", "-o", "out.csv"],
    "save": ["evaluate", "qrels.txt", "run.txt", "-m", "AP", "-q", "--save", "out.json"],
    "import": ["labels", "import", "store.labels", "votes.csv", "--annotator", "ann"],
    "import into a new store": ["labels", "import", "new.labels", "votes.csv", "--annotator", "ann"],
}  # fmt: skip


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> str:
    library = tmp_path_factory.mktemp("shim") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run(
        ["cc", "-O1", "-Wall", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
    )  # fmt: skip
    return str(library)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "files"
    path.mkdir()
    rows = [(f"q{i % 40}", f"d{i}", i / 7) for i in range(4000)]
    (path / "qrels.txt").write_text(QRELS)
    (path / "run.txt").write_text(RUN)
    (path / "shuffled.txt").write_text("".join(sorted(RUN.splitlines(True), key=hash_of)))
    (path / "run.txt.gz").write_bytes(gzip.compress(RUN.encode()))
    (path / "run.csv").write_text(
        "query,doc,score\n" + "".join(f'"{q}","{d}",{s}\n' for q, d, s in rows)
    )
    gg.convert(str(path / "run.csv"), str(path / "run.parquet"))
    result = '{"id": "d%d", "gain": 1}'
    (path / "traces.jsonl").write_text(
        "".join(TRACE % (i, SEARCH % (result % i)) for i in range(300))
    )
    votes = "".join(f"q{i % 9},d{i},{i % 3}\n" for i in range(30))
    (path / "votes.csv").write_text("query,doc,gain\n" + votes)
    with gg.Store(str(path / "store.labels")) as store:
        import_labels(store, [{"query": "q", "doc": "d", "gain": 1}], annotator="bob")
    return path


def hash_of(line: str) -> int:
    """An order that has nothing to do with the lines, but is always the same."""
    return sum((i + 7) * ord(c) * 2654435761 for i, c in enumerate(line)) % 1000003


def drive(folder: Path, shim: str, faults: list[str], command: list[str]) -> list[dict[str, Any]]:
    """What happened without a fault, and with each."""
    driver = Path(__file__).with_name("fault_driver.py")
    step = STEP or (11 if "import" in command else 1)  # SQLite makes many calls
    ended = subprocess.run(
        [sys.executable, str(driver), shim, str(folder), str(step), *faults, "--", *command],
        env={**os.environ, "LD_PRELOAD": shim, "TMPDIR": str(folder)},
        capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def content(folder: Path, files: dict[str, str | None]) -> dict[str, Any]:
    """The files that a command wrote, without the time; of an undamaged label store the number of votes."""
    contents: dict[str, Any] = {}
    here = folder.parent / "checked"
    here.mkdir(exist_ok=True)
    stores = {name.partition(".labels")[0] + ".labels" for name in files if ".labels" in name}
    for name, data in files.items():
        if ".labels" not in name:
            contents[name] = data and re.sub(rb'"created": "[^"]*"', b"", bytes.fromhex(data))
        elif data is not None:  # with its journal, from which SQLite restores it
            (here / name).write_bytes(bytes.fromhex(data))
    for name in stores:
        if (folder / name).exists() and not (here / name).exists():
            shutil.copy(folder / name, here / name)
        if (here / name).exists() and (here / name).stat().st_size:
            with gg.Store(str(here / name)) as store:
                contents[name] = store.db.execute("SELECT count(*) FROM votes").fetchone()[0]
            assert verify(here / name).damages == ()
    shutil.rmtree(here)
    return contents


@pytest.mark.parametrize("name", COMMANDS)
def test_short_and_interrupted_calls_change_nothing(folder: Path, shim: str, name: str) -> None:
    good, *others = drive(folder, shim, ["short", "EINTR"], COMMANDS[name])
    assert good["status"] == 0 and good["files"] and good["calls"] > 5, good["said"]
    for other in others:
        assert other["status"] == 0, f"{other['fault']}: {other['said']}"
        assert content(folder, other["files"]) == content(folder, good["files"]), other["fault"]


@pytest.mark.parametrize("name", COMMANDS)
def test_failing_calls_are_one_sentence(folder: Path, shim: str, name: str) -> None:
    good, *others = drive(folder, shim, ["EIO", "ENOSPC"], COMMANDS[name])
    expected = content(folder, good["files"])
    refused = 0
    for other in others:
        files, said = content(folder, other["files"]), other["said"]
        if other["status"] == 0:
            assert files == expected, other["fault"]
            continue
        refused += 1
        lines = said.rstrip().split("\n")
        assert other["status"] == 2, f"{other['fault']}: {other['status']} {said}"
        assert lines[0].startswith("goodgain: ") and len(lines) <= 2, f"{other['fault']}: {said}"
        # Nothing, or a store as it was; or, where only closing it failed, as it should be.
        assert files in ({}, {"store.labels": 1}, {"store.labels": 31}, {"new.labels": 30}), (
            f"{other['fault']}: {said} {sorted(files)}"
        )
    assert refused > len(others) // 3
