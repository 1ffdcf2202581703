"""Runs on a cluster: rows are packed where they are read and joined by query in one shuffle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.data.run import Run
from goodgain.engines.spark.frames import frame_of, id_kinds, pieces_of, provenance, same_kinds
from goodgain.engines.spark.judgments import SMALL, Judgments, judgments_of
from goodgain.engines.spark.session import arrow_only, is_frame, persisted
from goodgain.engines.spark.values import SparkValues
from goodgain.engines.spark.worker import UNREAD, Job, Report, measured, measured_schema
from goodgain.errors import InputError, from_report
from goodgain.io.columns import columns_of
from goodgain.io.naming import system_name, unique_names
from goodgain.ranking.evaluator import by_aspect, several_runs
from goodgain.ranking.evaluator import recipe as recipe_of
from goodgain.ranking.result import Evaluation
from goodgain.ranking.scores import RunScores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.engines.spark.broadcasts import ShippedQrels
    from goodgain.engines.spark.frames import Frame
    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Measures, Recipe
    from goodgain.ranking.policy import Policy


class SparkEvaluation(NamedTuple):
    """The result of `goodgain.evaluate`, and its values per query as a DataFrame.

    `per_query` has the columns run and query, and one column per measure (three with bounds); it stays
    cached on the cluster until `release`.
    """

    evaluation: Evaluation
    per_query: Any
    cached: tuple[Any, ...]

    def release(self) -> None:
        """Free the cached rows on the cluster; values already fetched stay available."""
        for frame in self.cached:
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
) -> SparkEvaluation:
    """Evaluate runs against judgments; see `goodgain.spark.evaluate`."""
    chosen, recipe = recipe_of(measures, policy, preset, skip_bad, **policies)
    judgments = judgments_of(
        spark,
        qrels,
        columns_of("qrels", columns),
        small_qrels,
        aspects=by_aspect(recipe.measures),
        duplicates=chosen.duplicates,
    )
    results: dict[str, RunScores] = {}
    frames, cached = [], []
    for name, run in _runs_by_name(runs):
        kinds = id_kinds(run.source) if isinstance(run, Run) else None
        frame = frame_of(spark, _rows_of(run), "run", columns_of("run", columns), name, kinds)
        same_kinds(judgments.frame, frame)
        rows, report = _measure(spark, frame, judgments, recipe, partitions)
        cached.append(rows)
        _check(report, frame, judgments, skip_bad)
        queries = rows.where("query is not null").drop("report")
        values = SparkValues(
            frame=queries,
            report=report,
            places=recipe.places,
            has_bounds=chosen.has_bounds,
            source=provenance(frame),
            run_columns={column: getattr(run, column, None) for column in ("latency", "cost")},
        )
        results[name] = RunScores(name, recipe.measures, values)
        frames.append(_measure_columns(queries, name, recipe, chosen.has_bounds))
    evaluation = Evaluation(
        runs=results,
        measures=recipe.measures,
        policy=chosen,
        qrels=judgments.source,
        preset=preset,
    )
    per_query = frames[0]
    for more in frames[1:]:
        per_query = per_query.unionByName(more)
    return SparkEvaluation(evaluation, per_query, tuple(cached))


def _runs_by_name(runs: Any) -> list[tuple[str, Any]]:
    """Pairs of name and run; DataFrames and URLs are not opened here."""
    if isinstance(runs, dict) and runs and all(map(_is_spark_source, runs.values())):
        return list(runs.items())
    listed = runs if isinstance(runs, list | tuple) else [runs]
    if listed and all(map(_is_spark_source, listed)):
        names = ["run" if is_frame(run) else system_name(run) for run in listed]
        return list(zip(unique_names(names), listed, strict=True))
    return [(run.name, run) for run in several_runs(runs)]


def _rows_of(run: Any) -> Any:
    """The rows of a local run."""
    if not isinstance(run, Run):
        return run
    return run.source.value if run.source.kind == "arrow" else list(zip(*run.rows(), strict=True))


def _is_spark_source(run: Any) -> bool:
    return is_frame(run) or isinstance(run, str | os.PathLike)


def _measure(
    spark: Any, run: Frame, judgments: Judgments, recipe: Recipe, partitions: int | None
) -> tuple[Any, Report]:
    """A row per judged query, cached on the cluster, and the sum of the tasks' reports.

    Tasks that read files themselves first try to measure contiguous queries on the spot. If the rows of a
    query turn out to be scattered, or only Spark can read a file, everything is read again and shuffled.
    """
    scattered = False
    while True:
        qrels = judgments.shipped if run.files else judgments.small
        job = _job(run, judgments, recipe, qrels)
        here = job if run.files and qrels and not scattered else None
        pieces = pieces_of(run, is_run=True, here=here).union(judgments.pieces)
        rows = persisted(spark, _joined(pieces, job, partitions))
        report = _total_report(rows)
        if not report.retry:
            return rows, report
        rows.unpersist()
        scattered = True
        if report.retry == UNREAD:
            run, judgments = run.read_by_spark(), judgments.read_by_spark()


def _job(run: Frame, judgments: Judgments, recipe: Recipe, qrels: ShippedQrels | None) -> Job:
    return Job(
        request=recipe.request.by_rank() if run.by_rank else recipe.request,
        name=run.name,
        width=_width(recipe),
        skips_missing=recipe.missing == "skip",
        logarithms=_geometric(recipe),
        qrels=qrels,
        facts=None if qrels else judgments.facts.for_tasks,
    )


def _joined(pieces: Any, job: Job, partitions: int | None) -> Any:
    """Shuffle once, by query, so that no query is split."""
    by_query = pieces.repartition(*(() if partitions is None else (partitions,)), "query")
    ordered = by_query.sortWithinPartitions("query", "kind", "place")
    with arrow_only():
        return ordered.mapInArrow(
            lambda batches: measured(batches, job), measured_schema(job.width)
        )


def _width(recipe: Recipe) -> int:
    """The number of values per query: one per measure of the core, three with bounds."""
    has_bounds = "bounds" in (recipe.request.policy["ties"], recipe.request.policy["unjudged"])
    return len(_core_measures(recipe)) * (3 if has_bounds else 1)


def _core_measures(recipe: Recipe) -> list[Measure]:
    return [m for m in recipe.measures if m.definition.column is None]


def _geometric(recipe: Recipe) -> frozenset[int]:
    """The columns of values whose logarithms are summed."""
    measures = len(_core_measures(recipe))
    places = [
        place
        for m in recipe.measures
        if m.definition.aggregate == "geometric"
        and isinstance(place := recipe.places[m.label], int)
    ]
    bounds = (
        [measures + 2 * p + i for p in places for i in (0, 1)] if _width(recipe) > measures else []
    )
    return frozenset((*places, *bounds))


def _total_report(rows: Any) -> Report:
    """The sum of the reports of all tasks."""
    report = Report()
    for row in rows.where("report is not null").select("report").collect():
        report.join(Report.from_json(row.report))
    return report


def _check(report: Report, run: Frame, judgments: Judgments, skip_bad: bool) -> None:
    """Raise the errors of the tasks, as the local engine would."""
    if report.bad[0] and not skip_bad:
        raise InputError(
            f"{report.bad[0]:,} bad row{'s' * (report.bad[0] != 1)}, for example: {report.bad[1]}",
            where=run.name,
            hint="skip bad rows of a run with skip_bad=True (--skip-bad)",
        )
    if report.error:
        raise from_report(report.error)
    if not report.totals.get("in_run"):
        if not report.totals.get("documents"):
            raise InputError("the run is empty", where=run.name)
        raise InputError(
            f"no query of the run is judged: the run has query '{report.unjudged_example}', the "
            f"judgments have '{judgments.example}'",
            where=run.name,
            hint="both must use the same query ids; were they swapped, "
            "or are they from different collections?",
        )


def _measure_columns(queries: Any, name: str, recipe: Recipe, has_bounds: bool) -> Any:
    """The values per query, in columns named after the measures."""
    from pyspark.sql import functions as sql

    core = _core_measures(recipe)
    columns = []
    for i, m in enumerate(core):
        columns.append(sql.col(f"v{i}").alias(m.label))
        if has_bounds:
            for j, bound in enumerate(("lower", "upper")):
                columns.append(sql.col(f"v{len(core) + 2 * i + j}").alias(f"{m.label}:{bound}"))
    return queries.select(sql.lit(name).alias("run"), "query", *columns)
