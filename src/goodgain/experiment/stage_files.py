"""Stages on disk: `DIR/KIND/ADDRESS/`, complete or absent, checked when it is read, the oldest removed first.

A stage is written to `ADDRESS.part` under a lock and moved into place when it is complete. What a killed
process left in `ADDRESS.part` is there for the next one to continue.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

from goodgain.errors import InputError
from goodgain.experiment.locking import try_lock
from goodgain.io.atomic import write_texts
from goodgain.io.sources import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT = 1
RECORD = "stage.json"
_PART, _LOCK, _TRASH = ".part", ".lock", ".trash"


class StageFiles:
    """A folder of stages, which several processes may use at the same time."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.folder = folder
        self._limit = limit
        self._in_use: set[Path] = set()  # never removed by this process

    def place(self, kind: str, address: str) -> Path:
        """Where a complete stage is."""
        return self.folder / kind / address

    @contextmanager
    def locked(self, place: Path) -> Iterator[None]:
        """Wait until no other process works on this stage."""
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            file = _wait_for_lock(place.with_name(place.name + _LOCK))
        except OSError as error:
            raise InputError(f"cannot write '{self.folder}': {error.strerror}") from None
        try:
            self._in_use.add(place)
            yield
        finally:
            Path(file.name).unlink(missing_ok=True)
            file.close()

    def read(self, place: Path) -> dict[str, Any] | None:
        """The record of a stage whose files are all intact, if there is one; damage is an error."""
        try:
            text = (place / RECORD).read_text(encoding="utf-8")
        except FileNotFoundError:
            if place.exists():
                raise DamagedStageError(f"{RECORD} is missing") from None
            return None
        try:
            record: dict[str, Any] = json.loads(text)
            if record["format"] != FORMAT:
                return None
            expected = record["files"]
            seconds = float(record["seconds"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise DamagedStageError(f"{RECORD} cannot be read") from None
        for name, digest in expected.items():
            path = place / name
            if sha256_of(str(path)) != digest:
                raise DamagedStageError(f"{name} has changed")
        os.utime(place / RECORD)  # used last now
        return {**record, "seconds": seconds}

    def workspace(self, place: Path) -> tuple[Path, bool]:
        """The folder to write a stage to, and whether an earlier process began there."""
        part = place.with_name(place.name + _PART)
        has_begun = part.exists() and any(part.iterdir())
        part.mkdir(exist_ok=True)
        return part, has_begun

    def complete(self, part: Path, place: Path, record: dict[str, Any]) -> None:
        """Move a stage into place."""
        files = {
            path.relative_to(part).as_posix(): sha256_of(str(path))
            for path in sorted(part.rglob("*"))
            if path.is_file()
        }
        content = {"format": FORMAT, **record, "files": files}
        write_texts({str(part / RECORD): json.dumps(content, indent=1)})
        self.remove(place)
        part.rename(place)
        self._make_room()

    def remove(self, place: Path) -> None:
        """Remove a stage; it is gone at once for other processes, also if this one is killed meanwhile."""
        if place.exists():
            trash = place.with_name(f"{place.name}.{uuid4().hex[:8]}{_TRASH}")
            place.rename(trash)
            shutil.rmtree(trash, ignore_errors=True)

    def _make_room(self) -> None:
        """Remove the stages that were used longest ago until all of them fit in the limit."""
        entries = []
        for path in self.folder.glob("*/*"):
            if path.suffix == _TRASH:
                shutil.rmtree(path, ignore_errors=True)
            elif path.is_dir():
                entries.append((_last_use(path), _size(path), path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._limit:
                return
            place = path.with_suffix("") if path.suffix == _PART else path
            if place not in self._in_use and self._remove_unless_locked(path, place):
                total -= size

    def _remove_unless_locked(self, path: Path, place: Path) -> bool:
        file = _lock(place.with_name(place.name + _LOCK))
        if file is None:
            return False
        try:
            self.remove(path)
        except OSError:  # another process was faster
            return False
        finally:
            Path(file.name).unlink(missing_ok=True)
            file.close()
        return True


class DamagedStageError(Exception):
    """A stage whose files are not those that were written."""


def _wait_for_lock(path: Path) -> IO[str]:
    pause = 0.01
    while (file := _lock(path)) is None:
        time.sleep(pause)
        pause = min(2 * pause, 0.5)
    return file


def _lock(path: Path) -> IO[str] | None:
    """The locked file, or None if another process has it or has just removed it."""
    file = path.open("a+", encoding="utf-8")
    try:
        if try_lock(file) and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
    except FileNotFoundError:
        pass
    file.close()
    return None


def _last_use(path: Path) -> float:
    try:
        return (path / RECORD).stat().st_mtime
    except OSError:
        return path.stat().st_mtime if path.exists() else 0.0


def _size(path: Path) -> int:
    total = 0
    for each in path.rglob("*"):
        try:
            total += each.stat().st_size
        except OSError:  # removed by another process
            continue
    return total
