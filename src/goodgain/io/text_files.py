"""Text in folders, globs and object stores: the files of a table as one, read as if it lay on this disk."""

from __future__ import annotations

import io

from goodgain.errors import InputError
from goodgain.io.columns import are_places
from goodgain.io.compression import open_decompressed
from goodgain.io.files import decompressed, spool
from goodgain.io.line_formats import BYTE_ORDER_MARK, first_fields
from goodgain.io.locations import File, files_of, open_file, store_errors
from goodgain.io.naming import format_of, is_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO, Any


def joined_files(
    path: str, columns: Mapping[str, str] | None = None
) -> tuple[int, str | None, tuple[tuple[int, str], ...]]:
    """A descriptor of all lines, their format, and the first line and the name of each file.

    A header that every file repeats comes once; columns that are chosen by place say that there is none.
    """
    files = _text_files(path)
    form = format_of(files[0].name)
    if len(files) == 1:
        with store_errors(files[0].name), _opened(files[0].name) as stream:
            return spool(stream), form, ()
    lines = _Lines(form, columns)
    streams: list[Any] = [_Joined(lines, file) for file in files]
    try:
        with store_errors(path):
            return spool(*streams), form, lines.starts()
    finally:
        for each in streams:
            each.close()


def first_bytes(path: str, size: int) -> bytes:
    """The beginning of the first file that is not empty."""
    head = b""
    for file in _text_files(path):
        with store_errors(file.name), open_file(file.name) as stream:
            head = decompressed(stream, file.name, size)
        if head.removeprefix(BYTE_ORDER_MARK).strip():
            break
    return head


def _text_files(path: str) -> tuple[File, ...]:
    files = files_of(path).files
    forms = {format_of(file.name) for file in files}
    if len(forms) > 1:
        raise InputError(
            f"the files of '{path}' are of different formats, such as '{files[0].name}' and "
            f"'{next(f.name for f in files if format_of(f.name) != format_of(files[0].name))}'",
            hint="name those of one format with a glob",
        )
    if forms & {"parquet", "arrow", "orc"}:
        raise InputError(f"'{path}' is a directory, not a file", hint="its files are not text")
    return files


def _opened(name: str) -> IO[bytes]:
    return open_decompressed(name, open_file(name) if is_url(name) else None)


class _Lines:
    """Files one after another, each ending with a line feed, and where each begins."""

    def __init__(self, form: str | None, columns: Mapping[str, str] | None) -> None:
        self._form, self._columns = form, columns
        self._has_header = form in ("csv", "tsv")
        self._header: bytes | None = None  # of the first file that has one
        self._line = 1
        self._starts: list[tuple[int, str]] = []

    def starts(self) -> tuple[tuple[int, str], ...]:
        return tuple(self._starts)

    def begin(self, file: File, stream: Any) -> bytes:
        """Leave the header of a file behind; returns what comes before: the header of the first one."""
        if not self._has_header:
            if self._starts and stream.peek(3)[:3] == BYTE_ORDER_MARK:
                stream.read(3)
            self._starts.append((self._line, file.name))
            return b""
        header: bytes = stream.readline()
        plain = header.removeprefix(BYTE_ORDER_MARK).rstrip(b"\r\n")
        if not plain:  # a part without rows
            return b""
        if self._header is None:
            self._header = plain
            self._starts.append((self._line, file.name))
            fields = first_fields(header, self._form)
            self._has_header = not are_places(self._columns, fields, f"{file.name}:1")
            return header if header.endswith(b"\n") else header + b"\n"
        if plain != self._header:
            raise InputError(
                f"the header {plain.decode(errors='replace')!r:.80} is not that of the first file, "
                f"{self._header.decode(errors='replace')!r:.80}",
                where=f"{file.name}:1",
                hint="the files of a table have the same columns in the same order",
            )
        self._starts.append((self._line - 1, file.name))  # its second line is the next one
        return b""

    def passed(self, lines: int) -> None:
        self._line += lines


class _Joined(io.RawIOBase):
    """One file of several, opened when its turn comes."""

    def __init__(self, lines: _Lines, file: File) -> None:
        super().__init__()
        self._lines, self._file = lines, file
        self._stream: Any = None
        self._waiting = b""
        self._ended = True

    def read(self, size: int = -1) -> bytes:
        if self._stream is None:
            self._stream = io.BufferedReader(_opened(self._file.name), 1 << 20)
            self._waiting = self._lines.begin(self._file, self._stream)
        block = self._waiting or self._stream.read(size)
        self._waiting = b""
        if block:
            self._ended = block.endswith(b"\n")
        elif not self._ended:
            block, self._ended = b"\n", True
        self._lines.passed(block.count(b"\n"))
        return block

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        super().close()
