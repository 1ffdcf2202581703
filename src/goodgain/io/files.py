"""Files as the core reads them: an open descriptor of plain text, and the format of its lines."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager
from functools import cache, partial

from goodgain.errors import InputError, file_not_found, out_of_memory
from goodgain.io.compression import decompressed_pieces, open_decompressed
from goodgain.io.descriptors import READ_FLAGS, read_at
from goodgain.io.limits import (
    check_bytes,
    check_depth,
    check_lines,
    check_nesting,
    check_rows,
    counted_lines,
    limits_rows,
    shallow,
)
from goodgain.io.line_formats import BYTE_ORDER_MARK, HEAD, line_format
from goodgain.io.naming import (
    STDIN,
    compression_of,
    display_name,
    format_of,
    is_place,
)
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import IO, Any

    from goodgain._core import Prepared, Scores
    from goodgain.io.columns import TableKind

_BLOCK = 1 << 20
_LONGEST_FIRST_LINE = 1 << 26
_CODEC_ERRORS = ("LZMAError", "ZstdError", "error", "IsalError")  # of lzma, zstd, zlib and isal


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of lines: `fd` belongs to whoever reads it, `format` is the core's."""

    fd: int
    name: str
    format: dict[str, Any]
    by_rank: bool = False  # a run without scores
    run: str | int | None = None  # the column that names the run of a line
    starts: tuple[tuple[int, str], ...] = ()  # of several files: the first line of each
    packed: str | None = None  # the path of a compressed file, whose bytes `fd` has

    def scores(self, prepared: Prepared, only: str | None) -> Scores:
        """The core's scores of the run, or of one of several runs; closes the file."""
        form = self.of_run(only)
        if self.packed is None:
            with self.places():
                return prepared.file(self.fd, self.name, form)
        from contextvars import copy_context

        path, fd = self.packed, self.fd
        context = copy_context()  # of the limits: the core may read in another thread
        try:
            before = os.fstat(fd)
            pieces = partial(context.run, _limited_pieces, path, fd, self.format)
            scores = prepared.stream(pieces, before.st_size, self.name, form)
            after = os.fstat(fd)
        finally:
            os.close(fd)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise InputError(
                "the file changed while it was being read",
                where=self.name,
                hint="read it again once it is complete",
            )
        return scores

    def of_run(self, only: str | None) -> dict[str, Any]:
        """The format for the lines of one run, or of all if there is no other."""
        return self.format if only is None else {**self.format, "run": self.run, "only": only}

    @contextmanager
    def places(self) -> Iterator[None]:
        """Turn a line of all files together into a line of one of them."""
        from goodgain._core import CoreError

        try:
            yield
        except CoreError as error:
            kind, message, where, hint = error.args
            file, _, line = where.rpartition(":")
            if file != self.name or not self.starts or not line.isdecimal():
                raise
            first, name = max(start for start in self.starts if start[0] <= int(line))
            raise CoreError(kind, message, f"{name}:{int(line) - first + 1}", hint) from None


def open_run(path: str, columns: Mapping[str, str] | None) -> TextFile:
    """Open a run for its scores: a compressed file is decompressed while it is measured."""
    if is_stream(path) or is_place(path) or compression_of(path) is None:
        return open_lines(path, "run", columns)
    with read_errors(path):
        fd = os.open(path, READ_FLAGS)
    try:
        head = b""
        for piece in _pieces(path, fd):
            head += piece
            if len(head) >= HEAD:
                break
        lines, run = line_format(path, head[:HEAD], "run", columns, format_of(path))
        by_rank = lines.pop("by_rank", False)
        return TextFile(fd, display_name(path), lines, by_rank=by_rank, run=run, packed=path)
    except BaseException:
        os.close(fd)
        raise


def _pieces(path: str, fd: int) -> Iterator[bytes]:
    return _with_errors(decompressed_pieces(path, fd), path)


def _limited_pieces(path: str, fd: int, form: dict[str, Any]) -> Iterator[bytes]:
    """The same, up to the limits on rows and nesting."""
    skip, quotes = form.get("skip", 0), form.get("quotes", False)
    pieces = counted_lines(_pieces(path, fd), display_name(path), skip=skip, quotes=quotes)
    return shallow(pieces, display_name(path)) if form["kind"] == "json" else pieces


