"""Limits for reading files of strangers, as evaluation servers do.

    with gg.Limits(bytes="2GB", rows=10_000_000, nesting=100, seconds=60):
        gg.evaluate("qrels.txt", "submitted.txt.gz")

Limits hold in the thread that set them and in what it calls. `seconds` and `memory` are of the whole process:
time works where the system has timers (not on Windows), memory where it has resource limits (Linux).
"""

from __future__ import annotations

from contextvars import ContextVar

from goodgain.cores import parse_size
from goodgain.errors import InputError, UsageError
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import IO, Any, TypeVar

    T = TypeVar("T")

_FIELDS = ("bytes", "rows", "nesting", "seconds", "memory")
_HINT = "for example bytes=2GB,rows=1000000,nesting=100,seconds=60,memory=4GB"


class LimitError(InputError):
    """An input that is larger, deeper or slower than a limit allows."""


@dataclass(frozen=True)
class Limits:
    """What one input may cost: None is no limit.

    `bytes` of an input after decompression, `rows` of a table, `nesting` of JSON, `seconds` for everything
    inside the block, and `memory` of the process in bytes.

    >>> import goodgain as gg
    >>> run = {"q1": {f"d{n}": 1 / n for n in range(1, 101)}}
    >>> gg.convert(run, "large.run", to="trec").rows
    100
    >>> try:
    ...     with gg.Limits(bytes=1000, seconds=60):
    ...         gg.evaluate({"q1": {"d1": 1}}, "large.run", "RR")
    ... except gg.GoodgainError as error:
    ...     print(error)
    ...
    the input has more than 1,000 bytes (large.run)
    hint: the limit is on decompressed bytes
    """

    bytes: int | str | None = None
    rows: int | str | None = None
    nesting: int | str | None = None
    seconds: float | str | None = None
    memory: int | str | None = None

    def __post_init__(self) -> None:
        for name in _FIELDS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _number(name, value))

    @classmethod
    def parse(cls, text: str) -> Limits:
        """`bytes=2GB,seconds=60`, as `--limits` takes it."""
        values: dict[str, Any] = {}
        for item in text.split(","):
            name, equals, value = item.strip().partition("=")
            if not equals or name not in _FIELDS:
                raise UsageError(f"invalid limit '{item.strip()}'", hint=_HINT)
            if name in values:
                raise UsageError(f"the limit '{name}' is set twice", hint=_HINT)
            values[name] = value
        return cls(**values)

    def __enter__(self) -> Limits:
        undo: list[Callable[[], None]] = []
        token = _current.set(self)
        undo.append(lambda: _current.reset(token))
        if self.seconds is not None:
            undo.append(_start_timer(float(self.seconds)))
        if self.memory is not None:
            undo.append(_limit_memory(int(self.memory)))
        _undo.set((*_undo.get(), undo))
        return self

    def __exit__(self, *_: object) -> None:
        *before, undo = _undo.get()
        _undo.set(tuple(before))
        for step in reversed(undo):
            step()


_current: ContextVar[Limits | None] = ContextVar("goodgain_limits", default=None)
current_limits = _current.get
_undo: ContextVar[tuple[list[Callable[[], None]], ...]] = ContextVar("goodgain_undo", default=())


def _number(name: str, value: Any) -> float | int:
    """A positive number; all but seconds may have a unit."""
    number = parse_size(value)
    has_unit = name == "seconds" and str(value).strip()[-1:].isalpha()
    if number is None or has_unit or (name != "seconds" and number < 1):
        raise UsageError(f"invalid limit {name}='{value}': must be a positive number", hint=_HINT)
    return number if name == "seconds" else int(number)


def check_bytes(size: int, where: str) -> None:
    """Refuse an input of more bytes than are allowed."""
    if (most := _most("bytes")) is not None:
        _require_bytes(size, most, where)


def byte_counter(where: str) -> Callable[[int], None] | None:
    """Called with the size of each piece of an input, it raises at the limit; None if there is none."""
    most = _most("bytes")
    if most is None:
        return None
    size = 0

    def count(more: int) -> None:
        nonlocal size
        size += more
        _require_bytes(size, most, where)

    return count


def counted(pieces: Iterator[bytes], where: str) -> Iterator[bytes]:
    """Pieces of an input, which end with an error at the limit; also where other threads take them."""
    count = byte_counter(where)
    return pieces if count is None else _counted(pieces, count)


def _counted(pieces: Iterator[bytes], count: Callable[[int], None]) -> Iterator[bytes]:
    for piece in pieces:
        count(len(piece))
        yield piece


def _most(name: str) -> int | None:
    value = getattr(_current.get(), name, None)
    return None if value is None else int(value)


