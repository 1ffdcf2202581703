"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def write_texts(texts: Mapping[str, str | Iterable[str]]) -> None:
    """Write UTF-8 files: all to temporary files beside their targets, then each in its place.

    A text may come piece by piece.
    """
    import tempfile

    waiting: list[tuple[Path, Path]] = []
    target = Path()
    try:
        for path, text in texts.items():
            target = Path(path)
            fd, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            waiting.append((Path(temporary), target))
            with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.writelines((text,) if isinstance(text, str) else text)
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