def _with_errors(pieces: Iterator[bytes], path: str) -> Iterator[bytes]:
    with read_errors(path):
        yield from pieces


def open_lines(path: str, table: TableKind, columns: Mapping[str, str] | None) -> TextFile:
    """Open a text file (`-` for standard input), decompressed, and detect the format of its lines."""
    form = format_of(path)
    starts: tuple[tuple[int, str], ...] = ()
    if is_place(path):
        from goodgain.io.text_files import joined_files

        fd, form, starts = joined_files(path, columns)
    else:
        if limits_rows() and compression_of(path) is not None and not is_stream(path):
            _check_packed_lines(path, table, columns)
        fd = plain_descriptor(path)
    try:
        head = _first_bytes(fd)
        lines, run = line_format(path, head, table, columns, form)
        by_rank = lines.pop("by_rank", False)
        name, skip = display_name(path), lines.get("skip", 0)
        check_lines(fd, name, skip=skip, quotes=lines.get("quotes", False))
        return TextFile(fd, name, lines, by_rank=by_rank, run=run, starts=starts)
    except BaseException:
        os.close(fd)
        raise


def _check_packed_lines(path: str, table: TableKind, columns: Mapping[str, str] | None) -> None:
    """Count the rows of a compressed file before a plain copy of it is made."""
    head = read_head(path).encode("utf-8", "surrogateescape")
    lines, _ = line_format(path, head, table, columns, format_of(path))
    with read_errors(path):
        fd = os.open(path, READ_FLAGS)
        try:
            for _ in _limited_pieces(path, fd, lines):
                pass
        finally:
            os.close(fd)


def has_runs(path: str, columns: Mapping[str, str] | None) -> bool:
    """Whether a column of a run names the run of each line, by the first of them."""
    from goodgain.io.span_tables import format_at

    form = format_at(path)
    head = read_head(path).encode("utf-8", "surrogateescape")
    return line_format(path, head, "run", columns, form)[1] is not None


def read_head(path: str) -> str:
    """The first lines of a file."""
    if is_stream(path):
        fd = plain_descriptor(path)
        try:
            head = _first_bytes(fd)
        finally:
            os.close(fd)
        return head.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    if is_place(path):
        from goodgain.io.text_files import first_bytes

        return first_bytes(path, HEAD).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    with read_errors(path), open_decompressed(path) as stream:
        head = _with_first_line(stream.read)
    return head.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _first_bytes(fd: int) -> bytes:
    """The first bytes of an open file."""
    offset = 0

    def read(size: int) -> bytes:
        nonlocal offset
        block = read_at(fd, size, offset)
        offset += len(block)
        return block

    return _with_first_line(read)


def _with_first_line(read: Callable[[int], bytes]) -> bytes:
    """The first 64 KiB, and more if a header or a JSON object is longer than that."""
    head = read(HEAD)
    while (
        head and b"\n" not in head and len(head) < _LONGEST_FIRST_LINE and (more := read(len(head)))
    ):
        head += more
    return head


def is_text(path: str) -> bool:
    """Whether a file is read line by line: not JSON, Parquet or Arrow by its suffix."""
    if path == STDIN:
        return True
    from goodgain.io.span_tables import format_at

    return format_at(path) not in ("json", "parquet", "arrow")


def plain_descriptor(path: str) -> int:
    """A descriptor of the file's plain bytes.

    Compressed files, standard input and pipes go through an unnamed temporary file: they can then be read
    in parallel and more than once, and the memory needed stays small.
    """
    fd = _descriptor(path)
    try:
        check_depth(fd, display_name(path))
    except BaseException:
        os.close(fd)
        raise
    return fd


