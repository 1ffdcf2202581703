"""Traces on a cluster: each run is one row; one shuffle brings the runs of a conversation together."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.agentic.evidence import FUNNEL, EvidenceTable
from goodgain.agentic.ledgers import ledger_of
from goodgain.agentic.result import GoodGain
from goodgain.agentic.runs import COUNTED, Runs
from goodgain.agentic.settings import GainSettings
from goodgain.agentic.system import SystemGain
from goodgain.data.qrels import Qrels
from goodgain.engines.spark.broadcasts import ShippedQrels, stream_of
from goodgain.engines.spark.gain_worker import KEYED, SCORED, GainJob, keyed, scored
from goodgain.engines.spark.session import arrow_only, is_frame, persisted
from goodgain.errors import InputError, UsageError, from_report, keyword_hint
from goodgain.identity import Identity
from goodgain.io.naming import format_of, system_name
from goodgain.io.sources import Source
from goodgain.traces.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS = ("conversation", "system", "repeat", "turns", "metadata")
_JSON_COLUMNS = ("trace", "json", "value", "conversation_json")
_SETTINGS = {field.name for field in fields(GainSettings)} - {"unit"}
_READING = {"by", "format", "search_tools"}  # options for files in other trace formats


@dataclass(frozen=True, kw_only=True)
class SparkGoodGain:
    """Good Gain on the cluster, and on demand as a local object.

    `per_iteration` has the columns system, conversation, repeat and iteration, and one column per
    measure (three where labels are missing or searches unread); it stays cached on the cluster until
    `release`. A conversation without a search has iteration 0.
    """

    per_iteration: Any
    cached: Any
    settings: GainSettings
    inputs: list[tuple[str, Source]]
    facts: dict[str, Any]
    ledger: Ledger
    bounded: bool
    default: str

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
        with arrow_only():
            rows = self.cached.where("report is null").drop("report").toArrow()
        rows = rows.sort_by([("place", "ascending"), ("iteration", "ascending")])
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
        """Free the cached rows on the cluster; values already fetched stay available."""
        self.cached.unpersist()


def good_gain(
    spark: Any,
    traces: Any,
    *,
    labels: Any = None,
    identity: Any = None,
    skip_bad: bool = False,
    column: str | None = None,
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
    job = GainJob(rules, settings, _shipped(qrels), name)
    with arrow_only():
        by_conversation = (
            lines.mapInArrow(keyed, KEYED)
            .repartition("conversation")
            .sortWithinPartitions("conversation", "place")
        )
        cached = persisted(
            spark, by_conversation.mapInArrow(lambda batches: scored(batches, job), SCORED)
        )
    facts, ledger, bounded = _facts(cached, name, skip_bad)
    inputs = [("traces", Source("rows", None, default))]
    if qrels is not None:
        inputs.append(("labels", qrels.source))
    return SparkGoodGain(
        per_iteration=_measure_columns(cached, bounded, default),
        cached=cached,
        settings=settings,
        inputs=inputs,
        facts=facts,
        ledger=ledger,
        bounded=bounded,
        default=default,
    )


def conversations(
    spark: Any, traces: Any, column: str | None = None, **reading: Any
) -> tuple[Any, str, str]:
    """A DataFrame of JSON lines, the name of the traces, and the default name of a system."""
    from pyspark.sql import functions as sql

    name = default = "traces"
    if is_frame(traces):
        data, default = traces, "agent"
    elif isinstance(traces, str) and _is_lines(traces):
        data, name = spark.read.text(traces), traces
        default = system_name(traces)
    elif isinstance(traces, str) and ":" in traces:
        from goodgain.engines.spark.frames import read

        data, name, default = read(spark, traces, "run"), traces, "agent"
    else:
        return _from_driver(spark, traces, **reading)
    text = _json_column(data, column, name)
    return (
        data.select(
            sql.concat(sql.translate(text, "\r\n", "  "), sql.lit("\n")).alias("line")
        ).where(sql.trim(text) != ""),
        name,
        default,
    )


def _is_lines(path: str) -> bool:
    return ":" in path and format_of(path) == "jsonl"


def _from_driver(spark: Any, traces: Any, **reading: Any) -> tuple[Any, str, str]:
    """Read objects and files of any trace format on the driver, like the local engine."""
    import pyarrow as pa

    from goodgain.agentic.scorer import canonical_lines

    lines, name, default = canonical_lines(traces, **reading)
    table = pa.table({"line": pa.array([line.decode("utf-8", "replace") + "\n" for line in lines])})
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
    with arrow_only():
        return Qrels.of(labels.toArrow() if is_frame(labels) else labels)


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


def _facts(cached: Any, source: str, skip_bad: bool) -> tuple[dict[str, Any], Ledger, bool]:
    """The counts and the ledger of all tasks; bad conversations are an error unless they may be skipped."""
    facts: dict[str, Any] = {"skipped": 0, "skipped_examples": [], "notes": []}
    ledger, bounded = Ledger(), False
    for row in cached.where("report is not null").select("report").collect():
        report = json.loads(row.report)
        if "error" in report:
            raise from_report(tuple(report["error"]))
        for name, count in report["totals"].items():
            facts[name] = facts.get(name, 0) + count
        bounded |= report["bounded"]
        for calls, read, skipped in report["ledgers"]:
            ledger.merge(ledger_of(calls, read, skipped))
        facts["skipped_examples"] = [*facts["skipped_examples"], *report["examples"]][:3]
    if facts["skipped"] and not skip_bad:
        raise InputError(
            f"{facts['skipped']:,} bad conversation{'s' * (facts['skipped'] != 1)}, for example: "
            f"{facts['skipped_examples'][0]}",
            where=source,
            hint="skip bad conversations with skip_bad=True (--skip-bad)",
        )
    return facts, ledger, bounded


def _measure_columns(cached: Any, bounded: bool, default: str) -> Any:
    """The values per iteration, in columns named after the measures."""
    from pyspark.sql import functions as sql

    from goodgain._core import gain_columns

    columns = []
    for i, measure in enumerate(gain_columns()):
        columns.append(sql.col("value")[i].alias(measure))
        if bounded:
            columns += [sql.col(b)[i].alias(f"{measure}:{b}") for b in ("lower", "upper")]
    system = sql.when(sql.col("system") == "", default).otherwise(sql.col("system")).alias("system")
    return cached.where("report is null").select(
        system, "conversation", "repeat", "iteration", *columns
    )
