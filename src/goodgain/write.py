"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def write_texts(texts: Mapping[str, str]) -> None:
    """Write UTF-8 files: all to temporary files beside their targets, then each in its place."""
    _write({path: (text,) for path, text in texts.items()})


def write_chunks(path: str | os.PathLike[str], chunks: Iterable[str]) -> None:
    """Write UTF-8 text piece by piece: to a temporary file beside the target, then in its place."""
    _write({os.fspath(path): chunks})


def _write(files: Mapping[str, Iterable[str]]) -> None:
    import tempfile

    waiting: list[tuple[Path, Path]] = []
    target = Path()
    try:
        for path, chunks in files.items():
            target = Path(path)
            fd, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            waiting.append((Path(temporary), target))
            with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                for chunk in chunks:
                    file.write(chunk)
            Path(temporary).chmod(0o666 & ~_umask())
            if target.is_dir():
                raise IsADirectoryError(21, "Is a directory")
        for temporary_path, target in waiting:
            temporary_path.replace(target)
    except OSError as error:
        raise InputError(f"cannot write '{target}': {error.strerror}") from None
    finally:
        for temporary_path, _ in waiting:
            temporary_path.unlink(missing_ok=True)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