def _descriptor(path: str) -> int:
    with read_errors(path):
        if is_stream(path):
            return _stream_descriptor(path)
        if is_place(path):
            from goodgain.io.text_files import joined_files

            return joined_files(path)[0]
        if compression_of(path) is None:
            fd = os.open(path, READ_FLAGS)
            try:
                check_bytes(os.fstat(fd).st_size, path)
                read_at(fd, 1, 0)  # what opens and cannot be read is refused here, not in the core
            except BaseException:
                os.close(fd)
                raise
            return fd
        with open_decompressed(path) as stream:
            return spool(stream)


def decompressed(data: bytes | IO[bytes], path: str, size: int = -1) -> bytes:
    """The plain bytes of a file that is open or in memory, or the first `size` of them."""
    import io

    source = io.BytesIO(data) if isinstance(data, bytes) else data
    with read_errors(path):
        return open_decompressed(path, source).read(size)


@contextmanager
def read_errors(path: str) -> Iterator[None]:
    """Turn what opening and decompressing a file may raise into an error that names the file."""
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise out_of_memory() from None
    except Exception as error:
        is_system = isinstance(error, OSError) and error.errno is not None
        if isinstance(error, OSError) and (is_system or isinstance(error, IsADirectoryError)):
            raise os_error(error, path) from None
        damaged = isinstance(error, EOFError | OSError | ValueError)
        if not damaged and type(error).__name__ not in _CODEC_ERRORS:
            raise
        raise InputError(
            f"cannot decompress the file: {error}",
            where=display_name(path),
            hint="it is damaged, incomplete, or not in the format of its suffix",
        ) from None


def os_error(error: OSError, path: str) -> InputError:
    """The error for a file that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return file_not_found(path)
    if isinstance(error, IsADirectoryError):
        return InputError(f"'{path}' is a directory, not a file", hint="name a file in it")
    if isinstance(error, PermissionError):
        return InputError(f"permission denied: '{path}'", hint="check who may read the file")
    return InputError(
        f"cannot read '{path}': {error.strerror or error}", hint="check the path and what is there"
    )


def is_stream(path: str) -> bool:
    """Whether it can be read only once: standard input, or a pipe such as /dev/fd/63."""
    if path == STDIN:
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


_streams: dict[str, tuple[Any, int]] = {}  # what a path stood for, and a descriptor of its bytes


def _stream_descriptor(path: str) -> int:
    """A descriptor of what the stream held: the format, and then the rows, are read from the same bytes."""
    stands_for = sys.stdin if path == STDIN else os.stat(path).st_ino
    before = _streams.get(path)
    if before is None or before[0] != stands_for:
        if before is not None:
            os.close(before[1])
        if path == STDIN:
            spooled = spool(sys.stdin.buffer)
        else:
            with open(path, "rb") as stream:
                spooled = spool(stream)
        _streams[path] = stands_for, spooled
    return os.dup(_streams[path][1])


def spool(*streams: IO[bytes]) -> int:
    """A descriptor of an unnamed temporary file with the bytes of all streams."""
    import tempfile

    with temporary_errors(), tempfile.TemporaryFile(prefix="goodgain-", buffering=0) as file:
        size = 0
        for stream in streams:
            while block := stream.read(_BLOCK):
                size += len(block)
                check_bytes(size, "the temporary copy of an input")
                while block:
                    block = block[file.write(block) :]
        return os.dup(file.fileno())


_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def temporary_errors() -> Iterator[None]:
    """Name the temporary folder if it is full: what is being read is not damaged."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) and "temporary directory" in str(error):
            raise InputError(
                "there is no temporary folder that can be written to",
                hint="set TMPDIR to a folder with space",
            ) from None
        if error.errno not in _NO_SPACE:
            raise
        from tempfile import gettempdir

        raise InputError(
            f"no space left in the temporary folder '{gettempdir()}': {error.strerror}",
            hint="set TMPDIR to a folder with more space",
        ) from None


