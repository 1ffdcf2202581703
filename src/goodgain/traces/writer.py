"""Appends JSON lines to a file so that neither a crash nor another writer can damage it."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain._core import append_line
from goodgain.errors import GoodgainError, InputError, UsageError
from goodgain.io.descriptors import (
    lock_descriptor,
    open_to_append,
    read_at,
    require_appendable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_LOGGED = 20  # problems at most
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


_process = object()  # another one after a fork


def _after_fork() -> None:
    global _process
    _process = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """When a file is renamed and a new one begun: at a size in bytes, or at an age in seconds."""

    size: int | None = None
    age: float | None = None

    def is_due(self, size: int, began: float) -> bool:
        """Whether a file of this size that began at this time is full."""
        if not size:
            return False
        return (self.size is not None and size >= self.size) or (
            self.age is not None and time.time() - began >= self.age
        )


class TraceWriter:
    """A file of JSON lines that is only ever appended to, by any number of threads and processes.

    A line is handed to the operating system before `write` returns, so killing the process loses none. With
    `strict=False` it never raises into the application: problems are logged, and `lost` counts the lines
    that could not be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        append: bool = False,
        strict: bool = True,
        is_own: Callable[[bytes], bool] | None = None,
        rotation: Rotation | None = None,
    ) -> None:
        """`is_own` says whether the first line of a file to append to was written by such a writer.

        With a `rotation`, `traces.jsonl` is renamed to `traces.TIME.jsonl` when it is full. Writers in other
        processes notice, also if another program renames the file.
        """
        self.path = os.fspath(path)
        require_appendable(self.path)
        self.strict = strict
        self.lost = 0
        self._append = append
        self._is_own = is_own
        self._fd: int | None = None
        self._process: object = None
        self._lock = threading.Lock()
        self._rotation = rotation
        self._file: tuple[int, int] = (0, 0)  # device and number of the open file
        self._began = 0.0
        self._end = -1  # of the file after the last line that was written here

    @property
    def is_open(self) -> bool:
        """Whether lines can be written."""
        return self._fd is not None

    def open(self) -> TraceWriter:
        """Open the file; one that has content is refused unless it is to be appended to."""
        with self.problems():
            self._open()
        return self

    def close(self) -> None:
        """Close the file; every line is already in it."""
        with self._lock:
            if self._fd is not None and self._process is _process:
                os.close(self._fd)
            self._fd = None

    def write(self, event: Mapping[str, Any]) -> None:
        """Append one object as a line."""
        with self.problems():
            self.write_line(_ENCODER.encode(event).encode("utf-8", "replace"))

    def write_line(self, line: bytes) -> None:
        """Append a line that is JSON already; whatever goes wrong is raised."""
        if self._process is not _process:  # a fork shares neither the lock nor the descriptor
            self._lock, self._append = threading.Lock(), True
            self._open()
        with self._lock:
            if self._fd is None:
                raise UsageError("the writer is closed")
            if self._rotation is not None:
                self._follow_rotation()
            self._end = append_line(self._fd, line, self._end)
            if self._end < 0:
                reason = os.strerror(-1 - self._end)
                raise InputError(f"cannot write '{self.path}': {reason}")

    @contextmanager
    def problems(self) -> Iterator[None]:
        """Whatever goes wrong inside is raised, or logged and counted if not `strict`."""
        try:
            yield
        except Exception as error:
            self.report(error)
            self.lost += 1

    def report(self, error: Exception) -> None:
        """Raise a problem, or log it if not `strict`; a disk that stays full is not logged for ever."""
        if self.strict:
            raise error
        if self.lost >= _LOGGED:
            return
        reason = str(error) if isinstance(error, GoodgainError) else repr(error)
        logging.getLogger("goodgain").warning("recording: %s", reason)

    def _open(self) -> None:
        fd = open_to_append(self.path)
        try:
            self._check(fd)
        except BaseException:
            os.close(fd)
            raise
        facts = os.fstat(fd)
        self._fd, self._process, self._end = fd, _process, -1
        self._file = facts.st_dev, facts.st_ino
        self._began = _first_moment(fd) or time.time()

    def _follow_rotation(self) -> None:
        """Lock the file that has the name now, and is not full; the lock ends with the line."""
        while True:
            assert self._fd is not None
            lock_descriptor(self._fd)
            if self._is_current():
                return
            old, self._append = self._fd, True
            try:
                self._open()
            finally:
                if self._fd != old:
                    os.close(old)

    def _is_current(self) -> bool:
        """Whether the open file is the one to write to; one that is full is renamed here."""
        assert self._rotation is not None
        try:
            facts = os.stat(self.path)  # noqa: PTH116 - the cost of a search
        except FileNotFoundError:
            return False
        if (facts.st_dev, facts.st_ino) != self._file:
            return False
        if not self._rotation.is_due(facts.st_size, self._began):
            return True
        _rotate(self.path)
        return False

    def _check(self, fd: int) -> None:
        head = read_at(fd, 200, 0)
        if head and not self._append:
            raise UsageError(
                f"the file '{self.path}' is not empty",
                hint="append=True adds to it; nothing is ever overwritten",
            )
        if head and self._is_own is not None and not self._is_own(head):
            raise UsageError(
                f"cannot append to '{self.path}': it is not a recording",
                hint="record to another file; `goodgain convert` turns a recording into canonical traces",
            )


_MOMENT = re.compile(rb'"start": (\d{19})')


def _first_moment(fd: int) -> float | None:
    """When the first line of a file was written, as far as it says so."""
    head = read_at(fd, 4096, 0).partition(b"\n")[0]
    match = _MOMENT.search(head)
    return int(match[1]) / 1e9 if match else None


def _rotate(path: str) -> None:
    """Give a file a free name that sorts by time and before its successor.

    `traces.jsonl` becomes `traces.20261116-001500-000001.jsonl`.
    """
    file = Path(path)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    number = 1
    while True:
        name = file.with_name(f"{file.stem}.{stamp}-{number:06}{file.suffix}")
        if not name.exists():
            file.rename(name)
            return
        number += 1
