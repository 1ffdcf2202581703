"""Runs on a cluster, evaluated against judgments."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from goodgain.data.run import Run
from goodgain.engines.spark.failures import cluster_errors
from goodgain.engines.spark.frames import frame_of, id_kinds, provenance, same_kinds
from goodgain.engines.spark.jobs import Measured, Measurement
from goodgain.engines.spark.judgments import SMALL, Judgments, judgments_of
from goodgain.engines.spark.session import arrow_only, is_frame, require_partitions
from goodgain.engines.spark.values import SparkValues
from goodgain.errors import InputError, from_report
from goodgain.io.columns import columns_of
from goodgain.io.locations import holds_runs, run_name, runs_of
from goodgain.io.naming import is_place, is_url, unique_names
from goodgain.ranking.evaluator import by_aspect, several_runs
from goodgain.ranking.evaluator import recipe as recipe_of
from goodgain.ranking.result import Evaluation
from goodgain.ranking.scores import RunScores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.engines.spark.frames import Frame
    from goodgain.engines.spark.worker import Report
    from goodgain.ranking.evaluator import Measures
    from goodgain.ranking.policy import Policy


@dataclass(frozen=True)
class SparkEvaluation:
    """The result of `goodgain.evaluate`, and its values per query as a DataFrame.

    `per_query` has the columns run and query, and one column per measure (three with bounds), in the
    order of the judgments if there are few values; more are computed again when they are used, unless the
    call says keep=True: then they stay cached on the cluster until `release`.
    """

    evaluation: Evaluation
    measurement: Measurement
    measured: Measured

    @cached_property
    def per_query(self) -> Any:
        """A row per run and query."""
        return self._union(self.measured.tables)

    def _union(self, fetched: Mapping[int, Any]) -> Any:
        """The rows of all runs: those of `fetched` from the driver, the others from the cluster."""
        rows = None
        for number, name in enumerate(self.evaluation.names):
            if number in fetched:
                table = fetched[number].sort_by("place").drop_columns(["place"])
                with arrow_only():
                    frame = self.measurement.spark.createDataFrame(table)
            else:
                frame = self.measured.frames[number]
            columns = _measure_columns(frame, name, self.measurement)
            rows = columns if rows is None else rows.unionByName(columns)
        return rows

    def write(self, url: str) -> None:
        """Write `per_query` to a new folder as Parquet; what is on the cluster does not pass the driver."""
        on_cluster = self.measured.frames
        fetched = {n: t for n, t in self.measured.tables.items() if n not in on_cluster}
        with cluster_errors(url):
            self._union(fetched).write.parquet(url)

    def release(self) -> None:
        """Free what keep=True has cached on the cluster; values already fetched stay available."""
        self.measured.release()


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
    keep: bool = False,
    **policies: str,
) -> SparkEvaluation:
    """Evaluate runs against judgments; see `goodgain.spark.evaluate`."""
    require_partitions(partitions)
    chosen, recipe = recipe_of(measures, policy, preset, skip_bad, **policies)
    judgments = judgments_of(
        spark,
        qrels,
        columns_of("qrels", columns),
        small_qrels,
        aspects=by_aspect(recipe.measures),
        duplicates=chosen.duplicates,
    )
    listed = _runs_by_name(runs)
    frames = {}
    for number, (name, run) in enumerate(listed):
        kinds = id_kinds(run.source) if isinstance(run, Run) else None
        frame = frame_of(spark, _rows_of(run), "run", columns_of("run", columns), name, kinds)
        same_kinds(judgments.frame, frame)
        if not isinstance(runs, dict):
            _require_one_run(frame, run)
        frames[number] = frame
    measurement = Measurement(spark, recipe, partitions, keep)
    measured = measurement.run(frames, judgments)
    results: dict[str, RunScores] = {}
    for number, (name, run) in enumerate(listed):
        report = measured.reports[number]
        try:
            _check(report, frames[number], judgments, skip_bad)
        except InputError:
            measured.release()
            raise
        values = SparkValues(
            fetch=partial(measured.table, number),
            report=report,
            places=recipe.places,
            has_bounds=chosen.has_bounds,
            source=provenance(frames[number]),
            run_columns={column: getattr(run, column, None) for column in ("latency", "cost")},
        )
        results[name] = RunScores(name, recipe.measures, values)
    evaluation = Evaluation(
        runs=results,
        measures=recipe.measures,
        policy=chosen,
        qrels=judgments.source,
        preset=preset,
    )
    return SparkEvaluation(evaluation, measurement, measured)


def _runs_by_name(runs: Any) -> list[tuple[str, Any]]:
    """Pairs of name and run; DataFrames and URLs are not opened here."""
    if isinstance(runs, dict) and runs and all(map(_is_spark_source, runs.values())):
        return list(runs.items())
    listed = runs if isinstance(runs, list | tuple) else [runs]
    if listed and all(map(_is_spark_source, listed)):
        listed = [path for run in listed for path in _paths(run)]
        names = ["run" if is_frame(run) else run_name(os.fspath(run)) for run in listed]
        return list(zip(unique_names(names), listed, strict=True))
    return [(run.name, run) for run in several_runs(runs)]


def _paths(run: Any) -> list[Any]:
    """The run itself, or the paths of all runs in a folder or glob of this machine, by the local rules."""
    if is_frame(run) or is_url(path := os.fspath(run)) or not is_place(path):
        return [run]
    return list(runs_of(path))


def _require_one_run(frame: Frame, run: Any) -> None:
    """Refuse a URL whose files are a run each: as one table they would be a mixture."""
    if isinstance(run, str) and is_url(run) and holds_runs(run, frame.data.inputFiles()):
        raise InputError(
            f"the files of '{run}' are not parts of one table",
            hint=f"name each run, or say that it is one: NAME={run}, in Python {{'NAME': '{run}'}}",
        )


def _rows_of(run: Any) -> Any:
    """The rows of a local run."""
    if not isinstance(run, Run):
        return run
    if run.source.kind == "arrow" and run.only is None and not run.source.without_results:
        return run.source.value
    if run.source.kind == "rows":  # the tasks report bad ones, or skip them
        return run.source.value
    return list(zip(*run.rows(), strict=True))


def _is_spark_source(run: Any) -> bool:
    return is_frame(run) or isinstance(run, str | os.PathLike)


def _check(report: Report, run: Frame, judgments: Judgments, skip_bad: bool) -> None:
    """Raise the errors of the tasks, as the local engine would."""
    count, example = report.bad
    if count and not skip_bad:
        example = example.removesuffix(f" ({run.name})")
        raise InputError(
            f"{count:,} bad row{'s' * (count != 1)}, for example: {example}",
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


def _measure_columns(rows: Any, name: str, measurement: Measurement) -> Any:
    """The values per query, in columns named after the measures."""
    from pyspark.sql import functions as sql

    core = measurement.core_measures
    columns = []
    for i, m in enumerate(core):
        columns.append(sql.col(f"v{i}").alias(m.label))
        if measurement.width > len(core):
            for j, bound in enumerate(("lower", "upper")):
                columns.append(sql.col(f"v{len(core) + 2 * i + j}").alias(f"{m.label}:{bound}"))
    return rows.select(sql.lit(name).alias("run"), "query", *columns)
