"""Good Gain on the executors, where each conversation is one row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain._core import CoreError
from goodgain.engines.spark.broadcasts import first_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain._core import TraceScores
    from goodgain.agentic.settings import GainSettings
    from goodgain.engines.spark.broadcasts import ShippedQrels
    from goodgain.identity import Identity

SCORED = (
    "place bigint, system string, conversation string, iteration int, "
    "value array<double>, lower array<double>, upper array<double>, report string"
)
COUNTS = (
    "results",
    "searches",
    "skipped",
    "left_out",
    "unknown_conversations",
    "ambiguous_labels",
)


@dataclass(frozen=True, slots=True)
class GainJob:
    """The settings of an executor that scores conversations."""

    rules: Identity
    settings: GainSettings
    labels: ShippedQrels | None
    name: str


def scored(batches: Iterator[Any], job: GainJob) -> Iterator[Any]:
    """A row per iteration, a row without values per conversation without a search, and a report.

    The only column holds conversations as JSON with a line feed, so its bytes are JSON lines.
    """
    import pyarrow as pa

    place = first_place()
    options = job.settings.for_core(skip_bad=True)
    labels, rules = job.labels.open() if job.labels else None, job.rules.core
    report: dict[str, Any] = {**dict.fromkeys(COUNTS, 0), "examples": [], "bounded": False}
    for batch in batches:
        text = _bytes(batch.column(0))
        try:
            scores = rules.score_lines(text, job.name, labels, options, 1)
        except CoreError as error:  # from the labels; bad conversations are only counted
            report["error"] = error.args
            continue
        for name in COUNTS:
            report[name] += getattr(scores, name)
        report["bounded"] |= scores.bounded
        for message, where, _ in scores.skipped_examples[: 3 - len(report["examples"])]:
            report["examples"].append(f"{message} ({_place(job.name, where, text)})")
        yield _rows(scores, place)
        place += batch.num_rows
    empty = [pa.nulls(1, field.type) for field in _schema() if field.name != "report"]
    yield pa.RecordBatch.from_arrays([*empty, pa.array([json.dumps(report)])], schema=_schema())


def _bytes(texts: Any) -> bytes:
    """The concatenated bytes of all texts of an array."""
    import numpy as np

    if not len(texts):
        return b""
    kind = np.int64 if str(texts.type).startswith("large") else np.int32
    ends = np.frombuffer(texts.buffers()[1], kind)[texts.offset : texts.offset + len(texts) + 1]
    content: bytes = texts.buffers()[2][ends[0] : ends[-1]].to_pybytes()
    return content


def _place(name: str, where: str, text: bytes) -> str:
    """Locate a line by its beginning; its number within a batch means nothing to a person."""
    number = where.rpartition(":")[2]
    if not number.isdigit():
        return where or name
    begin = text.split(b"\n", int(number))[int(number) - 1][:60].decode("utf-8", "replace")
    return f"{name}, {begin!r}"


def _schema() -> Any:
    import pyarrow as pa

    values = pa.list_(pa.float64())
    return pa.schema(
        [
            ("place", pa.int64()),
            ("system", pa.string()),
            ("conversation", pa.string()),
            ("iteration", pa.int32()),
            ("value", values),
            ("lower", values),
            ("upper", values),
            ("report", pa.string()),
        ]
    )


def _rows(scores: TraceScores, first_place: int) -> Any:
    import numpy as np
    import pyarrow as pa

    first = np.asarray(scores.first_row, dtype=np.int64)
    lengths = np.diff(first)
    rows = np.maximum(lengths, 1)  # a conversation without a search has one row, with iteration 0
    owner = np.repeat(np.arange(len(lengths)), rows)
    begins = np.cumsum(rows) - rows
    iteration = np.arange(len(owner)) - np.repeat(begins, rows) + (lengths > 0)[owner]
    has_values = iteration > 0

    def listed(which: str) -> Any:
        matrix = scores.matrix(which)
        ends = np.concatenate([[0], np.cumsum(has_values)]) * matrix.shape[1]
        flat = pa.array(matrix.reshape(-1))
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat)

    def repeated(names: list[str]) -> Any:
        return pa.array(names, pa.string()).take(pa.array(owner))

    no_report = pa.nulls(len(owner), pa.string())
    values = listed("value")
    bounds = [listed(which) if scores.bounded else values for which in ("lower", "upper")]
    return pa.RecordBatch.from_arrays(
        [
            pa.array(first_place + owner),
            repeated(scores.systems),
            repeated(scores.conversations),
            pa.array(iteration, pa.int32()),
            values,
            *bounds,
            no_report,
        ],
        schema=_schema(),
    )
