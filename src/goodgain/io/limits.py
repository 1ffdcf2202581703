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
    from collections.abc import Callable, Iterator
    from typing import IO, Any

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
    if (most := _most_bytes()) is not None:
        _require_bytes(size, most, where)


def counted(pieces: Iterator[bytes], where: str) -> Iterator[bytes]:
    """Pieces of an input, which end with an error at the limit; also where other threads take them."""
    most = _most_bytes()
    return pieces if most is None else _counted(pieces, most, where)


def _counted(pieces: Iterator[bytes], most: int, where: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        _require_bytes(size, most, where)
        yield piece


def _most_bytes() -> int | None:
    limits = _current.get()
    return None if limits is None or limits.bytes is None else int(limits.bytes)


def _require_bytes(size: int, most: int, where: str) -> None:
    if size > most:
        raise LimitError(
            f"the input has more than {most:,} bytes",
            where=where,
            hint="the limit is on decompressed bytes",
        )


def check_rows(rows: int, where: str) -> None:
    """Refuse a table of more rows than are allowed."""
    limits = _current.get()
    if limits and limits.rows is not None and rows > int(limits.rows):
        raise LimitError(f"the table has {rows:,} rows, the limit is {int(limits.rows):,}", where=where,
                         hint="raise the limit on rows, or divide the table")  # fmt: skip


def check_nesting(data: bytes, where: str) -> None:
    """Refuse JSON that is nested more deeply than allowed, before it is parsed."""
    limits = _current.get()
    if not limits or limits.nesting is None:
        return
    import re

    most, depth = int(limits.nesting), 0
    for match in re.finditer(rb'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', data, re.DOTALL):
        mark = match[0]
        if mark in (b"[", b"{"):
            depth += 1
            if depth > most:
                raise LimitError(f"the JSON is nested more than {most:,} levels deep", where=where,
                                 hint="the limit is on nesting")  # fmt: skip
        elif mark in (b"]", b"}"):
            depth -= 1


def limited(stream: IO[bytes], where: str) -> IO[bytes]:
    """A stream that ends with an error once it is longer than the limit."""
    allowed = _most_bytes()
    if allowed is None:
        return stream
    most = allowed
    import io

    class Counted(io.RawIOBase):
        size = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            block = stream.read(len(buffer))
            self.size += len(block)
            _require_bytes(self.size, most, where)
            buffer[: len(block)] = block
            return len(block)

        def close(self) -> None:
            stream.close()
            super().close()

    return io.BufferedReader(Counted(), 1 << 20)


def _start_timer(seconds: float) -> Callable[[], None]:
    """Raise an error in the main thread after some time; native loops notice it, too."""
    import signal
    import threading

    if not hasattr(signal, "setitimer"):
        raise UsageError("limits on seconds need a system with timers", hint="leave them out")
    if threading.current_thread() is not threading.main_thread():
        raise UsageError(
            "limits on seconds work in the main thread only",
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
            "limits on memory need a system with them", hint="leave them out"
        ) from None
    before = resource.getrlimit(resource.RLIMIT_AS)
    hard = before[1]
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
    return lambda: resource.setrlimit(resource.RLIMIT_AS, before)
