"""Appends JSON lines to a file so that neither a crash nor another writer can damage it."""

from __future__ import annotations

import json
import logging
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_LOGGED = 20  # problems at most
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


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
    ) -> None:
        """`is_own` says whether the first line of a file to append to was written by such a writer."""
        self.path = os.fspath(path)
        self.strict = strict
        self.lost = 0
        self._append = append
        self._is_own = is_own
        self._fd: int | None = None
        self._process = 0
        self._lock = threading.Lock()

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
            if self._fd is not None and self._process == os.getpid():
                os.close(self._fd)
            self._fd = None

    def write(self, event: Mapping[str, Any]) -> None:
        """Append one object as a line."""
        with self.problems():
            line = json.dumps(event, ensure_ascii=False, allow_nan=False)
            self._write(line.encode("utf-8", "replace") + b"\n")

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
        try:
            fd = os.open(self.path, _FLAGS, 0o666)
        except OSError as error:
            raise InputError(f"cannot write '{self.path}': {error.strerror}") from None
        try:
            self._check(fd)
        except BaseException:
            os.close(fd)
            raise
        self._fd, self._process = fd, os.getpid()

    def _check(self, fd: int) -> None:
        head = os.pread(fd, 200, 0) if hasattr(os, "pread") else b""
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

    def _write(self, line: bytes) -> None:
        if self._process != os.getpid():  # a fork shares neither the lock nor the descriptor
            self._lock, self._append = threading.Lock(), True
            self._open()
        with self._lock:
            if self._fd is None:
                raise UsageError("the writer is closed")
            with _file_lock(self._fd):
                if _is_torn(self._fd):
                    line = b"\n" + line
                try:
                    while line:
                        line = line[os.write(self._fd, line) :]
                except OSError as error:
                    raise InputError(f"cannot write '{self.path}': {error.strerror}") from None


def _is_torn(fd: int) -> bool:
    """Whether the last line has no end: its writer was killed in the middle of it."""
    size = os.fstat(fd).st_size
    return size > 0 and hasattr(os, "pread") and os.pread(fd, 1, size - 1) != b"\n"


@contextmanager
def _file_lock(fd: int) -> Iterator[None]:
    """Keeps other processes from writing meanwhile, where the system has such locks."""
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX)
    except (ImportError, OSError):  # single appending writes are then all there is
        yield
        return
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)
