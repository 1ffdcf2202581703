"""Atomic writes: a file is written completely, or not at all.

A regular file is written beside its target, synchronised and moved into place, with the owner and the
permissions of what it replaces; a link stays a link. Devices, pipes and open descriptors such as
/dev/stdout are written to, never replaced: what a shell redirects there may be appended to a file.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError
from goodgain.io.naming import compression_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_TEMPORARY = ".{name}.{pid}.goodgain"
_LEFT_BEHIND = re.compile(r"\.(?P<pid>\d+)\.goodgain$")
_LONGEST_NAME = 200  # bytes of a name that leave room for what is added; most systems allow 255
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self|proc/thread-self)/fd/(?P<number>\d{1,9})")
_MOST_LINKS = 40  # as in the kernel


def write_texts(texts: Mapping[str, str | Iterable[str]]) -> None:
    """Write UTF-8 files, all or none of them; a text may come in pieces."""
    write_files({path: encoded(text) for path, text in texts.items()})


def encoded(text: str | Iterable[str | bytes]) -> Iterator[bytes]:
    """The bytes of a text, or of pieces of it."""
    for piece in (text,) if isinstance(text, str) else text:
        yield piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece


def write_files(files: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """Write all files, then move each into place; what cannot be replaced is written to last.

    A suffix such as .gz compresses a file, whatever it holds.
    """
    with _ended_by_signals():
        _write_all({path: _packed(path, data) for path, data in files.items()})


def _packed(path: str, data: bytes | Iterable[bytes]) -> bytes | Iterable[bytes]:
    if compression_of(path) is None:
        return data
    from goodgain.io.compression import compress

    return compress(path, (data,) if isinstance(data, bytes) else data)


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
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # Where it is not the default, the application has its own way.
    ours = [number for number in ends if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _write_all(files: Mapping[str, bytes | Iterable[bytes]]) -> None:
    moves: list[tuple[Path, Path]] = []
    streams: list[tuple[Path, int | None, bytes | Iterable[bytes]]] = []
    target = Path()
    try:
        for path, data in files.items():
            target = Path(path)
            descriptor = _descriptor(target)
            old = None if descriptor is not None else _status(target)
            if old is not None and stat.S_ISDIR(old.st_mode):
                raise IsADirectoryError(21, "Is a directory")
            if descriptor is not None or (old is not None and not stat.S_ISREG(old.st_mode)):
                streams.append((target, descriptor, data))
                continue
            if old is not None and not os.access(target, os.W_OK):
                raise PermissionError(13, "Permission denied")
            place = target.resolve()
            _sweep(place)
            temporary = place.with_name(_TEMPORARY.format(name=_short(place.name), pid=os.getpid()))
            moves.append((temporary, place))
            _write(temporary, data, old)
        for target, descriptor, data in streams:
            _write_to(target, descriptor, data)
        for temporary, target in moves:
            temporary.replace(target)
    except OSError as error:
        raise InputError(f"cannot write '{target}': {error.strerror}") from None
    finally:
        for temporary, _ in moves:
            temporary.unlink(missing_ok=True)


def _status(target: Path) -> os.stat_result | None:
    """Type, owner and permissions of what a path leads to; None if there is nothing yet."""
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _descriptor(path: Path) -> int | None:
    """The descriptor of this process that a path names, directly or through links: 1 for /dev/stdout."""
    for _ in range(_MOST_LINKS):
        if match := _DESCRIPTOR.fullmatch(str(path.absolute())):
            return int(match["number"])
        try:
            path = path.parent / path.readlink()
        except (OSError, ValueError):
            return None
    return None


def _write_to(target: Path, descriptor: int | None, data: bytes | Iterable[bytes]) -> None:
    """Write to what cannot be replaced; after what was printed, if that goes to the same place."""
    if descriptor in (1, 2):
        (sys.stdout if descriptor == 1 else sys.stderr).flush()
    opened = target.open("wb") if descriptor is None else os.fdopen(os.dup(descriptor), "wb")
    with opened as stream:
        stream.writelines((data,) if isinstance(data, bytes) else data)


def _write(temporary: Path, data: bytes | Iterable[bytes], old: os.stat_result | None) -> None:
    """Write a new file with the owner and permissions of the old one, and wait until it is on the disk."""
    temporary.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666 if old is None else 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if old is not None:
            if hasattr(os, "fchown"):
                for owner in ((-1, old.st_gid), (old.st_uid, -1)):
                    with suppress(PermissionError):  # only an administrator gives files away
                        os.fchown(descriptor, *owner)
            temporary.chmod(stat.S_IMODE(old.st_mode))
        file.writelines((data,) if isinstance(data, bytes) else data)
        file.flush()
        os.fsync(descriptor)


def _sweep(place: Path) -> None:
    """Remove what killed processes left beside a target."""
    for path in place.parent.glob(f".{_literal(_short(place.name))}.*.goodgain"):
        match = _LEFT_BEHIND.search(path.name)
        if match and not _runs(int(match["pid"])):
            path.unlink(missing_ok=True)


def _short(name: str) -> str:
    """A name as part of that of the temporary file; one without room for more is replaced by its hash."""
    content = os.fsencode(name)
    return name if len(content) <= _LONGEST_NAME else hashlib.sha256(content).hexdigest()


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
