"""Compressed files: read as plain bytes, written by the suffix of their name."""

from __future__ import annotations

import sys

from goodgain.io.naming import compression_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, Any


def open_decompressed(path: str, data: IO[bytes] | None = None) -> IO[bytes]:
    """A stream of a file's bytes, decompressed if its suffix says so; `data` is the file if it is open."""
    from goodgain.io.limits import limited

    return limited(_decompressed(path, data), path)


def _decompressed(path: str, data: IO[bytes] | None) -> IO[bytes]:
    file = data or path
    match compression_of(path):
        case "gzip":
            import gzip

            return gzip.open(file)  # type: ignore[return-value]
        case "bz2":
            import bz2

            return bz2.open(file)
        case "lzma":
            import lzma

            return lzma.open(file)
        case "zstd":
            return _zstd().open(file)  # type: ignore[no-any-return]
    return data or open(path, "rb")


def compress(path: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of a file of this name: compressed if its suffix says so."""
    compressor = _compressor(path)
    if compressor is None:
        yield from chunks
        return
    for chunk in chunks:
        yield compressor.compress(chunk)
    yield compressor.flush()


def decompress_zstandard(data: bytes) -> bytes:
    """The content of Zstandard data; a ValueError if it is damaged."""
    zstd = _zstd()
    try:
        return bytes(zstd.decompress(data))
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from None


def _compressor(path: str) -> Any:
    match compression_of(path):
        case "gzip":
            import zlib

            return zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        case "bz2":
            import bz2

            return bz2.BZ2Compressor()
        case "lzma":
            import lzma

            return lzma.LZMACompressor()
        case "zstd":
            return _zstd().ZstdCompressor()
    return None


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
