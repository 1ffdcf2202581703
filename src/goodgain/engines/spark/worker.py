"""Functions for the executors: they pass Arrow batches to the core and report to the driver.

A report is a separate row of the result: unlike an accumulator it counts once even if a task is retried,
and unlike an exception it can be added up over all partitions.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain._core import ArrowTable, CoreError, PackedEvaluation, Packer
from goodgain.engines.exact import ExactSum
from goodgain.engines.spark.broadcasts import first_place, stream_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain._core import Texts
    from goodgain.engines.spark.broadcasts import ShippedQrels
    from goodgain.engines.spark.files import Files
    from goodgain.ranking.evaluator import CoreRequest

STREAMED = "stream binary"
PACKED = "query string, kind tinyint, place bigint, piece binary"
JUDGMENTS, REPORT = 0, 3  # kinds of pieces; the core defines the others
SCATTERED = "scattered"  # the rows of a query are not contiguous
UNREAD = "unread"  # a file that only Spark can read
_WAITING = 20_000  # measured queries per batch of output


@dataclass(slots=True, kw_only=True)
class Report:
    """What a task returns besides its rows; reports can be added up."""

    totals: dict[str, int] = field(default_factory=dict)
    sums: list[ExactSum] = field(default_factory=list)
    bad: tuple[int, str] = (0, "")
    error: tuple[str, ...] | None = None
    unjudged_example: str = ""
    retry: str = ""  # SCATTERED or UNREAD: the reason to retry the slower way

    def join(self, other: Report) -> None:
        """Add the report of another task."""
        for name, count in other.totals.items():
            self.totals[name] = self.totals.get(name, 0) + count
        self.sums = self.sums or [ExactSum() for _ in other.sums]
        for mine, theirs in zip(self.sums, other.sums, strict=False):
            mine.join(theirs)
        self.add_bad(other.bad)
        self.error = self.error or other.error
        self.unjudged_example = self.unjudged_example or other.unjudged_example
        self.retry = max(self.retry, other.retry)  # UNREAD takes precedence

    def add_bad(self, bad: tuple[int, str]) -> None:
        """Count more bad rows, keeping the first example."""
        self.bad = (self.bad[0] + bad[0], self.bad[1] or bad[1])

    def to_json(self) -> str:
        """Serialise as text for a cell."""
        return json.dumps(
            {
                "totals": self.totals,
                "sums": [s.to_list() for s in self.sums],
                "bad": self.bad,
                "error": self.error,
                "unjudged_example": self.unjudged_example,
                "retry": self.retry,
            }
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """Inverse of `to_json`."""
        data = json.loads(text)
        return cls(
            totals=data["totals"],
            sums=[ExactSum.from_list(s) for s in data["sums"]],
            bad=tuple(data["bad"]),
            error=tuple(data["error"]) if data["error"] else None,
            unjudged_example=data["unjudged_example"],
            retry=data["retry"],
        )


# --- packing rows into pieces, where they are read ---


def packed(
    batches: Iterator[Any],
    columns: Mapping[str, str],
    is_run: bool,
    name: str,
    files: Files | None = None,
    here: Job | None = None,
) -> Iterator[Any]:
    """Pack the rows of a partition into pieces, one per query within a window of rows.

    With `files` the batches only name the files to read. With `here` contiguous queries are measured
    at once, and their values replace their rows.
    """
    import pyarrow as pa

    first = first_place()
    packer = Packer(dict(columns), is_run, first)
    report = Report()
    try:
        evaluation = here.evaluation() if here else None
        for batch in files.rows(batches) if files else batches:
            packer.add(ArrowTable.of(pa.Table.from_batches([batch]), name))
            if packer.full:
                yield _pieces(packer, evaluation)
            if packer.scattered:
                break
        yield _pieces(packer, evaluation)
    except CoreError as error:
        report.error = error.args
    except (OSError, pa.ArrowException):
        if not files and not here:
            raise
        report.retry = UNREAD
    _drain(batches)
    if packer.scattered:
        report.retry = report.retry or SCATTERED
    if is_run:
        report.bad = packer.bad
    elif packer.bad[0]:  # judgments are never skipped
        report.error = report.error or ("input", packer.bad[1], "", "")
    if report.bad[0] or report.error or report.retry:
        yield _piece_batch([""], [REPORT], [first], [report.to_json().encode()])


def _pieces(packer: Packer, evaluation: PackedEvaluation | None) -> Any:
    import pyarrow as pa

    queries, kinds, places, pieces = packer.take(evaluation)
    return _piece_batch(
        _text_array(queries, pa.string()),
        pa.array(kinds),
        pa.array(places),
        _text_array(pieces, pa.binary()),
    )


def _piece_batch(queries: Any, kinds: Any, places: Any, pieces: Any) -> Any:
    import pyarrow as pa

    types = (pa.string(), pa.int8(), pa.int64(), pa.binary())
    arrays = [
        values if isinstance(values, pa.Array) else pa.array(values, kind)
        for values, kind in zip((queries, kinds, places, pieces), types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, ["query", "kind", "place", "piece"])


def _text_array(texts: Texts, kind: Any) -> Any:
    import pyarrow as pa

    ends, content = texts
    return pa.Array.from_buffers(
        kind, len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(content)]
    )


def streamed(batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of a partition as one Arrow stream, to be sent to every executor."""
    import pyarrow as pa

    rows = list(batches)
    if rows:
        stream = stream_of(pa.Table.from_batches(rows), compression="zstd")
        yield pa.RecordBatch.from_arrays([pa.array([stream], pa.binary())], ["stream"])


