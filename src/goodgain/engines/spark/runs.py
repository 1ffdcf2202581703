"""Runs on a cluster: rows become pieces where they are read, and meet by query in one shuffle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.data.run import Run
from goodgain.engines.spark.frames import frame_of, id_kinds, pieces_of, provenance, same_kinds
from goodgain.engines.spark.judgments import SMALL, Judgements, judgements_of
from goodgain.engines.spark.session import arrow_only, is_frame, kept
from goodgain.engines.spark.values import SparkValues
from goodgain.engines.spark.worker import UNREAD, Job, Report, measured, measured_schema
from goodgain.errors import InputError, from_report
from goodgain.io.columns import columns_of
from goodgain.io.naming import system_name, unique_names
from goodgain.ranking.evaluator import recipe, several_runs
from goodgain.ranking.result import Evaluation
from goodgain.ranking.scores import RunScores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.engines.spark.broadcasts import ShippedQrels
    from goodgain.engines.spark.frames import Frame
    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Measures, Recipe
    from goodgain.ranking.policy import Policy


class Evaluated(NamedTuple):
    """The evaluation, as `goodgain.evaluate` gives it, and its rows where they are.

    `per_query` has the columns run, query, and one for each measure (with bounds three); it is kept
    on the cluster until `release`.
    """

    evaluation: Evaluation
    per_query: Any
    held: tuple[Any, ...]

    def release(self) -> None:
        """Let the cluster forget the rows; what was fetched of them stays."""
        for frame in self.held:
            frame.unpersist()


def evaluate(
    spark: Any,
    qrels: Any,
    runs: Any,
    measures: Measures,
    *,
    policy: Policy | Mapping[str, str] | None = None,
    preset: str = "default",
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    partitions: int | None = None,
    small_qrels: int = SMALL,
    **policies: str,
) -> Evaluated:
    """Measure runs against judgements; see `goodgain.spark.evaluate`."""
    chosen, found = recipe(measures, policy, preset, skip_bad, **policies)
    judged = judgements_of(spark, qrels, columns_of("qrels", columns), small_qrels)
    results: dict[str, RunScores] = {}
    frames, held = [], []
    for name, run in _named(runs):
        kinds = id_kinds(run.source) if isinstance(run, Run) else None
        frame = frame_of(spark, _rows_of(run), "run", columns_of("run", columns), name, kinds)
        same_kinds(judged.frame, frame)
        rows, report = _measured(spark, frame, judged, found, partitions)
        held.append(rows)
        _check(report, frame, judged, skip_bad)
        queries = rows.where("query is not null").drop("report")
        beside = {what: getattr(run, what, None) for what in ("latency", "cost")}
        values = SparkValues(
            queries, report, found.places, chosen.has_bounds, provenance(frame), beside
        )
        results[name] = RunScores(name, found.measures, values)
        frames.append(_labelled(queries, name, found, chosen.has_bounds))
    evaluation = Evaluation(results, found.measures, chosen, judged.source, None, preset)
    per_query = frames[0]
    for more in frames[1:]:
        per_query = per_query.unionByName(more)
    return Evaluated(evaluation, per_query, tuple(held))


def _named(runs: Any) -> list[tuple[str, Any]]:
    """(name, run) for each; DataFrames have no name of their own, and URLs are not looked for here."""
    if isinstance(runs, dict) and runs and all(map(_is_elsewhere, runs.values())):
        return list(runs.items())
    listed = runs if isinstance(runs, list | tuple) else [runs]
    if listed and all(map(_is_elsewhere, listed)):
        names = ["run" if is_frame(run) else system_name(run) for run in listed]
        return list(zip(unique_names(names), listed, strict=True))
    return [(run.name, run) for run in several_runs(runs)]


def _rows_of(run: Any) -> Any:
    """A run of this machine as its rows, read as ever."""
    if not isinstance(run, Run):
        return run
    return run.source.value if run.source.kind == "arrow" else list(zip(*run.rows(), strict=True))


def _is_elsewhere(run: Any) -> bool:
    return is_frame(run) or isinstance(run, str | os.PathLike)


def _measured(
    spark: Any, run: Frame, judged: Judgements, found: Recipe, partitions: int | None
) -> tuple[Any, Report]:
    """A row for each judged query, kept on the cluster, and what the tasks said.

    The shorter way first: where tasks read files themselves, they measure queries whose rows stand together.
    If a query turns out to stand in several places, or a file can be read by Spark alone, the longer way.
    """
    scattered = False
    while True:
        known = judged.shipped if run.files else judged.small
        job = _job(run, judged, found, known)
        here = job if run.files and known and not scattered else None
        pieces = pieces_of(run, is_run=True, here=here).union(judged.pieces)
        rows = kept(spark, _joined(pieces, job, partitions))
        report = _reported(rows)
        if not report.again:
            return rows, report
        rows.unpersist()
        scattered = True
        if report.again == UNREAD:
            run, judged = run.read_by_spark(), judged.read_by_spark()


def _job(run: Frame, judged: Judgements, found: Recipe, known: ShippedQrels | None) -> Job:
    return Job(
        asked=found.request,
        name=run.name,
        width=_width(found),
        skips_missing=found.missing == "skip",
        logarithms=_geometric(found),
        qrels=known,
        facts=None if known else judged.facts.for_tasks,
    )


def _joined(pieces: Any, job: Job, partitions: int | None) -> Any:
    """One shuffle, by query, so that none is split."""
    by_query = pieces.repartition(*(() if partitions is None else (partitions,)), "query")
    ordered = by_query.sortWithinPartitions("query", "kind", "place")
    with arrow_only():
        return ordered.mapInArrow(
            lambda batches: measured(batches, job), measured_schema(job.width)
        )


def _width(found: Recipe) -> int:
    """Columns of values: one for each measure that the core knows, with bounds three."""
    has_bounds = "bounds" in (found.request.policy["ties"], found.request.policy["unjudged"])
    return len(_of_the_core(found)) * (3 if has_bounds else 1)


def _of_the_core(found: Recipe) -> list[Measure]:
    return [m for m in found.measures if m.definition.column is None]


def _geometric(found: Recipe) -> frozenset[int]:
    """The columns of values whose logarithms are added."""
    measures = len(_of_the_core(found))
    places = [
        place
        for m in found.measures
        if m.definition.aggregate == "geometric" and isinstance(place := found.places[m.label], int)
    ]
    bounds = (
        [measures + 2 * p + i for p in places for i in (0, 1)] if _width(found) > measures else []
    )
    return frozenset((*places, *bounds))


def _reported(rows: Any) -> Report:
    """What all tasks said together."""
    report = Report()
    for row in rows.where("report is not null").select("report").collect():
        report.join(Report.from_json(row.report))
    return report


def _check(report: Report, run: Frame, judged: Judgements, skip_bad: bool) -> None:
    """Errors of the tasks are raised here, as they would be locally."""
    if report.bad[0] and not skip_bad:
        raise InputError(
            f"{report.bad[0]:,} row{'s' * (report.bad[0] != 1)} cannot be used, such as: {report.bad[1]}",
            where=run.name,
            hint="leave bad rows of a run out with skip_bad=True (--skip-bad)",
        )
    if report.error:
        raise from_report(report.error)
    if not report.totals.get("in_run"):
        if not report.totals.get("documents"):
            raise InputError("the run has no results", where=run.name)
        raise InputError(
            f"no query of the run is judged: the run has query '{report.unjudged_example}', the "
            f"judgements have '{judged.example}'",
            where=run.name,
            hint="the two must use the same query ids; were the two swapped, or are they of two collections?",
        )


def _labelled(queries: Any, name: str, found: Recipe, has_bounds: bool) -> Any:
    """The rows under the names of the measures."""
    from pyspark.sql import functions as sql

    core = _of_the_core(found)
    columns = []
    for i, m in enumerate(core):
        columns.append(sql.col(f"v{i}").alias(m.label))
        if has_bounds:
            for j, bound in enumerate(("lower", "upper")):
                columns.append(sql.col(f"v{len(core) + 2 * i + j}").alias(f"{m.label}:{bound}"))
    return queries.select(sql.lit(name).alias("run"), "query", *columns)
