"""Traces on a cluster: each run is one row; one shuffle brings the runs of a conversation together."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from goodgain.agentic.evidence import FUNNEL, EvidenceTable
from goodgain.agentic.ledgers import ledger_of
from goodgain.agentic.result import GoodGain
from goodgain.agentic.runs import COUNTED, Runs
from goodgain.agentic.settings import GainSettings
from goodgain.agentic.system import SystemGain
from goodgain.data.qrels import Qrels
from goodgain.engines.spark.broadcasts import ShippedQrels, stream_of
from goodgain.engines.spark.digests import DIGEST, same_digest
from goodgain.engines.spark.failures import cluster_errors, same_version
from goodgain.engines.spark.frames import current, read
from goodgain.engines.spark.gain_worker import KEYED, SCORED, GainJob, keyed, row_digest, scored
from goodgain.engines.spark.session import arrow_only, fresh_reader, is_frame, shuffle_partitions
from goodgain.errors import GoodgainError, InputError, UsageError, from_report, keyword_hint
from goodgain.identity import Identity
from goodgain.io.naming import format_of, system_name
from goodgain.io.sources import Source
from goodgain.traces.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FIELDS = ("conversation", "system", "repeat", "turns", "metadata")
_JSON_COLUMNS = ("trace", "json", "value", "conversation_json")
_SETTINGS = {field.name for field in fields(GainSettings)} - {"unit"}
_FETCHED = 100_000  # iterations that are fetched at once; more stay where they are
_READING = {"by", "format", "search_tools"}  # options for files in other trace formats


@dataclass(frozen=True, kw_only=True)
class SparkGoodGain:
    """Good Gain on the cluster, and on demand as a local object.

    `per_iteration` has the columns system, conversation, repeat and iteration, and one column per
    measure (three where labels are missing or searches unread), in the order of the traces if there are
    few; more are computed again when they are used, unless the call says keep=True: then they stay cached
    on the cluster until `release`. A conversation without a search has iteration 0.
    """

    scored: Scored
    settings: GainSettings
    inputs: list[tuple[str, Source]]
    facts: dict[str, Any]
    ledger: Ledger
    bounded: bool
    default: str

    @cached_property
    def per_iteration(self) -> Any:
        """A row per iteration."""
        return _measure_columns(self.scored.frame(), self.bounded, self.default)

    @cached_property
    def good_gain(self) -> GoodGain:
        """The result of `goodgain.good_gain`; fetches some 400 bytes per iteration."""
        return GoodGain(
            systems=list(self._systems()),
            settings=self.settings,
            inputs=self.inputs,
            facts=self.facts,
            ledgers={self.inputs[0][1].name: self.ledger},
        )

    def _systems(self) -> Iterator[SystemGain]:
        import numpy as np
        import pyarrow.compute as pc

        from goodgain._core import gain_columns

        columns = gain_columns()
        rows = self.scored.table()
        named = pc.if_else(pc.equal(rows.column("system"), ""), self.default, rows.column("system"))
        for name in pc.unique(named).to_pylist():
            own = rows.filter(pc.equal(named, name))
            iterations = own.column("iteration").to_numpy()
            begins = np.flatnonzero(iterations <= 1)
            rows_of_runs = np.diff(np.append(begins, len(iterations)))
            first = own.take(begins)
            counted = pc.list_flatten(first.column("counted")).to_numpy()
            funnel = pc.list_flatten(first.column("funnel")).to_numpy()
            evidence = [json.loads(text) for text in first.column("evidence").to_pylist()]
            matrices = {
                which: pc.list_flatten(own.column(which)).to_numpy().reshape(-1, len(columns))
                for which in (("value", "lower", "upper") if self.bounded else ("value",))
            }
            yield SystemGain(
                name=name,
                runs=Runs.of(
                    name,
                    first.column("conversation").to_pylist(),
                    first.column("repeat").to_pylist(),
                    np.where(iterations[begins] == 0, 0, rows_of_runs),
                    counted.reshape(-1, len(COUNTED)),
                ),
                columns=columns,
                values=matrices["value"],
                evidence=EvidenceTable(funnel.reshape(-1, len(FUNNEL)), evidence),
                lower=matrices.get("lower"),
                upper=matrices.get("upper"),
            )

    def release(self) -> None:
        """Free what keep=True has cached on the cluster; values already fetched stay available."""
        self.scored.release()


def good_gain(
    spark: Any,
    traces: Any,
    *,
    labels: Any = None,
    identity: Any = None,
    skip_bad: bool = False,
    column: str | None = None,
    keep: bool = False,
    **options: Any,
) -> SparkGoodGain:
    """Score traces; see `goodgain.spark.good_gain`."""
    for option in options.keys() - _SETTINGS - _READING:
        raise UsageError(
            f"good_gain() has no parameter '{option}'",
            hint=keyword_hint(option, sorted(_SETTINGS | _READING)),
        )
    rules = Identity.of(identity)
    counting = {name: value for name, value in options.items() if name in _SETTINGS}
    reading = {name: value for name, value in options.items() if name in _READING}
    settings = GainSettings(**counting, unit=rules.unit)
    lines, name, default = conversations(spark, traces, column, **reading)
    qrels = _labels(labels)
    job = GainJob(rules, settings, _shipped(qrels), name, uuid4().hex)
    rows = Scored(spark, partial(_scored_rows, lines, job), keep)
    reports = rows.run(name)
    try:
        facts, ledger, bounded = _facts(reports, name, skip_bad)
    except GoodgainError:
        rows.release()
        raise
    inputs = [("traces", Source("rows", None, default))]
    if qrels is not None:
        inputs.append(("labels", qrels.source))
    return SparkGoodGain(
        scored=rows,
        settings=settings,
        inputs=inputs,
        facts=facts,
        ledger=ledger,
        bounded=bounded,
        default=default,
    )


def _scored_rows(lines: Any, job: GainJob) -> Any:
    """A row per iteration, and a report per task."""
    with arrow_only():
        by_conversation = (
            lines.mapInArrow(same_version(keyed), KEYED)
            .repartition("conversation")
            .sortWithinPartitions("conversation", "place")
        )
        return by_conversation.mapInArrow(
            same_version(lambda batches: scored(batches, job)), SCORED
        )


class Scored:
    """The scored rows: fetched if there are few, cached if that was asked for, or computed again."""

    def __init__(self, spark: Any, build: Callable[[], Any], keep: bool) -> None:
        self.spark, self._build, self._keep = spark, build, keep
        self._cached: Any = None
        self._table: Any = None
        self._digests: list[int] = []

    def run(self, name: str) -> list[dict[str, Any]]:
        """Score everything; the reports of the tasks."""
        with shuffle_partitions(self.spark, None), arrow_only(), cluster_errors(name):
            self._cached = self._build().persist()
            try:
                listed = self._cached.where("report is not null").select("report").collect()
                reports = [json.loads(row.report) for row in listed]
                self._digests = [report[DIGEST] for report in reports]
                if sum(report["rows"] for report in reports) <= _FETCHED:
                    self._table = _sorted_rows(self._cached)
            finally:
                if not self._keep:
                    self.release()
        return reports

    def frame(self) -> Any:
        """The rows as a DataFrame."""
        if self._table is not None:
            with arrow_only():
                return self.spark.createDataFrame(self._table)
        rows = self._build() if self._cached is None else self._cached
        return rows.where("report is null").drop("report")

    def table(self) -> Any:
        """The rows on the driver, in the order of the traces."""
        if self._table is None:
            with arrow_only(), cluster_errors():
                rows = _sorted_rows(self._build() if self._cached is None else self._cached)
            if not same_digest(self._digests, row_digest(rows)):
                raise InputError(
                    "the traces have changed since they were scored",
                    hint="keep=True keeps the values per iteration on the cluster",
                )
            self._table = rows
        return self._table

    def release(self) -> None:
        """Free the cached rows."""
        if self._cached is not None:
            self._cached.unpersist()
            self._cached = None


def _sorted_rows(rows: Any) -> Any:
    table = rows.where("report is null").drop("report").toArrow()
    return table.sort_by([("place", "ascending"), ("iteration", "ascending")])


def conversations(
    spark: Any, traces: Any, column: str | None = None, **reading: Any
) -> tuple[Any, str, str]:
    """A DataFrame of JSON lines, the name of the traces, and the default name of a system."""
    from pyspark.sql import functions as sql

    name = default = "traces"
    if is_frame(traces):
        data, default = current(traces, name), "agent"
    elif isinstance(traces, str) and _is_lines(traces):
        with cluster_errors(traces):
            data, name = fresh_reader(spark).text(traces, lineSep="\n"), traces
        default = system_name(traces)
    elif isinstance(traces, str) and ":" in traces:
        data, name, default = read(spark, traces)[0], traces, "agent"
    else:
        return _from_driver(spark, traces, **reading)
    text = _json_column(data, column, name)
    # A missing conversation is a bad one, not an empty line.
    line = sql.coalesce(text, sql.lit("null")).cast("binary").alias("line")
    return data.select(line), name, default


def _is_lines(path: str) -> bool:
    return ":" in path and format_of(path) == "jsonl"


def _from_driver(spark: Any, traces: Any, **reading: Any) -> tuple[Any, str, str]:
    """Read objects and files of any trace format on the driver, like the local engine."""
    import pyarrow as pa

    from goodgain.agentic.scorer import canonical_lines

    lines, name, default = canonical_lines(traces, **reading)
    table = pa.table({"line": pa.array(lines, pa.binary())})
    with arrow_only():
        return spark.createDataFrame(table), name, default


def _json_column(data: Any, column: str | None, name: str) -> Any:
    """The column that holds JSON, or one built from the nested columns of the canonical form."""
    from pyspark.sql import functions as sql

    types = dict(data.dtypes)
    if column is None and {"conversation", "turns"} <= set(types):
        if types["turns"] == "string":
            raise InputError("column 'turns' must be a list of turns, got text", where=name)
        fields = [sql.col(f"`{f}`") for f in _FIELDS if f in types]
        return sql.to_json(sql.struct(*fields))
    texts = [c for c, kind in types.items() if kind == "string"]
    if column is None:
        usual = [c for c in texts if c in _JSON_COLUMNS] or texts
        if len(usual) != 1:
            raise InputError(
                "ambiguous column of conversations",
                where=name,
                hint=f"set column= to one of: {', '.join(texts) or '(no text column)'}; or use nested "
                "columns conversation and turns",
            )
        column = usual[0]
    if types.get(column) != "string":
        raise InputError(
            f"text column '{column}' not found",
            where=name,
            hint=f"available columns: {', '.join(types)}",
        )
    return sql.col(f"`{column}`")


def _labels(labels: Any) -> Qrels | None:
    """Labels in any form; a DataFrame is fetched, because labels go to every executor."""
    if labels is None:
        return None
    with arrow_only(), cluster_errors("labels"):
        table = labels.toArrow() if is_frame(labels) else labels
    return Qrels.of(table)


def _shipped(labels: Qrels | None) -> ShippedQrels | None:
    import pyarrow as pa

    from goodgain.io.rows import rows_of

    if labels is None:
        return None
    rows = rows_of(labels.source, "qrels")
    table = pa.table({"query": rows.query, "doc": rows.doc, "gain": rows.value})
    return ShippedQrels.of(
        [stream_of(table)], {"query": "query", "doc": "doc", "value": "gain"}, labels.name
    )


def _facts(
    reports: list[dict[str, Any]], source: str, skip_bad: bool
) -> tuple[dict[str, Any], Ledger, bool]:
    """The counts and the ledger of all tasks; bad conversations are an error unless they may be skipped."""
    facts: dict[str, Any] = {"skipped": 0, "skipped_examples": [], "notes": []}
    ledger, bounded = Ledger(), False
    for report in reports:
        if "error" in report:
            raise from_report(tuple(report["error"]))
        for name, count in report["totals"].items():
            facts[name] = facts.get(name, 0) + count
        bounded |= report["bounded"]
        for calls, by_format, skipped in report["ledgers"]:
            ledger.merge(ledger_of(calls, by_format, skipped))
        facts["skipped_examples"] = [*facts["skipped_examples"], *report["examples"]][:3]
    if facts["skipped"] and not skip_bad:
        raise InputError(
            f"{facts['skipped']:,} bad conversation{'s' * (facts['skipped'] != 1)}, for example: "
            f"{facts['skipped_examples'][0]}",
            where=source,
            hint="skip bad conversations with skip_bad=True (--skip-bad)",
        )
    return facts, ledger, bounded


def _measure_columns(rows: Any, bounded: bool, default: str) -> Any:
    """The values per iteration, in columns named after the measures."""
    from pyspark.sql import functions as sql

    from goodgain._core import gain_columns

    columns = []
    for i, measure in enumerate(gain_columns()):
        columns.append(sql.col("value")[i].alias(measure))
        if bounded:
            columns += [sql.col(b)[i].alias(f"{measure}:{b}") for b in ("lower", "upper")]
    system = sql.when(sql.col("system") == "", default).otherwise(sql.col("system")).alias("system")
    return rows.select(system, "conversation", "repeat", "iteration", *columns)
