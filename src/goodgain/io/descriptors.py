"""Descriptors of files where systems differ: Windows has no pread, no flock and two modes of reading."""

from __future__ import annotations

import os

# Bytes as they are, and not left open in programs that are started.
READ_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

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
