"""One experiment at a time in a folder: a second process would make every call again."""

from __future__ import annotations

import json
import os
import time
from typing import IO, TYPE_CHECKING

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "experiment.lock"


class FolderLock:
    """Held as long as the process runs; the system releases it if the process is killed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the lock, or say who has it."""
        file = self._path.open("a+", encoding="utf-8")
        if not try_lock(file):
            holder = _holder(file)
            file.close()
            raise UsageError(
                f"the folder '{self._path.parent}' is in use by {holder}",
                hint="wait until it ends, or use another folder",
            )
        file.seek(0)
        file.truncate()
        json.dump({"process": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}, file)
        file.flush()
        self._file = file

    def release(self) -> None:
        """Release the lock; the file stays, because removing it would race with another process."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _holder(file: IO[str]) -> str:
    try:
        file.seek(0)
        content = json.load(file)
        return f"process {content['process']} (since {content['since']})"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"


def try_lock(file: IO[str]) -> bool:
    """Lock a file without waiting; whether it was free, or the file system has no locks."""
    try:
        import fcntl
    except ImportError:
        return _try_lock_windows(file)
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _try_lock_windows(file: IO[str]) -> bool:
    import msvcrt

    try:
        file.seek(1 << 30)  # a byte beyond the content, so that others can read who holds it
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