def _require_bytes(size: int, most: int, where: str) -> None:
    if size > most:
        raise LimitError(
            f"the input has more than {most:,} bytes",
            where=where,
            hint="the limit is on decompressed bytes",
        )


def limits_rows() -> bool:
    """Whether there is a limit on rows."""
    return _most("rows") is not None


def check_rows(rows: int, where: str) -> None:
    """Refuse a table of more rows than are allowed."""
    if (most := _most("rows")) is not None:
        _require_rows(rows, most, where)


def _require_rows(rows: int, most: int, where: str) -> None:
    if rows > most:
        raise LimitError(
            f"the table has more than {most:,} rows",
            where=where,
            hint="raise the limit on rows, or divide the table",
        )


def counted_rows(rows: Iterable[T], where: str) -> Iterable[T]:
    """Rows, which end with an error at the first one too many: an endless iterator ends, too."""
    return rows if _most("rows") is None else _counted_rows(rows, where)


def _counted_rows(rows: Iterable[T], where: str) -> Iterator[T]:
    for number, row in enumerate(rows, 1):
        check_rows(number, where)
        yield row


def check_lines(fd: int, where: str, *, skip: int = 0, quotes: bool = False) -> None:
    """Refuse an open file of more lines than there may be rows, before any of them is stored."""
    most = _most("rows")
    if most is None:
        return
    lines = 1  # the last one may lack its end
    for block in blocks_of(fd, skip):
        lines += block.count(b"\n")
        if lines > most:  # some may be blank, or end in the middle of a row
            for _ in counted_lines(blocks_of(fd, skip), where, quotes=quotes):
                pass
            return


def counted_lines(
    blocks: Iterator[bytes], where: str, *, skip: int = 0, quotes: bool = False
) -> Iterator[bytes]:
    """Blocks of a text, which end with an error at the first row too many.

    The first `skip` bytes are no rows. With `quotes`, line ends inside of quotation marks end no row.
    """
    return blocks if _most("rows") is None else _counted_lines(blocks, where, skip, quotes)


def _counted_lines(blocks: Iterator[bytes], where: str, skip: int, quotes: bool) -> Iterator[bytes]:
    rows, has_text, quoted = 0, False, False
    for block in blocks:
        text = block[skip:]
        skip = max(0, skip - len(block))
        plain = not quoted and not (quotes and b'"' in text)
        if plain and text[:1].strip() and not _may_have_blank_lines(text):
            rows += text.count(b"\n")
            has_text = not text.endswith(b"\n")
        else:
            for number, line in enumerate(text.split(b"\n")):
                if number and not quoted:
                    rows, has_text = rows + has_text, False
                has_text = has_text or bool(line.strip())
                quoted ^= quotes and bool(line.count(b'"') & 1)
        check_rows(rows + has_text, where)
        yield block


def check_nesting(data: bytes, where: str) -> None:
    """Refuse JSON that is nested more deeply than allowed, before it is parsed."""
    for _ in shallow(iter((data,)), where):
        pass


def check_depth(fd: int, where: str) -> None:
    """The same for an open file that holds JSON, or JSON lines, by its first byte; others pass."""
    if _most("nesting") is None:
        return
    from goodgain.io.descriptors import read_at

    start = read_at(fd, 4096, 0).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start in (b"{", b"[", b""):
        for _ in shallow(blocks_of(fd), where):
            pass


def shallow(blocks: Iterator[bytes], where: str) -> Iterator[bytes]:
    """Blocks of JSON, which end with an error where it is nested too deeply."""
    return blocks if _most("nesting") is None else _shallow(blocks, where)


def _shallow(blocks: Iterator[bytes], where: str) -> Iterator[bytes]:
    depth = _Depth(_most("nesting") or 0, where)
    waiting: list[bytes] = []  # a line that has not ended: strings end with it at the latest
    for block in blocks:
        before, line_end, rest = block.rpartition(b"\n")
        if line_end:
            depth.add(b"".join((*waiting, before, line_end)))
            waiting = [rest]
        else:
            waiting.append(block)
        yield block
    depth.add(b"".join(waiting))


class _Depth:
    """How deep JSON is nested: a document over many lines, or one on each line."""

    def __init__(self, most: int, where: str) -> None:
        self._most, self._where = most, where
        self._depth = 0
        self._is_lines: bool | None = None  # the first line holds a whole document

    def add(self, text: bytes) -> None:
        """Look at more lines."""
        opening = text.count(b"[") + text.count(b"{")
        if self._is_lines and opening <= self._most:
            return
        for line in _without_strings(text).split(b"\n"):
            for mark in line:
                self._depth = self._depth + 1 if mark in b"[{" else max(0, self._depth - 1)
                if self._depth > self._most:
                    raise LimitError(f"the JSON is nested more than {self._most:,} levels deep",
                                     where=self._where, hint="the limit is on nesting")  # fmt: skip
            if self._is_lines is None and line:
                self._is_lines = self._depth == 0
            if self._is_lines:
                self._depth = 0  # a line that is broken does not make the next one deeper


