"""Files as the core wants them: an open descriptor to plain text, and how its lines are read."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from goodgain.errors import InputError, MissingExtraError
from goodgain.io.columns import TableKind, find_columns, looks_like_header

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "lzma"}
_BLOCK = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors put it before UTF-8 text


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of lines: `fd` belongs to whoever reads it, `format` is the core's."""

    fd: int
    name: str
    format: dict[str, Any]


def open_lines(path: str, table: TableKind, columns: Mapping[str, str] | None) -> TextFile:
    """Open a text file (`-` for standard input), decompressed, and find out how to read it."""
    fd = plain_descriptor(path)
    try:
        head = os.pread(fd, 1 << 16, 0)
        return TextFile(fd, shown_name(path), _line_format(path, head, table, columns))
    except BaseException:
        os.close(fd)
        raise


def read_head(path: str) -> str:
    """The first lines of a file."""
    with open_decompressed(path) as stream:
        return stream.read(1 << 16).decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def shown_name(path: str) -> str:
    """The name that messages use."""
    return "<stdin>" if path == "-" else path


def kind_of(path: str) -> str:
    """What the ending says: json, parquet, arrow, or lines."""
    suffix = plain_suffix(path)
    return {".json": "json", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow",
            ".ipc": "arrow"}.get(suffix, "lines")  # fmt: skip


def plain_suffix(path: str) -> str:
    """The ending that tells the format: `.csv` of `run.csv.gz`."""
    p = Path(path)
    return (Path(p.stem) if p.suffix.lower() in COMPRESSED else p).suffix.lower()


def plain_descriptor(path: str) -> int:
    """A descriptor of the file's plain bytes.

    Compressed files and standard input go through an unnamed temporary file: they can then be read
    in parallel and more than once, and the memory needed stays small.
    """
    if path == "-":
        return _spooled(sys.stdin.buffer, "<stdin>")
    compression = COMPRESSED.get(Path(path).suffix.lower())
    try:
        if Path(path).is_dir():
            raise InputError(f"'{path}' is a directory, not a file")
        if compression is None:
            return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        with open_decompressed(path) as stream:
            return _spooled(stream, path)
    except FileNotFoundError:
        raise InputError(
            f"there is no file '{path}'", hint="check the spelling and the folder"
        ) from None
    except PermissionError:
        raise InputError(f"the file '{path}' may not be read") from None


def open_decompressed(path: str) -> IO[bytes]:
    """A stream of the file's plain bytes."""
    match COMPRESSED.get(Path(path).suffix.lower()):
        case "gzip":
            import gzip

            return cast("IO[bytes]", gzip.open(path))
        case "bz2":
            import bz2

            return bz2.open(path)
        case "lzma":
            import lzma

            return lzma.open(path)
        case "zstd":
            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
            return cast("IO[bytes]", zstd.open(path))
    return Path(path).open("rb")


def _spooled(stream: IO[bytes], name: str) -> int:
    import tempfile

    with tempfile.TemporaryFile(prefix="goodgain-") as file:
        try:
            while block := stream.read(_BLOCK):
                file.write(block)
        except (EOFError, OSError, ValueError) as error:
            raise InputError(
                f"the file cannot be decompressed: {error}",
                where=name,
                hint="it is damaged or was cut short; is the download complete?",
            ) from None
        except Exception as error:
            if type(error).__name__ not in ("LZMAError", "ZstdError"):
                raise
            raise InputError(
                f"the file cannot be decompressed: {error}",
                where=name,
                hint="it is damaged, cut short, or not what its ending says",
            ) from None
        file.flush()
        return os.dup(file.fileno())


def _line_format(
    path: str, head: bytes, table: TableKind, columns: Mapping[str, str] | None
) -> dict[str, Any]:
    where = shown_name(path)
    suffix = plain_suffix(path)
    mark = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
    first = head[mark:].split(b"\n", 1)[0]
    if suffix in (".jsonl", ".ndjson") or ((suffix == "" or path == "-") and first[:1] == b"{"):
        return {"skip": mark, **_json_format(first, table, where, columns)}
    text = first.decode("utf-8", "replace").rstrip("\r")
    for delimiter in () if b"\0" in head else (",", "\t"):  # binary: the core says so
        names = _fields(text, delimiter)
        wanted = suffix == (".csv" if delimiter == "," else ".tsv")
        if (wanted and (delimiter == "," or columns)) or looks_like_header(names, table):
            if not first:
                raise InputError("the file is empty", where=where)
            found = find_columns(names, table, f"{where}:1", columns)
            return {
                "kind": "delimited",
                "delimiter": delimiter,
                "quotes": delimiter == ",",
                "columns": len(names),
                "skip": mark + len(first) + 1,
                **{role: names.index(name) for role, name in found.items()},
            }
    return {"kind": "trec", "skip": mark}


def _fields(line: str, delimiter: str) -> list[str]:
    import csv

    if delimiter == "\t":
        return line.split("\t")
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def _json_format(
    first: bytes, table: TableKind, where: str, columns: Mapping[str, str] | None
) -> dict[str, Any]:
    import json

    try:
        row = json.loads(first)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        if not first.strip():
            raise InputError("the file is empty or begins with an empty line", where=f"{where}:1")
        raise InputError(
            "the first line is not a JSON object",
            where=f"{where}:1",
            hint='one object a line, for example {"query": "q1", "doc": "d1", '
            + ('"score": 1.5}' if table == "run" else '"gain": 2}'),
        )
    found = find_columns(list(row), table, f"{where}:1", columns)
    return {"kind": "json", **{str(role): name for role, name in found.items()}}


def read_json(path: str) -> Any:
    """The whole of a JSON file."""
    import json

    fd = plain_descriptor(path)
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        try:
            return json.load(file)
        except UnicodeDecodeError:
            raise InputError("the file is not UTF-8 text", where=path) from None
        except ValueError as error:
            line = getattr(error, "lineno", 1)
            reason = getattr(error, "msg", str(error))
            raise InputError(
                f"the file is not valid JSON: {reason}", where=f"{path}:{line}"
            ) from None


def open_arrow(path: str) -> Any:
    """A Parquet or Arrow file as an object that streams Arrow data."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", "arrow", f"reading the file '{path}'"
        ) from None
    if not Path(path).exists():
        raise InputError(f"there is no file '{path}'", hint="check the spelling and the folder")
    try:
        if kind_of(path) == "parquet":
            import pyarrow.parquet as pq

            return pq.read_table(path)
        import pyarrow.ipc as ipc

        fd = plain_descriptor(path)
        with os.fdopen(fd, "rb") as file:
            file.seek(0)
            data = pa.py_buffer(file.read())
        try:
            return ipc.open_file(data).read_all()
        except pa.ArrowInvalid:
            return ipc.open_stream(data).read_all()
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"the file is no {kind_of(path).capitalize()} data that can be read",
            where=path,
            hint=str(error).splitlines()[0].split(". ")[0],
        ) from None
