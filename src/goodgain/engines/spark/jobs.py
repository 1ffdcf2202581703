"""One job for all runs: rows are packed where they are read and joined by run and query in one shuffle."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from goodgain.engines.spark.digests import DIGEST, digest, same_digest
from goodgain.engines.spark.failures import cluster_errors, same_version
from goodgain.engines.spark.frames import pieces_of, with_splits
from goodgain.engines.spark.judged import only_judged, sample_of
from goodgain.engines.spark.session import arrow_only, shuffle_partitions
from goodgain.engines.spark.worker import (
    BROKEN,
    UNREAD,
    Job,
    Report,
    measured,
    measured_schema,
)
from goodgain.errors import InputError
from goodgain.io.naming import compression_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.engines.spark.broadcasts import ShippedQrels
    from goodgain.engines.spark.frames import Frame
    from goodgain.engines.spark.judged import Sample
    from goodgain.engines.spark.judgments import Judgments
    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Recipe

FETCHED = 4_000_000  # values that are fetched with the means; more stay where they are
_ATTEMPTS = 4


@dataclass(frozen=True)
class Attempt:
    """How the runs of a call are read: at first the fast way, then those that need it the slow one."""

    frames: dict[int, Frame]
    judgments: Judgments
    scattered: bool = False
    samples: dict[int, Sample | None] = field(default_factory=dict)

    def sample(self, number: int) -> Sample | None:
        """The first rows of a run, if they were worth looking at."""
        if number not in self.samples:
            self.samples[number] = sample_of(self.frames[number])
        return self.samples[number]

    @property
    def packed(self) -> list[int]:
        """The runs in compressed text that Spark reads line by line."""
        return [
            number
            for number, frame in self.frames.items()
            if frame.lines and not frame.lines.whole and compression_of(frame.lines.place)
        ]

    def slower(self, retries: Mapping[int, str]) -> Attempt:
        """The runs whose tasks reported a reason to read them in another way."""
        judgments = self.judgments
        frames = {}
        for number, reason in retries.items():
            frame = self.frames[number]
            if reason == BROKEN:
                frame = frame.read_whole()
            elif reason == UNREAD:
                frame, judgments = frame.read_by_spark(), judgments.read_by_spark()
            frames[number] = frame
        return replace(self, frames=frames, judgments=judgments, scattered=True)


@dataclass
class Measured:
    """Runs that were measured: their reports, and their rows fetched, cached, or to be computed again."""

    reports: dict[int, Report] = field(default_factory=dict)
    tables: dict[int, Any] = field(default_factory=dict)  # fetched, by run
    frames: dict[int, Any] = field(default_factory=dict)  # DataFrames of rows, by run
    cached: list[Any] = field(default_factory=list)

    def table(self, number: int) -> Any:
        """The rows of a run as an Arrow table."""
        if number not in self.tables:
            with arrow_only(), cluster_errors():
                rows = self.frames[number].toArrow()
            _require_same(rows, self.reports[number])
            self.tables[number] = rows
        return self.tables[number]

    def release(self) -> None:
        """Free the cached rows on the cluster."""
        while self.cached:
            self.cached.pop().unpersist()


@dataclass(frozen=True)
class Measurement:
    """What is measured, and how: the same for every attempt."""

    spark: Any
    recipe: Recipe
    partitions: int | None
    keep: bool

    def run(self, frames: dict[int, Frame], judgments: Judgments) -> Measured:
        """Measure all runs; those whose tasks ask for it once more in a slower way."""
        result = Measured()
        attempt = Attempt(frames, judgments)
        for _ in range(_ATTEMPTS):
            try:
                retries = self._try(attempt, result)
            except InputError:
                if not attempt.packed:
                    raise
                # Spark does not say what is wrong with a compressed file; reading it here does.
                retries = {n: BROKEN if n in attempt.packed else "" for n in attempt.frames}
            if not retries:
                return result
            attempt = attempt.slower(retries)
        raise InputError("the files change while they are read")

    def _try(self, attempt: Attempt, result: Measured) -> dict[int, str]:
        """Measure the runs of an attempt; returns the reasons to measure some of them again."""
        rows = self.rows(attempt)
        names = ", ".join(frame.name for frame in attempt.frames.values())
        queries = attempt.judgments.queries
        few = queries is not None and len(queries) * len(attempt.frames) * self.width <= FETCHED
        with self._held(rows, cached=self.keep or not few) as held:
            with arrow_only(), cluster_errors(names):
                table = held.toArrow() if few else held.where("report is not null").toArrow()
            reports = _reports(table, attempt.frames)
            done = [number for number, report in reports.items() if not report.retry]
            result.reports |= {number: reports[number] for number in done}
            count = sum(reports[number].totals.get("rows", 0) for number in done)
            if not few and count * self.width <= FETCHED:
                with arrow_only(), cluster_errors(names):
                    table = held.where("report is null").toArrow()
                few = True
            if few:
                result.tables |= {number: _rows_of(table, number) for number in done}
            if self.keep and done:
                result.cached.append(held)
            if done and (self.keep or not few):
                again = held if self.keep else self.rows(attempt)
                result.frames |= {
                    number: again.where(f"report is null and run = {number}").drop("report", "run")
                    for number in done
                }
            return {number: report.retry for number, report in reports.items() if report.retry}

    @contextmanager
    def _held(self, rows: Any, cached: bool) -> Iterator[Any]:
        """The rows, cached on the cluster at most as long as they are needed here, unless they are kept."""
        with shuffle_partitions(self.spark, self.partitions):
            held = rows.persist() if cached else rows
            done = False
            try:
                yield held
                done = True
            finally:
                if cached and not (done and self.keep):
                    held.unpersist()

    def rows(self, attempt: Attempt) -> Any:
        """A row per run and judged query, and a report per run and task."""
        pieces = attempt.judgments.pieces(list(attempt.frames))
        jobs = {}
        for number, frame in attempt.frames.items():
            sample = attempt.sample(number)
            in_order = frame.files or (sample is not None and sample.is_contiguous)
            qrels = attempt.judgments.shipped if in_order else attempt.judgments.small
            job = self.job(frame, attempt.judgments, qrels)
            here = job if in_order and qrels and not attempt.scattered else None
            jobs[number] = job
            if here:
                frame = with_splits(frame)
            for part in only_judged(frame, attempt.judgments, number, sample, here) or (
                pieces_of(frame, is_run=True, here=here, number=number),
            ):
                pieces = part.union(pieces)
        return self.joined(pieces, jobs)

    def job(self, frame: Frame, judgments: Judgments, qrels: ShippedQrels | None) -> Job:
        """What executors need to measure a run."""
        request = self.recipe.request
        return Job(
            request=request.by_rank() if frame.by_rank else request,
            name=frame.name,
            width=self.width,
            skips_missing=self.recipe.missing == "skip",
            logarithms=self.logarithms,
            qrels=qrels,
            facts=None if qrels else judgments.facts.for_tasks,
            call=uuid4().hex,
        )

    def joined(self, pieces: Any, jobs: Mapping[int, Job]) -> Any:
        """Shuffle once, by run and query, so that no query is split."""
        ordered = pieces.repartition("run", "query").sortWithinPartitions(
            "run", "query", "kind", "place"
        )
        work = same_version(lambda batches: measured(batches, jobs))
        with arrow_only():
            return ordered.mapInArrow(work, measured_schema(self.width))

    @property
    def core_measures(self) -> list[Measure]:
        """The measures that the core computes."""
        return [m for m in self.recipe.measures if m.definition.column is None]

    @property
    def width(self) -> int:
        """The number of values per query: one per measure of the core, three with bounds."""
        policy = self.recipe.request.policy
        has_bounds = "bounds" in (policy["ties"], policy["unjudged"])
        return len(self.core_measures) * (3 if has_bounds else 1)

    @property
    def logarithms(self) -> frozenset[int]:
        """The columns of values whose logarithms are summed, for geometric means."""
        measures = len(self.core_measures)
        places = [
            place
            for m in self.recipe.measures
            if m.definition.aggregate == "geometric"
            and isinstance(place := self.recipe.places[m.label], int)
        ]
        bounds = (
            [measures + 2 * p + i for p in places for i in (0, 1)] if self.width > measures else []
        )
        return frozenset((*places, *bounds))


def _reports(table: Any, frames: Mapping[int, Frame]) -> dict[int, Report]:
    """The sum of the reports of all tasks, by run."""
    import pyarrow.compute as pc

    reports = {number: Report() for number in frames}
    rows = table.filter(pc.is_valid(table.column("report"))).select(["run", "report"])
    for number, text in zip(*(rows.column(c).to_pylist() for c in ("run", "report")), strict=True):
        reports[number].join(Report.from_json(text))
    return reports


def _rows_of(table: Any, number: int) -> Any:
    import pyarrow.compute as pc

    own = pc.and_(pc.is_null(table.column("report")), pc.equal(table.column("run"), number))
    return table.filter(own).drop_columns(["report", "run"])


def _require_same(rows: Any, report: Report) -> None:
    """Values that are computed a second time must be those of the means, to the last bit."""
    columns = [rows.column("place"), *(rows.column(f"v{i}") for i in range(len(report.sums)))]
    if not same_digest([report.totals[DIGEST]], digest(*(c.to_numpy() for c in columns))):
        raise InputError(
            "the inputs have changed since they were evaluated",
            hint="keep=True keeps the values per query on the cluster",
        )
