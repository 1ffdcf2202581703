"""Good Gain on the executors, where each conversation is one row."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from goodgain._core import CoreError, conversation_ids
from goodgain.agentic.evidence import FUNNEL
from goodgain.agentic.runs import COUNTED
from goodgain.engines.spark.broadcasts import first_place
from goodgain.engines.spark.digests import DIGEST, digest
from goodgain.engines.spark.texts import text_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain._core import TraceScores
    from goodgain.agentic.settings import GainSettings
    from goodgain.engines.spark.broadcasts import ShippedQrels
    from goodgain.identity import Identity

KEYED = "line binary, place bigint, conversation string"
SCORED = (
    "place bigint, system string, conversation string, repeat string, iteration int, "
    "counted array<bigint>, funnel array<bigint>, evidence string, value array<double>, "
    "lower array<double>, upper array<double>, report string"
)
_SPACES = bytes.maketrans(b"\r\n", b"  ")
_BREAK = re.compile(rb"[\r\n]")
_BLANK = re.compile(rb"[ \t\n\r\v\f]*")
_BATCH = 16 << 20  # bytes of lines that are scored together; a conversation is never split
_PART = 10_000  # pieces of evidence that are Python objects at a time
_HEAD = 60  # bytes of a line that a message quotes


@dataclass(frozen=True, slots=True)
class GainJob:
    """The settings of an executor that scores conversations."""

    rules: Identity
    settings: GainSettings
    labels: ShippedQrels | None
    name: str
    call: str  # a name of its own: Spark reuses what it has cached for an equal plan


def keyed(batches: Iterator[Any]) -> Iterator[Any]:
    """Lines with their places and the ids of their conversations, to bring those together."""
    import pyarrow as pa

    place = first_place()
    for lines in _pieces(_lines(batches)):
        places = pa.array(range(place, place + len(lines)), pa.int64())
        ids = text_array(conversation_ids(lines))
        place += len(lines)
        yield pa.RecordBatch.from_arrays(
            [_binary_array(lines), places, ids], names=["line", "place", "conversation"]
        )


def _binary_array(lines: list[Any]) -> Any:
    """Lines as an Arrow array; the bytes of a single one, which may be huge, are not copied."""
    import numpy as np
    import pyarrow as pa

    ends = np.cumsum([0, *map(len, lines)]).astype(np.int32)
    content = lines[0] if len(lines) == 1 else b"".join(lines)
    return pa.Array.from_buffers(
        pa.binary(), len(lines), [None, pa.py_buffer(ends), pa.py_buffer(content)]
    )


def _lines(batches: Iterator[Any]) -> Iterator[Any]:
    """The lines that are not blank; they share the memory of their batch unless one holds a line break."""
    for batch in batches:
        for value in batch.column(0):
            line = value.as_buffer()
            if _BREAK.search(line):
                line = bytes(line).translate(_SPACES)
            if not _BLANK.fullmatch(line):
                yield line


def _pieces(lines: Iterator[Any]) -> Iterator[list[Any]]:
    """Some lines at a time; a huge one on its own, in a list that is not held here meanwhile."""
    piece: list[Any] = []
    size = 0
    for line in lines:
        if piece and max(size, len(line)) >= _BATCH:
            full, piece, size = piece, [], 0
            yield full
            del full
        piece.append(line)
        size += len(line)
        del line
    if piece:
        yield piece


def scored(batches: Iterator[Any], job: GainJob) -> Iterator[Any]:
    """A row per iteration, one with iteration 0 per conversation without a search, and a report.

    Lines come sorted by conversation; lines of one conversation are scored together.
    """
    import pyarrow as pa

    options = job.settings.for_core(skip_bad=True)
    labels, rules = job.labels.open() if job.labels else None, job.rules.core
    report: dict[str, Any] = {
        "totals": {},
        "ledgers": [],
        "examples": [],
        "bounded": False,
        "rows": 0,
    }
    total = 0
    for lines, places in _groups(batches):
        heads = [bytes(memoryview(line)[:_HEAD]) for line in lines]
        ends = list(accumulate(len(line) + 1 for line in lines))
        try:
            (scores,) = rules.score([(_text(lines), job.name)], labels, options, 1)
        except CoreError as error:  # from the labels; bad conversations are only counted
            report["error"] = error.args
            continue
        for name, count in scores.totals.items():
            report["totals"][name] = report["totals"].get(name, 0) + count
        report["bounded"] |= scores.bounded
        report["ledgers"].append([scores.calls, scores.read, scores.totals["skipped"]])
        for message, where, _ in scores.skipped_examples[: 3 - len(report["examples"])]:
            report["examples"].append(f"{message} ({_place(job.name, where, heads)})")
        rows = _rows(scores, ends, places)
        report["rows"] += len(rows)
        total += row_digest(rows)
        yield rows
    report[DIGEST] = total
    empty = [pa.nulls(1, field.type) for field in _schema() if field.name != "report"]
    yield pa.RecordBatch.from_arrays([*empty, pa.array([json.dumps(report)])], schema=_schema())


def row_digest(rows: Any) -> int:
    """The digest of the rows' places, iterations and values."""
    import numpy as np
    import pyarrow.compute as pc

    if not len(rows):
        return 0
    values = pc.list_flatten(rows.column("value")).to_numpy(zero_copy_only=False)
    places, iterations = (rows.column(name).to_numpy() for name in ("place", "iteration"))
    return digest(places, iterations.astype(np.int64), *values.reshape(len(rows), -1).T)


