"""Faults of the system at every call: short reads, EINTR, EIO and ENOSPC, in the way of SQLite's tests.

A shim fails calls on the files of a folder. The command must give the right answer, or refuse with one
sentence and write nothing.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="needs LD_PRELOAD and a compiler"
)
EVERY = int(os.environ.get("GOODGAIN_FAULT_STEP", "9"))  # 1: every single call fails once
RUN = "".join(f"q{i % 40} Q0 d{i} 1 {i / 7} t\n" for i in range(4000))
QRELS = "".join(f"q{i} 0 d{i + 40 * j} {j % 3}\n" for i in range(40) for j in range(20))


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> str:
    library = tmp_path_factory.mktemp("shim") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
    )
    return str(library)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "files"
    path.mkdir()
    (path / "qrels.txt").write_text(QRELS)
    (path / "run.txt").write_text(RUN)
    (path / "run.txt.gz").write_bytes(gzip.compress(RUN.encode()))
    (path / "run.csv").write_text(
        "query,doc,score\n" + "".join(f'"q{i % 40}","d{i}",{i / 7}\n' for i in range(4000))
    )
    return path


def attempt(folder: Path, shim: str, fault: str, run: str) -> tuple[int, str, str, int]:
    """Status, the saved numbers, what was said, and the number of calls."""
    count = folder.parent / "count"
    count.unlink(missing_ok=True)
    output = folder / "out.csv"
    output.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "LD_PRELOAD": shim,
        "TMPDIR": str(folder),
        "GOODGAIN_FAULT": fault,
        "GOODGAIN_FAULT_FOLDER": str(folder),
        "GOODGAIN_FAULT_COUNT": str(count),
    }
    command = [
        "evaluate",
        "qrels.txt",
        run,
        "-m",
        "AP nDCG@10",
        "--per-query",
        "--format",
        "csv",
        "-q",
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "goodgain", *command, "-o", str(output)],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    saved = output.read_text() if output.exists() else ""
    left = sorted(p.name for p in folder.iterdir() if p.name.startswith(("goodgain-", ".")))
    assert not left, f"left behind: {left}"
    return ended.returncode, saved, ended.stderr, int(count.read_text()) if count.exists() else 0


@pytest.mark.parametrize("run", ["run.txt", "run.txt.gz", "run.csv"])
def test_short_and_interrupted_calls_change_nothing(folder: Path, shim: str, run: str) -> None:
    status, expected, said, _ = attempt(folder, shim, "EIO:0", run)
    assert status == 0, said
    for fault in ("short", "EINTR:0"):
        status, saved, said, calls = attempt(folder, shim, fault, run)
        assert (status, saved) == (0, expected), f"{fault}: {said}"
        assert calls > 0


@pytest.mark.parametrize("fault", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("run", ["run.txt", "run.txt.gz", "run.csv"])
def test_failing_calls_are_one_sentence(folder: Path, shim: str, run: str, fault: str) -> None:
    _, expected, _, calls = attempt(folder, shim, f"{fault}:0", run)
    refused = 0
    for number in range(1, calls + 1, EVERY):
        status, saved, said, _ = attempt(folder, shim, f"{fault}:{number}", run)
        if status == 0:
            assert saved == expected
            continue
        refused += 1
        lines = said.rstrip().split("\n")
        assert status == 2, said
        assert lines[0].startswith("goodgain: "), said
        assert len(lines) <= 2 and "Traceback" not in said, said
        assert saved == ""
    assert refused or fault == "ENOSPC"
