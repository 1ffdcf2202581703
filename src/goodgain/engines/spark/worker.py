"""Functions for the executors: they pass Arrow batches to the core and report to the driver.

A report is a separate row of the result: unlike an accumulator it counts once even if a task is retried,
and unlike an exception it can be added up over all partitions.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from goodgain._core import ArrowTable, CoreError, PackedEvaluation, Packer
from goodgain.engines.exact import ExactSum
from goodgain.engines.spark.broadcasts import first_place, stream_of
from goodgain.engines.spark.digests import DIGEST, digest
from goodgain.errors import GoodgainError, to_report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain._core import Texts
    from goodgain.engines.spark.broadcasts import ShippedQrels
    from goodgain.engines.spark.files import Files
    from goodgain.engines.spark.texts import Lines
    from goodgain.ranking.evaluator import CoreRequest

STREAMED = "stream binary"
PACKED = "run int, query string, kind tinyint, place bigint, piece binary"
JUDGMENTS, MEASURED, REPORT = 0, 2, 3  # kinds of pieces; the core defines them and one for rows
SCATTERED = "scattered"  # the rows of a query are not contiguous
UNREAD = "unread"  # a file that only Spark can read
SPLIT = "goodgain split"  # a column that tells which rows one piece of a file holds
BROKEN = "broken"  # quoted fields with line breaks, so that lines must not be divided
_WAITING = 20_000  # measured queries per batch of output


@dataclass(slots=True, kw_only=True)
class Report:
    """What a task returns besides its rows; reports can be added up."""

    totals: dict[str, int] = field(default_factory=dict)
    sums: list[ExactSum] = field(default_factory=list)
    bad: tuple[int, str] = (0, "")
    error: tuple[str, ...] | None = None
    unjudged_example: str = ""
    retry: str = ""  # SCATTERED, UNREAD or BROKEN: the reason to retry the slower way

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PackTask:
    """What an executor packs.

    With `files` its batches only name the files to read; with `here` contiguous queries are measured at
    once, and their values replace their rows.
    """

    columns: Mapping[str, str]
    is_run: bool
    name: str
    number: int  # of the run
    files: Files | None
    lines: Lines | None
    here: Job | None


def packed(batches: Iterator[Any], task: PackTask) -> Iterator[Any]:
    """Pack the rows of a partition into pieces, one per query within a window of rows."""
    import pyarrow as pa

    first = first_place()
    packer = Packer(dict(task.columns), task.is_run, first)
    report = Report()
    last: list[Any] = []
    try:
        evaluation = task.here.evaluation() if task.here else None
        for batch, begins in _by_split(task.files.rows(batches) if task.files else batches):
            if begins:
                yield _pieces(packer, task.number, evaluation)
                packer.begin_split()
            if task.lines:
                task.lines.pack(batch, packer, task.name, last)
            else:
                packer.add(ArrowTable.of(pa.Table.from_batches([batch]), task.name))
            if packer.full:
                yield _pieces(packer, task.number, evaluation)
            if packer.scattered or packer.broken:
                break
        yield _pieces(packer, task.number, evaluation)
    except (CoreError, GoodgainError) as error:
        report.error = error_fields(error)
    except (OSError, pa.ArrowException):
        if not task.files and not task.here:
            raise
        report.retry = UNREAD
    _drain(batches)
    if packer.broken and not (task.lines and task.lines.whole):
        report.retry = BROKEN
    if packer.scattered:
        report.retry = report.retry or SCATTERED
    if task.is_run:
        report.bad = packer.bad
    elif packer.bad[0]:  # judgments are never skipped
        report.error = report.error or ("input", packer.bad[1], "", "")
    if report.bad[0] or report.error or report.retry:
        yield _piece_batch(task.number, [""], [REPORT], [first], [report.to_json().encode()])


def _by_split(batches: Iterator[Any]) -> Iterator[tuple[Any, bool]]:
    """Rows of one piece of a file each, and whether a new piece begins.

    Spark reads several pieces in one task, and their first and last queries may go on elsewhere.
    """
    import numpy as np

    last = None
    for batch in batches:
        if SPLIT not in batch.schema.names:
            yield batch, False
            continue
        splits = batch.column(SPLIT).to_numpy()
        starts = [0, *(np.flatnonzero(splits[1:] != splits[:-1]) + 1).tolist(), len(splits)]
        for start, end in pairwise(starts):
            if start < end:
                yield batch.slice(start, end - start), last not in (None, splits[start])
                last = splits[start]


def counted(batches: Iterator[Any], number: int) -> Iterator[Any]:
    """A piece for each unjudged query, of which only the number of rows matters."""
    import pyarrow as pa

    place = first_place()
    for batch in batches:
        counts = batch.column("count").to_numpy().astype("<u8")
        pieces = pa.Array.from_buffers(
            pa.binary(8), len(counts), [None, pa.py_buffer(counts.tobytes())]
        )
        kinds = pa.repeat(pa.scalar(MEASURED, pa.int8()), len(counts))
        places = pa.array(range(place, place + len(counts)), pa.int64())
        place += len(counts)
        yield _piece_batch(number, batch.column("query"), kinds, places, pieces.cast(pa.binary()))


def _pieces(packer: Packer, number: int, evaluation: PackedEvaluation | None) -> Any:
    import pyarrow as pa

    queries, kinds, places, pieces = packer.take(evaluation)
    return _piece_batch(
        number,
        _text_array(queries, pa.string()),
        pa.array(kinds),
        pa.array(places),
        _text_array(pieces, pa.binary()),
    )


def _piece_batch(number: int, queries: Any, kinds: Any, places: Any, pieces: Any) -> Any:
    import pyarrow as pa

    types = (pa.string(), pa.int8(), pa.int64(), pa.binary())
    arrays = [
        values if isinstance(values, pa.Array) else pa.array(values, kind)
        for values, kind in zip((queries, kinds, places, pieces), types, strict=True)
    ]
    runs = pa.repeat(pa.scalar(number, pa.int32()), len(arrays[0]))
    return pa.RecordBatch.from_arrays([runs, *arrays], ["run", "query", "kind", "place", "piece"])


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
    call: str  # a name of its own: Spark reuses what it has cached for an equal plan

    def evaluation(self) -> PackedEvaluation:
        """The core's evaluation of pieces, in this process."""
        return PackedEvaluation(
            self.qrels.open() if self.qrels else None,
            *(self.facts or (0.0, False, False)),
            self.request.plan(may_be_disjoint=True),
            self.name,
        )


