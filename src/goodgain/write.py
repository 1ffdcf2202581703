"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    write_chunks(path, (text,))


def write_chunks(path: str | os.PathLike[str], chunks: Iterable[str]) -> None:
    """Write UTF-8 text piece by piece: to a temporary file beside the target, then in its place."""
    target = Path(path)
    try:
        fd, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent or Path())
    except OSError as error:
        raise InputError(f"cannot write '{target}': {error.strerror}") from None
    try:
        with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            for chunk in chunks:
                file.write(chunk)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write '{target}': {error.strerror}") from None
        raise
