"""Descriptors of files where systems differ: Windows has no pread, no flock and two modes of reading."""

from __future__ import annotations

import os

from goodgain.errors import InputError, UsageError
from goodgain.io.naming import compression_of

# Bytes as they are, and not left open in programs that are started.
_AS_IT_IS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
READ_FLAGS = os.O_RDONLY | _AS_IT_IS
_APPEND_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | _AS_IT_IS

_BLOCK = 1 << 18

if hasattr(os, "pread"):
    read_at = os.pread
else:

    def read_at(fd: int, size: int, offset: int, /) -> bytes:
        """Read at a place, and leave the position of the descriptor where it was."""
        before = os.lseek(fd, 0, os.SEEK_CUR)
        try:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, size)
        finally:
            os.lseek(fd, before, os.SEEK_SET)


def require_appendable(path: str) -> None:
    """Refuse a compressed file, to which lines cannot be added one by one."""
    if compression_of(path):
        raise UsageError(
            f"lines are added one by one, which a compressed file does not allow: '{path}'",
            hint="leave the suffix out, and compress the file when it is complete",
        )


def open_to_append(path: str) -> int:
    """A descriptor that adds to the end of a file, which may be new."""
    require_appendable(path)
    try:
        return os.open(path, _APPEND_FLAGS, 0o666)
    except OSError as error:
        raise InputError(
            f"cannot write '{path}': {error.strerror}",
            hint="check the path, its permissions and the space",
        ) from None


def lock_descriptor(fd: int) -> None:
    """Keep other processes from writing to a file meanwhile, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        return  # Windows: the core locks for each line
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError:  # single appending writes are then all there is
        return


class FileAtOwnPlace:
    """An open file that several readers read, each at its own place; closing one of them closes nothing."""

    closed = False

    def __init__(self, fd: int) -> None:
        self._fd, self._place = fd, 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes: at most `size` of them, or as many as are convenient."""
        # A damaged file may claim a length that nobody could hold.
        there = max(0, os.fstat(self._fd).st_size - self._place)
        data = read_at(self._fd, min(_BLOCK if size < 0 else size, there), self._place)
        self._place += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, from the beginning, from here or from the end."""
        start = self._place if whence == os.SEEK_CUR else 0
        if whence == os.SEEK_END:
            start = os.fstat(self._fd).st_size
        self._place = start + offset
        return self._place

    def tell(self) -> int:
        """The place of the next byte."""
        return self._place

    def seekable(self) -> bool:
        """Whether one may jump in it."""
        return True

    def close(self) -> None:
        """Nothing: whoever opened the file closes it."""


class OpenFile:
    """A file that stays open as long as this object, for any number of readers."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __del__(self) -> None:
        os.close(self._fd)

    def reader(self) -> FileAtOwnPlace:
        """The file from its beginning."""
        return FileAtOwnPlace(self._fd)

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return os.fstat(self._fd).st_size