def measured(batches: Iterator[Any], jobs: Mapping[int, Job]) -> Iterator[Any]:
    """A row per run and judged query of a partition, and a report per run.

    Pieces must be sorted by run, query and kind.
    """
    task: _Measuring | None = None
    for number, batch in _by_run(batches):
        if task is None or task.number != number:
            if task is not None:
                yield from task.finish()
            task = _Measuring(number, jobs[number])
        yield from task.add(batch)
    if task is not None:
        yield from task.finish()


def _by_run(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Batches with the pieces of one run each."""
    import numpy as np

    for batch in batches:
        runs = batch.column("run").to_numpy()
        begins = [0, *(np.flatnonzero(np.diff(runs)) + 1).tolist(), len(runs)]
        for begin, end in pairwise(begins):
            if end > begin:
                yield int(runs[begin]), batch.slice(begin, end - begin)


class _Measuring:
    """Measures the pieces of one run in a partition."""

    def __init__(self, number: int, job: Job) -> None:
        import pyarrow as pa

        self.number, self.job = number, job
        self.report = Report(sums=[ExactSum() for _ in range(job.width)])
        self.evaluation: PackedEvaluation | None = None
        try:
            self.evaluation = job.evaluation()
        except (CoreError, GoodgainError) as error:  # invalid judgments
            self.report.error = error_fields(error)
        except (OSError, pa.ArrowException):
            if not (job.qrels and job.qrels.files):
                raise
            self.report.retry = UNREAD

    def add(self, batch: Any) -> Iterator[Any]:
        """Measure more pieces; after an error they are only read."""
        import pyarrow as pa
        import pyarrow.compute as pc

        is_report = pc.equal(batch.column("kind"), REPORT)
        if pc.any(is_report).as_py():
            for piece in batch.column("piece").filter(is_report).to_pylist():
                self.report.join(Report.from_json(piece))
            batch = batch.filter(pc.invert(is_report))
        if self.evaluation is None:
            return
        try:
            self.evaluation.add(ArrowTable.of(pa.Table.from_batches([batch]), self.job.name))
        except (CoreError, GoodgainError) as error:
            self._stop(error)
            return
        if self.evaluation.waiting >= _WAITING:
            yield _rows(self.evaluation, self.number, self.job, self.report)

    def finish(self) -> Iterator[Any]:
        """The remaining rows, and the report."""
        if self.evaluation is not None:
            try:
                self.evaluation.finish()
            except (CoreError, GoodgainError) as error:
                self._stop(error)
        if (evaluation := self.evaluation) is not None:
            yield _rows(evaluation, self.number, self.job, self.report)
            if evaluation.scattered:
                self.report.retry = self.report.retry or SCATTERED
            self.report.join(
                Report(
                    totals=evaluation.totals(),
                    bad=evaluation.bad,
                    unjudged_example=evaluation.unjudged_example,
                )
            )
        yield _report_row(self.number, self.report, self.job.width)

    def _stop(self, error: Exception) -> None:
        self.report.error = self.report.error or error_fields(error)
        self.evaluation = None


def error_fields(error: Exception) -> tuple[str, ...]:
    """An error as plain data, for `from_report` on the driver."""
    if isinstance(error, GoodgainError):
        return to_report(error)
    return tuple(error.args)


def _drain(batches: Iterator[Any]) -> None:
    """Consume the rest of the input; Spark waits for that."""
    for _ in batches:
        pass


def measured_schema(width: int) -> str:
    """The schema of the batches of `measured`."""
    values = "".join(f", v{i} double" for i in range(width))
    return f"run int, query string, place bigint{values}, report string"


def _rows(evaluation: PackedEvaluation, number: int, job: Job, report: Report) -> Any:
    import numpy as np
    import pyarrow as pa

    width = evaluation.width
    queries, places, in_run, flat = evaluation.take()
    ids, values = _text_array(queries, pa.string()), flat.reshape(len(places), width)
    if job.skips_missing:
        present = in_run != 0
        ids, places, values = ids.filter(pa.array(present)), places[present], values[present]
    report.totals["rows"] = report.totals.get("rows", 0) + len(places)
    report.totals[DIGEST] = report.totals.get(DIGEST, 0) + digest(places, *values.T)
    for i, total in enumerate(report.sums):
        column = values[:, i]
        total.add(logarithms(column) if i in job.logarithms else column)
    no_report = pa.nulls(len(places), pa.string())
    arrays = [
        pa.repeat(pa.scalar(number, pa.int32()), len(places)),
        ids,
        pa.array(places),
        *(pa.array(np.ascontiguousarray(c)) for c in values.T),
        no_report,
    ]
    return pa.RecordBatch.from_arrays(arrays, _names(width))


def logarithms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms as in `ranking.scores.aggregate`: by the same function, hence bit-identical."""
    import numpy as np

    return np.array([v if v != v else math.log(max(v, 0.00001)) for v in values.tolist()])


def _report_row(number: int, report: Report, width: int) -> Any:
    import pyarrow as pa

    empty = [
        pa.array([number], pa.int32()),
        pa.nulls(1, pa.string()),
        pa.nulls(1, pa.int64()),
        *(pa.nulls(1, pa.float64()),) * width,
    ]
    return pa.RecordBatch.from_arrays([*empty, pa.array([report.to_json()])], _names(width))


def _names(width: int) -> list[str]:
    return ["run", "query", "place", *(f"v{i}" for i in range(width)), "report"]