def query_rows(path: str, columns: Mapping[str, str] | None) -> list[Any] | None:
    """The objects of a file of JSON lines if they hold the results of a query each, by the first line."""
    from goodgain.io.result_lists import is_query_row
    from goodgain.io.span_tables import format_at

    if format_at(path) not in ("jsonl", "json", None):
        return None

    head = read_head(path)
    if not head.lstrip().startswith("{"):
        return None
    import json

    try:
        first, _ = json.JSONDecoder().raw_decode(head.lstrip())
        if not is_query_row(first, columns):
            return None
    except (ValueError, RecursionError):  # a long line, or none of JSON
        if "[" not in head or "\n" in head:
            return None
    rows, results, name = [], 0, display_name(path)
    with os.fdopen(plain_descriptor(path), "rb") as file:
        file.seek(0)
        for number, line in enumerate(file, 1):
            if line.strip():
                row = parse_json(line, f"{name}:{number}", unique=True)
                rows.append(row)
                lists = row.values() if isinstance(row, dict) else ()
                results += max((len(v) for v in lists if isinstance(v, list)), default=0)
                check_rows(results, name)
    return rows if rows and is_query_row(rows[0], columns) else None


def read_json(path: str) -> Any:
    """The content of a JSON file."""
    with os.fdopen(plain_descriptor(path), "rb") as file:
        file.seek(0)
        return parse_json(file.read(), path, unique=True)


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of two members of one name the first would be lost."""
    value = dict(members)
    if len(value) < len(members):
        names: set[str] = set()
        twice = next(name for name, _ in members if name in names or names.add(name))  # type: ignore[func-returns-value]
        raise InputError(
            f"duplicate key '{twice:.80}' in a JSON object",
            hint="a name must occur once: of two values, one would be lost",
        )
    return value


@cache
def strict_decoder() -> Any:
    """A decoder of JSON that refuses repeated names."""
    import json

    return json.JSONDecoder(object_pairs_hook=_unique)


def parse_row(line: str, where: str) -> Any:
    """The JSON value of one line, or None if it is no JSON; a repeated name is an error."""
    try:
        return strict_decoder().decode(line.removeprefix("\ufeff"))
    except InputError as error:
        raise InputError(error.message, where=where, hint=error.hint) from None
    except (RecursionError, ValueError):
        return None


def parse_json(data: bytes, where: str, *, unique: bool = False) -> Any:
    """The content of a JSON text; a syntax error names its line. `unique` refuses repeated names."""
    import json

    try:
        check_nesting(data, where)
        text = data.removeprefix(BYTE_ORDER_MARK)
        return json.loads(text, object_pairs_hook=_unique if unique else None)
    except InputError as error:
        raise type(error)(error.message, where=where, hint=error.hint) from None
    except UnicodeDecodeError:
        raise InputError(
            "the file is not UTF-8 text", where=where, hint="save it as UTF-8; is it a text file?"
        ) from None
    except (RecursionError, ValueError) as error:
        raise invalid_json(error, where) from None


def invalid_json(error: RecursionError | ValueError, where: str) -> InputError:
    """What a parser raised, as an error of the input."""
    if isinstance(error, RecursionError):
        hint = "goodgain reads a few levels only"
        return InputError("the JSON is nested too deeply", where=where, hint=hint)
    line = getattr(error, "lineno", 1)
    reason = getattr(error, "msg", str(error))
    if reason.startswith("Exceeds the limit"):
        reason = "a number has too many digits"
    return InputError(
        f"invalid JSON: {reason}", where=f"{where}:{line}", hint="is the file complete, and JSON?"
    )


def open_arrow(path: str) -> Any:
    """Parquet or Arrow files as an object that streams Arrow data."""
    from goodgain.io.locations import files_of
    from goodgain.io.parquet import open_files

    files = files_of(path)
    if files.lake is not None and files.lake.reason:
        from goodgain.io.lake_rows import LakeRows

        return LakeRows(files)
    return open_files(files)


def is_store(path: str) -> bool:
    """Whether this is a label store: a SQLite file or a URL, after which `#` may choose some labels."""
    if path.startswith(("postgresql://", "postgres://")) or is_sqlite(path):
        return True
    return "#" in path and not os.path.exists(path) and is_sqlite(path.partition("#")[0])


def is_sqlite(path: str) -> bool:
    """Whether a file is a SQLite database, such as a label store, by its first bytes."""
    if is_stream(path):
        return False  # a database cannot come through a pipe, and looking would consume it
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False