def _without_strings(text: bytes) -> bytes:
    """The brackets and line ends of JSON."""
    import re

    strings = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*+"?')
    others = bytes(set(range(256)) - set(b"[]{}\n"))
    return strings.sub(b"", text).translate(None, others)


def _may_have_blank_lines(text: bytes) -> bool:
    """Whether a line of a text may be blank."""
    return any(mark in text for mark in (b"\n\n", b"\n\r", b"\n ", b"\n\t", b"\n\v", b"\n\f"))


def blocks_of(fd: int, start: int = 0) -> Iterator[bytes]:
    """The bytes of an open file from `start` on."""
    from goodgain.io.descriptors import read_at

    while block := read_at(fd, 1 << 20, start):
        start += len(block)
        yield block


def limited(stream: IO[bytes], where: str) -> IO[bytes]:
    """A stream that ends with an error once it is longer than the limit."""
    counter = byte_counter(where)
    if counter is None:
        return stream
    count = counter
    import io

    class Counted(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            block = stream.read(len(buffer))
            count(len(block))
            buffer[: len(block)] = block
            return len(block)

        def close(self) -> None:
            stream.close()
            super().close()

    return io.BufferedReader(Counted(), 1 << 20)


def limited_arrow(value: Any, where: str) -> Any:
    """Arrow data, read up to the limits on rows and bytes where there are any."""
    if _most("rows") is None and _most("bytes") is None:
        return value
    try:
        import pyarrow as pa
    except ImportError:  # what is stored is counted afterwards
        return value
    reader = pa.RecordBatchReader.from_stream(value)
    return pa.Table.from_batches(counted_batches(reader, where), reader.schema)


def counted_batches(batches: Iterable[Any], where: str) -> Iterator[Any]:
    """Batches of Arrow data, which end with an error at a limit."""
    limit = limits_tables()
    for batch in batches:
        if limit is not None:
            limit.add(batch, where)
        yield batch


LIMITED_ROWS = 512  # that are decoded before their size is known, where it is limited


class TableLimit:
    """The limits on rows and bytes of one reading of a table."""

    def __init__(self, rows: int | None, size: int | None) -> None:
        self._rows, self._size = rows, size
        self._read_rows = self._read_size = 0

    def add(self, table: Any, where: str) -> None:
        """Count a table or a batch of Arrow data."""
        self._read_rows += table.num_rows
        self._read_size += table.nbytes
        if self._rows is not None:
            _require_rows(self._read_rows, self._rows, where)
        if self._size is not None:
            _require_bytes(self._read_size, self._size, where)


def limits_tables() -> TableLimit | None:
    """What counts the rows and bytes of a table; None if neither is limited."""
    rows, size = _most("rows"), _most("bytes")
    return None if rows is None and size is None else TableLimit(rows, size)


def in_these_limits(function: Callable[..., T], *arguments: Any) -> Callable[[], T]:
    """A call that has the limits of here, whatever thread makes it."""
    from contextvars import copy_context
    from functools import partial

    return partial(copy_context().run, function, *arguments)


def _start_timer(seconds: float) -> Callable[[], None]:
    """Raise an error in the main thread after some time; native loops notice it, too."""
    import signal
    import threading

    if not hasattr(signal, "setitimer"):
        raise UsageError("time limits are not supported on this system", hint="leave them out")
    if threading.current_thread() is not threading.main_thread():
        raise UsageError(
            "time limits work only in the main thread",
            hint="use goodgain.ranking.sandbox instead",
        )

    def stop(_: int, __: object) -> None:
        raise LimitError(f"stopped after {seconds:g} seconds", hint="the limit is on time")

    before = signal.signal(signal.SIGALRM, stop)
    left = signal.setitimer(signal.ITIMER_REAL, seconds)[0]

    def undo() -> None:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, before)

    return undo


def _limit_memory(most: int) -> Callable[[], None]:
    """Let the system refuse memory beyond a limit, which raises MemoryError."""
    try:
        import resource
    except ImportError:
        raise UsageError(
            "memory limits are not supported on this system", hint="leave them out"
        ) from None
    before = resource.getrlimit(resource.RLIMIT_AS)
    hard = before[1]
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
    return lambda: resource.setrlimit(resource.RLIMIT_AS, before)