def _groups(batches: Iterator[Any]) -> Iterator[tuple[list[Any], list[int]]]:
    """Lines and their places in batches that hold all lines of each of their conversations.

    Lines are buffers that share the memory of their Arrow batch.
    """
    import pyarrow as pa

    lines: list[Any] = []
    places: list[int] = []
    size, last = 0, None
    for batch in batches:
        others = [c.to_pylist() for c in (batch.column(1), batch.column(2).cast(pa.binary()))]
        for value, place, conversation in zip(batch.column(0), *others, strict=True):
            line = value.as_buffer()
            if lines and max(size, len(line)) >= _BATCH and conversation != last:
                yield lines, places
                lines, places, size = [], [], 0
            lines.append(line)
            places.append(place)
            size += len(line)
            last = conversation
    if lines:
        del batch, others, value, line  # nothing but the list holds a huge one
        yield lines, places


def _text(lines: list[Any]) -> Any:
    """Lines for the core: a single one, which may be huge, is not copied. The list is emptied."""
    text = lines[0] if len(lines) == 1 else b"\n".join(lines)
    lines.clear()
    return text


def _place(name: str, where: str, heads: list[bytes]) -> str:
    """Locate a line by its beginning; its number within a batch means nothing to a person."""
    number = where.rpartition(":")[2]
    if not number.isdigit():
        return where or name
    begin = heads[int(number) - 1].decode("utf-8", "replace")
    return f"{name}, {begin!r}"


def _schema() -> Any:
    import pyarrow as pa

    values = pa.list_(pa.float64())
    return pa.schema(
        [
            ("place", pa.int64()),
            ("system", pa.string()),
            ("conversation", pa.string()),
            ("repeat", pa.string()),
            ("iteration", pa.int32()),
            ("counted", pa.list_(pa.int64())),
            ("funnel", pa.list_(pa.int64())),
            ("evidence", pa.string()),
            ("value", values),
            ("lower", values),
            ("upper", values),
            ("report", pa.string()),
        ]
    )


def _evidence(scores: TraceScores, owner: Any, begins: Any) -> Any:
    """The evidence of every run as JSON, in its first row; written once, because it may be huge."""
    import numpy as np
    import pyarrow as pa

    text = io.BytesIO()
    ends = np.zeros(len(owner) + 1, dtype=np.int32)
    for number, begin in enumerate(begins.tolist()):
        text.write(b"[")
        at = 0
        while rows := scores.some_evidence(number, at, at + _PART):
            text.write(b", " if at else b"")
            text.write(json.dumps(rows)[1:-1].encode())
            at += _PART
        text.write(b"]")
        ends[begin + 1] = text.tell()
    has_text = pa.array(ends[1:] > 0).buffers()[1]
    offsets = np.maximum.accumulate(ends)
    buffers = [has_text, pa.py_buffer(offsets), pa.py_buffer(text.getbuffer())]
    return pa.Array.from_buffers(pa.string(), len(owner), buffers)


def _rows(scores: TraceScores, ends: list[int], places: list[int]) -> Any:
    import numpy as np
    import pyarrow as pa

    numbers = np.searchsorted(ends, scores.places, side="right")  # of the lines

    counts = np.array(scores.counts, dtype=np.int64).reshape(-1, 1 + len(COUNTED))
    lengths = counts[:, 0]
    rows = np.maximum(lengths, 1)
    owner = np.repeat(np.arange(len(lengths)), rows)
    begins = np.cumsum(rows) - rows
    iteration = np.arange(len(owner)) - np.repeat(begins, rows) + (lengths > 0)[owner]

    def listed(matrix: Any) -> Any:
        ends = np.arange(len(owner) + 1) * matrix.shape[1]
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(matrix.reshape(-1)))

    def repeated(names: list[str]) -> Any:
        return text_array(names).take(pa.array(owner))

    values = listed(scores.matrix("value"))
    bounds = [
        listed(scores.matrix(which)) if scores.bounded else values for which in ("lower", "upper")
    ]
    return pa.RecordBatch.from_arrays(
        [
            pa.array(np.array(places, dtype=np.int64)[numbers][owner]),
            repeated(scores.systems),
            repeated(scores.conversations),
            repeated(scores.repeats),
            pa.array(iteration, pa.int32()),
            listed(counts[:, 1:][owner]),
            listed(scores.funnel.reshape(-1, len(FUNNEL))[owner]),
            _evidence(scores, owner, begins),
            values,
            *bounds,
            pa.nulls(len(owner), pa.string()),
        ],
        schema=_schema(),
    )
