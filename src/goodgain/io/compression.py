"""Compressed files: read as plain bytes, written by the suffix of their name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any, cast

from goodgain.io.naming import compression_of


def open_decompressed(path: str) -> IO[bytes]:
    """A stream of a file's bytes, decompressed if its suffix says so."""
    codec = _codec(path)
    return Path(path).open("rb") if codec is None else cast("IO[bytes]", codec.open(path))


def compress(path: str, data: bytes) -> bytes:
    """The data as a file of this name holds them."""
    codec = _codec(path)
    if codec is None:
        return data
    # Without the time, so that the same data give the same file.
    options = {"mtime": 0} if compression_of(path) == "gzip" else {}
    return bytes(codec.compress(data, **options))


def _codec(path: str) -> Any:
    """The module that reads and writes the compression of a file, or None."""
    match compression_of(path):
        case "gzip":
            import gzip as codec
        case "bz2":
            import bz2 as codec  # type: ignore[no-redef]
        case "lzma":
            import lzma as codec  # type: ignore[no-redef]
        case "zstd":
            if sys.version_info >= (3, 14):
                from compression import zstd as codec  # type: ignore[no-redef]
            else:
                from backports import zstd as codec  # type: ignore[no-redef]
        case _:
            return None
    return codec
