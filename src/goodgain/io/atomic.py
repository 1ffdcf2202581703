"""Atomic writes: a file is written completely, or not at all.

A regular file is written beside its target, synchronised and moved into place, with the permissions of
what it replaces; a link stays a link. Devices and pipes are written to, never replaced.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_TEMPORARY = ".{name}.{pid}.goodgain"
_LEFT_BEHIND = re.compile(r"\.(?P<pid>\d+)\.goodgain$")


def write_texts(texts: Mapping[str, str | Iterable[str]]) -> None:
    """Write UTF-8 files, all or none of them; a text may come in pieces."""
    write_files({path: encoded(text) for path, text in texts.items()})


def encoded(text: str | Iterable[str | bytes]) -> Iterator[bytes]:
    """The bytes of a text, or of pieces of it."""
    for piece in (text,) if isinstance(text, str) else text:
        yield piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece


def write_files(files: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """Write all files, then move each into place; what cannot be replaced is written to last."""
    with _ended_by_signals():
        _write_all(files)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a request to end unwind the stack, so that temporary files are removed."""
    import signal
    import threading

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:  # the application has its own way
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _write_all(files: Mapping[str, bytes | Iterable[bytes]]) -> None:
    moves: list[tuple[Path, Path]] = []
    streams: list[tuple[Path, bytes | Iterable[bytes]]] = []
    target = Path()
    try:
        for path, data in files.items():
            target = Path(path)
            mode = _mode(target)
            if mode is not None and stat.S_ISDIR(mode):
                raise IsADirectoryError(21, "Is a directory")
            if mode is not None and not stat.S_ISREG(mode):
                streams.append((target, data))
                continue
            place = target.resolve()
            _sweep(place)
            temporary = place.with_name(_TEMPORARY.format(name=place.name, pid=os.getpid()))
            moves.append((temporary, place))
            _write(temporary, data, mode)
        for target, data in streams:
            with target.open("wb", buffering=0) as stream:
                for piece in (data,) if isinstance(data, bytes) else data:
                    stream.write(piece)
        for temporary, target in moves:
            temporary.replace(target)
    except OSError as error:
        raise InputError(f"cannot write '{target}': {error.strerror}") from None
    finally:
        for temporary, _ in moves:
            temporary.unlink(missing_ok=True)


def _mode(target: Path) -> int | None:
    """The type and permissions of what a path leads to; None if there is nothing yet."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _write(temporary: Path, data: bytes | Iterable[bytes], mode: int | None) -> None:
    """Write a new file with the permissions of the old one, and wait until it is on the disk."""
    temporary.unlink(missing_ok=True)
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
    )
    with os.fdopen(descriptor, "wb") as file:
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        file.writelines((data,) if isinstance(data, bytes) else data)
        file.flush()
        os.fsync(descriptor)


def _sweep(place: Path) -> None:
    """Remove what killed processes left beside a target."""
    for path in place.parent.glob(f".{_literal(place.name)}.*.goodgain"):
        match = _LEFT_BEHIND.search(path.name)
        if match and not _runs(int(match["pid"])):
            path.unlink(missing_ok=True)


def _literal(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)


def _runs(pid: int) -> bool:
    """Whether a process is there; if that cannot be known, yes."""
    if os.name == "nt":  # a signal would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
