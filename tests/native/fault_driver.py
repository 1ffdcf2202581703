"""Runs a command many times in a process with faults.c, each time with another fault, and prints JSON lines.

python fault_driver.py SHIM FOLDER STEP FAULT... -- COMMAND...: FAULT is `short`, `EINTR`, `EIO` or `ENOSPC`;
the last two fail at every STEP-th call. The files that the command changes are restored before each run.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import sys
from pathlib import Path

from goodgain.cli import run as run_command


class Files:
    """The files of a folder: what they were, and what they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before = self.contents()

    def contents(self) -> dict[str, bytes]:
        return {p.name: p.read_bytes() for p in sorted(self.folder.iterdir()) if p.is_file()}

    def changed(self) -> dict[str, str | None]:
        """New and changed files as hexadecimal text, and None for deleted ones."""
        now = self.contents()
        changed: dict[str, str | None] = {
            name: data.hex() for name, data in now.items() if data != self.before.get(name)
        }
        return {**changed, **dict.fromkeys(self.before.keys() - now.keys())}

    def restore(self) -> None:
        for name in self.changed():
            if name in self.before:
                (self.folder / name).write_bytes(self.before[name])
            else:
                (self.folder / name).unlink()


def run(command: list[str]) -> tuple[int | str, str]:
    """The status of a command and what it says on standard error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            status: int | str = run_command(command)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else str(end.code)
        except BaseException as error:
            status = f"{type(error).__name__}: {error}"
    return status, said.getvalue()


def attempt(shim: ctypes.CDLL, files: Files, fault: str, command: list[str]) -> int:
    """Run once, print what happened, and restore the files; the number of calls."""
    shim.faults_start(os.fsencode(files.folder), fault.encode())
    status, said = run(command)
    calls = shim.faults_stop()
    result = {
        "fault": fault,
        "status": status,
        "said": said,
        "calls": calls,
        "files": files.changed(),
    }
    print(json.dumps(result), flush=True)
    files.restore()
    return calls


def drive(library: str, folder: str, step: str, *words: str) -> None:
    """All faults."""
    faults, command = list(words[: words.index("--")]), list(words[words.index("--") + 1 :])
    shim = ctypes.CDLL(library)
    shim.faults_stop.restype = ctypes.c_long
    os.chdir(folder)
    files = Files(Path(folder))
    run(command)  # what is imported and made once
    files.restore()
    calls = attempt(shim, files, "EIO:0", command)
    for fault in faults:
        if fault in ("short", "EINTR"):
            attempt(shim, files, fault if fault == "short" else "EINTR:0", command)
        else:
            for number in range(1, calls + 1, int(step)):
                attempt(shim, files, f"{fault}:{number}", command)


if __name__ == "__main__":
    drive(*sys.argv[1:])
