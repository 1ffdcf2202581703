"""Compressed files: read as plain bytes, written by the suffix of their name."""

from __future__ import annotations

import sys

from goodgain.io.descriptors import FileAtOwnPlace, read_at
from goodgain.io.naming import compression_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
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
            from bz2 import BZ2Decompressor

            return _in_turn(file, BZ2Decompressor)
        case "lzma":
            from lzma import LZMADecompressor

            return _in_turn(file, LZMADecompressor, is_padded=True)
        case "zstd":
            return _zstd().open(file)  # type: ignore[no-any-return]
    return data or open(path, "rb")


def _in_turn(file: Any, new: Callable[[], Any], *, is_padded: bool = False) -> IO[bytes]:
    """The streams of a bz2 or xz file in turn.

    Python's own readers take a stream that is damaged at its beginning, and all after it, for garbage
    behind the one before, and leave it out. Zeros may follow a stream of xz.
    """
    import io

    class Streams(io.RawIOBase):
        def __init__(self) -> None:
            self._file = open(file, "rb") if isinstance(file, str) else file  # noqa: SIM115
            self._decompressor = new()
            self._packed = b""
            self._is_empty = True

        def readable(self) -> bool:
            return True

        def close(self) -> None:
            if isinstance(file, str):
                self._file.close()
            super().close()

        def readinto(self, buffer: Any) -> int:
            size = len(buffer)
            while True:
                current = self._decompressor
                if current.eof or (current.needs_input and not self._packed):
                    if not self._more():
                        return 0
                    current = self._decompressor
                packed, self._packed = self._packed, b""
                piece = current.decompress(packed, size)
                if current.eof:
                    self._packed = current.unused_data
                if piece:
                    buffer[: len(piece)] = piece
                    return len(piece)

        def _more(self) -> bool:
            """Go on to the next stream or the next bytes of this one; False at the end of the file."""
            is_over = self._decompressor.eof
            while not self._without_padding(is_over):
                self._packed = self._file.read(_PACKED_BLOCK)
                if not self._packed:
                    if is_over or self._is_empty:
                        return False
                    raise EOFError(
                        "Compressed file ended before the end-of-stream marker was reached"
                    )
                self._is_empty = False
            if is_over:
                self._decompressor = new()
            return True

        def _without_padding(self, is_over: bool) -> bytes:
            if is_over and is_padded:
                self._packed = self._packed.lstrip(b"\0")
            return self._packed

    return io.BufferedReader(Streams(), _BLOCK)


_PACKED_BLOCK = 1 << 18
_BLOCK = 1 << 20
_FRAME_PART, _FRAME_PIECE = 1 << 16, 1 << 18


def decompressed_pieces(path: str, fd: int) -> Iterator[bytes]:
    """The plain bytes of a compressed file that is open, from its beginning."""
    from goodgain.io.limits import counted

    match compression_of(path):
        case "gzip":
            return counted(_gzip_pieces(fd), path)
        case "zstd":
            return counted(_zstd_pieces(fd), path)
    return counted(_pieces(path, fd), path)


def _pieces(path: str, fd: int) -> Iterator[bytes]:
    with _decompressed(path, FileAtOwnPlace(fd)) as stream:  # type: ignore[arg-type]
        while piece := stream.read(_BLOCK):
            yield piece


def _gzip_pieces(fd: int) -> Iterator[bytes]:
    """The members of a gzip file in turn; several times as fast as `gzip.open`."""
    decompressor = _inflate()
    place, packed = 0, b""
    while True:
        if not packed:
            packed = read_at(fd, _PACKED_BLOCK, place)
            place += len(packed)
            if not packed:
                if decompressor.eof or place == 0:
                    return
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        if decompressor.eof:  # zeros may follow a member, or another one
            packed = packed.lstrip(b"\0")
            if not packed:
                continue
            decompressor = _inflate()
        if piece := decompressor.decompress(packed, _BLOCK):
            yield piece
        packed = decompressor.unused_data if decompressor.eof else decompressor.unconsumed_tail


def _zstd_pieces(fd: int) -> Iterator[bytes]:
    """The frames of a Zstandard file in turn, in pieces that stay in the cache of a core."""
    new = _zstd().ZstdDecompressor
    decompressor, place, packed = new(), 0, b""
    while True:
        if not packed and decompressor.needs_input | decompressor.eof:
            packed = read_at(fd, _FRAME_PART, place)
            place += len(packed)
            if not packed:
                if decompressor.eof:
                    return
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        if decompressor.eof:
            decompressor = new()
        if piece := decompressor.decompress(packed, _FRAME_PIECE):
            yield piece
        packed = decompressor.unused_data if decompressor.eof else b""


def _inflate() -> Any:
    """A decompressor of gzip members."""
    return _zlib().decompressobj(31)


def _zlib() -> Any:
    """ISA-L where it is installed, which takes half the time."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib

        return zlib
    return isal_zlib


def gzip_page(data: bytes, size: int) -> bytes:
    """The first gzip member of some bytes, at most one byte more than `size`; nothing if it is damaged."""
    try:
        return _inflate().decompress(data, size + 1)  # type: ignore[no-any-return]
    except _zlib().error:
        return b""


def zstd_page(data: bytes, size: int) -> bytes:
    """The same of the first Zstandard frame."""
    zstd = _zstd()
    try:
        return zstd.ZstdDecompressor().decompress(data, size + 1)  # type: ignore[no-any-return]
    except zstd.ZstdError:
        return b""


def compress(path: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of a file of this name: compressed if its suffix says so."""
    compressor = _compressor(path)
    if compressor is None:
        yield from chunks
        return
    for chunk in chunks:
        yield compressor.compress(chunk)
    yield compressor.flush()


def zstandard_pieces(data: bytes) -> Iterator[bytes]:
    """The content of Zstandard data; a ValueError if it is damaged."""
    import io

    zstd = _zstd()
    try:
        with zstd.open(io.BytesIO(data)) as stream:
            while piece := stream.read(_BLOCK):
                yield piece
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