# --- measuring pieces, where all rows of a query are together ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The settings of an executor that measures pieces."""

    request: CoreRequest
    name: str
    width: int  # values per query
    skips_missing: bool
    logarithms: frozenset[int]  # columns whose logarithms are summed, for geometric means
    qrels: ShippedQrels | None  # small judgments; others come with the pieces
    facts: tuple[float, bool, bool] | None  # of the others: largest gain, has targets, has aspects

    def evaluation(self) -> PackedEvaluation:
        """The core's evaluation of pieces, in this process."""
        return PackedEvaluation(
            self.qrels.open() if self.qrels else None,
            *(self.facts or (0.0, False, False)),
            self.request.plan(may_be_disjoint=True),
            self.name,
        )


def measured(batches: Iterator[Any], job: Job) -> Iterator[Any]:
    """A row per judged query of a partition, and a report. Pieces must be sorted by query and kind."""
    import pyarrow as pa
    import pyarrow.compute as pc

    report = Report()
    try:
        evaluation = job.evaluation()
    except (CoreError, OSError, pa.ArrowException) as error:  # invalid or unreadable judgments
        if not isinstance(error, CoreError) and not (job.qrels and job.qrels.files):
            raise
        _drain(batches)
        is_bad = isinstance(error, CoreError)
        yield _report_row(Report(error=error.args) if is_bad else Report(retry=UNREAD), job.width)
        return
    report.sums = [ExactSum() for _ in range(job.width)]
    try:
        for batch in batches:
            is_report = pc.equal(batch.column("kind"), REPORT)
            if pc.any(is_report).as_py():
                for piece in batch.column("piece").filter(is_report).to_pylist():
                    report.join(Report.from_json(piece))
                batch = batch.filter(pc.invert(is_report))
            evaluation.add(ArrowTable.of(pa.Table.from_batches([batch]), job.name))
            if evaluation.waiting >= _WAITING:
                yield _rows(evaluation, job, report)
        evaluation.finish()
    except CoreError as error:
        report.error = report.error or error.args
        _drain(batches)
    yield _rows(evaluation, job, report)
    if evaluation.scattered:
        report.retry = report.retry or SCATTERED
    counts = Report(
        totals=evaluation.totals(),
        bad=evaluation.bad,
        unjudged_example=evaluation.unjudged_example,
    )
    report.join(counts)
    yield _report_row(report, job.width)


def _drain(batches: Iterator[Any]) -> None:
    """Consume the rest of the input; Spark waits for that."""
    for _ in batches:
        pass


def measured_schema(width: int) -> str:
    """The schema of the batches of `measured`."""
    values = "".join(f", v{i} double" for i in range(width))
    return f"query string, place bigint{values}, report string"


def _rows(evaluation: PackedEvaluation, job: Job, report: Report) -> Any:
    import numpy as np
    import pyarrow as pa

    width = evaluation.width
    queries, places, in_run, flat = evaluation.take()
    ids, values = _text_array(queries, pa.string()), flat.reshape(len(places), width)
    if job.skips_missing:
        present = in_run != 0
        ids, places, values = ids.filter(pa.array(present)), places[present], values[present]
    report.totals["rows"] = report.totals.get("rows", 0) + len(places)
    for i, total in enumerate(report.sums):
        column = values[:, i]
        total.add(_logarithms(column) if i in job.logarithms else column)
    no_report = pa.nulls(len(places), pa.string())
    arrays = [
        ids,
        pa.array(places),
        *(pa.array(np.ascontiguousarray(c)) for c in values.T),
        no_report,
    ]
    return pa.RecordBatch.from_arrays(arrays, _names(width))


def _logarithms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms as in `ranking.scores.aggregate`: by the same function, hence bit-identical."""
    import numpy as np

    return np.array([v if v != v else math.log(max(v, 0.00001)) for v in values.tolist()])


def _report_row(report: Report, width: int) -> Any:
    import pyarrow as pa

    empty = [
        pa.nulls(1, pa.string()),
        pa.nulls(1, pa.int64()),
        *(pa.nulls(1, pa.float64()),) * width,
    ]
    return pa.RecordBatch.from_arrays([*empty, pa.array([report.to_json()])], _names(width))


def _names(width: int) -> list[str]:
    return ["query", "place", *(f"v{i}" for i in range(width)), "report"]
