"""Atomic writes: a file is written completely, or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def write_texts(texts: Mapping[str, str | Iterable[str]]) -> None:
    """Write UTF-8 files, all or none of them; a text may come in pieces."""
    write_files({path: _encode(text) for path, text in texts.items()})


def _encode(text: str | Iterable[str]) -> Iterator[bytes]:
    for piece in (text,) if isinstance(text, str) else text:
        yield piece.encode("utf-8", "surrogateescape")


def write_files(files: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """Write to temporary files beside the targets, then move each into place."""
    import tempfile

    temporaries: list[tuple[Path, Path]] = []
    target = Path()
    try:
        for path, data in files.items():
            target = Path(path)
            fd, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            temporaries.append((Path(temporary), target))
            with os.fdopen(fd, "wb") as file:
                file.writelines((data,) if isinstance(data, bytes) else data)
            Path(temporary).chmod(0o666 & ~_umask())
            if target.is_dir():
                raise IsADirectoryError(21, "Is a directory")
        for temporary_path, target in temporaries:
            temporary_path.replace(target)
    except OSError as error:
        raise InputError(f"cannot write '{target}': {error.strerror}") from None
    finally:
        for temporary_path, _ in temporaries:
            temporary_path.unlink(missing_ok=True)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
