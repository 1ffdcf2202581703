"""Traces on a cluster: a conversation is a row, scored where it lies; nothing is shuffled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from goodgain.agentic.result import GoodGain
from goodgain.agentic.settings import Align, GainSettings
from goodgain.agentic.system import SystemGain
from goodgain.data.qrels import Qrels
from goodgain.engines.spark.broadcasts import ShippedQrels, stream_of
from goodgain.engines.spark.gain_worker import COUNTS, SCORED, GainJob, scored
from goodgain.engines.spark.session import arrow_only, is_frame, kept
from goodgain.errors import InputError, from_report
from goodgain.identity import Identity
from goodgain.io.naming import format_of, system_name
from goodgain.io.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS = ("conversation", "system", "turns", "metadata")
_TEXTS = ("trace", "json", "value", "conversation_json")


@dataclass(frozen=True)
class Gained:
    """Good Gain on the cluster, and as one object once it is asked for.

    `per_iteration` has the columns system, conversation, iteration, and one for each measure, where
    labels are missing three; it is kept on the cluster until `release`.
    """

    per_iteration: Any
    held: Any
    settings: GainSettings
    inputs: list[tuple[str, Source]]
    facts: dict[str, Any]
    bounded: bool
    default: str

    @cached_property
    def good_gain(self) -> GoodGain:
        """The same object as `goodgain.good_gain` gives: fetches 312 bytes an iteration."""
        return GoodGain(
            systems=list(self._systems()),
            settings=self.settings,
            inputs=self.inputs,
            facts=self.facts,
        )

    def _systems(self) -> Iterator[SystemGain]:
        import numpy as np
        import pyarrow.compute as pc

        from goodgain._core import gain_columns

        columns = gain_columns()
        with arrow_only():
            rows = self.held.where("report is null").drop("report").toArrow()
        rows = rows.sort_by([("place", "ascending"), ("iteration", "ascending")])
        named = pc.if_else(pc.equal(rows.column("system"), ""), self.default, rows.column("system"))
        for name in pc.unique(named).to_pylist():
            own = rows.filter(pc.equal(named, name))
            iterations = own.column("iteration").to_numpy()
            begins = np.flatnonzero(iterations <= 1)
            counts = np.diff(np.append(begins, len(iterations)))
            lengths = np.where(iterations[begins] == 0, 0, counts)
            matrices = {
                which: pc.list_flatten(own.column(which)).to_numpy().reshape(-1, len(columns))
                for which in (("value", "lower", "upper") if self.bounded else ("value",))
            }
            yield SystemGain(
                name=name,
                conversations=own.column("conversation").take(begins).to_pylist(),
                first_row=np.concatenate([[0], np.cumsum(lengths)]),
                columns=columns,
                values=matrices["value"],
                lower=matrices.get("lower"),
                upper=matrices.get("upper"),
            )

    def release(self) -> None:
        """Let the cluster forget the rows; what was fetched of them stays."""
        self.held.unpersist()


def good_gain(
    spark: Any,
    traces: Any,
    *,
    labels: Any = None,
    threshold: float = 2,
    max_gain: float = 4,
    gain: Literal["linear", "exp"] = "linear",
    discount: str = "log2",
    patience: float = 0.8,
    turn: Literal["last", "all"] | int = "last",
    align: Align = "active",
    identity: Any = None,
    skip_bad: bool = False,
    column: str | None = None,
    **reading: Any,
) -> Gained:
    """Score traces; see `goodgain.spark.good_gain`. `reading` says how files of other formats are read."""
    rules = Identity.of(identity)
    settings = GainSettings(
        threshold=threshold,
        max_gain=max_gain,
        gain=gain,
        discount=discount,
        patience=patience,
        turn=turn,
        align=align,
        unit=rules.unit,
    )
    lines, name, default = conversations(spark, traces, column, **reading)
    judged = _labels(labels)
    job = GainJob(rules, settings, _shipped(judged), name)
    with arrow_only():
        held = kept(spark, lines.mapInArrow(lambda batches: scored(batches, job), SCORED))
    facts, bounded = _facts(held, name, skip_bad)
    inputs = [("traces", Source("rows", None, default))]
    if judged is not None:
        inputs.append(("labels", judged.source))
    return Gained(_named(held, bounded, default), held, settings, inputs, facts, bounded, default)


def conversations(
    spark: Any, traces: Any, column: str | None = None, **reading: Any
) -> tuple[Any, str, str]:
    """One column of JSON lines; the name of the traces, and that of a system without one."""
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
        return _from_here(spark, traces, **reading)
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


def _from_here(spark: Any, traces: Any, **reading: Any) -> tuple[Any, str, str]:
    """Files in any known format and objects are read on the driver, as the local engine does."""
    import pyarrow as pa

    from goodgain.agentic.scorer import canonical_lines

    lines, name, default = canonical_lines(traces, **reading)
    table = pa.table({"line": pa.array([line.decode("utf-8", "replace") + "\n" for line in lines])})
    with arrow_only():
        return spark.createDataFrame(table), name, default


def _json_column(data: Any, column: str | None, name: str) -> Any:
    """The column that holds JSON, or the nested columns of the canonical form made into it."""
    from pyspark.sql import functions as sql

    types = dict(data.dtypes)
    if column is None and {"conversation", "turns"} <= set(types):
        if types["turns"] == "string":
            raise InputError("the column 'turns' is text, not a list of turns", where=name)
        fields = [sql.col(f"`{f}`") for f in _FIELDS if f in types]
        return sql.to_json(sql.struct(*fields))
    texts = [c for c, kind in types.items() if kind == "string"]
    if column is None:
        usual = [c for c in texts if c in _TEXTS] or texts
        if len(usual) != 1:
            raise InputError(
                "it is not clear which column holds the conversations",
                where=name,
                hint=f"column=NAME, one of: {', '.join(texts) or 'none is text'}; or the nested "
                "columns conversation and turns",
            )
        column = usual[0]
    if types.get(column) != "string":
        raise InputError(
            f"there is no column '{column}' of text",
            where=name,
            hint=f"there is: {', '.join(types)}",
        )
    return sql.col(f"`{column}`")


def _labels(labels: Any) -> Qrels | None:
    """Labels in any form; those of a DataFrame are fetched, as they go to every executor."""
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


def _facts(held: Any, name: str, skip_bad: bool) -> tuple[dict[str, Any], bool]:
    """What all tasks counted together; bad conversations are an error, unless they may be skipped."""
    facts: dict[str, Any] = {**dict.fromkeys(COUNTS, 0), "skipped_examples": [], "notes": []}
    bounded = False
    for row in held.where("report is not null").select("report").collect():
        report = json.loads(row.report)
        if "error" in report:
            raise from_report(tuple(report["error"]))
        for count in COUNTS:
            facts[count] += report[count]
        bounded |= report["bounded"]
        facts["skipped_examples"] = [*facts["skipped_examples"], *report["examples"]][:3]
    if facts["skipped"] and not skip_bad:
        raise InputError(
            f"{facts['skipped']:,} conversation{'s' * (facts['skipped'] != 1)} cannot be used, such as: "
            f"{facts['skipped_examples'][0]}",
            where=name,
            hint="leave bad conversations out with skip_bad=True (--skip-bad)",
        )
    return facts, bounded


def _named(held: Any, bounded: bool, default: str) -> Any:
    """The rows under the names of the measures."""
    from pyspark.sql import functions as sql

    from goodgain._core import gain_columns

    columns = []
    for i, measure in enumerate(gain_columns()):
        columns.append(sql.col("value")[i].alias(measure))
        if bounded:
            columns += [sql.col(b)[i].alias(f"{measure}:{b}") for b in ("lower", "upper")]
    system = sql.when(sql.col("system") == "", default).otherwise(sql.col("system")).alias("system")
    return held.where("report is null and iteration > 0").select(
        system, "conversation", "iteration", *columns
    )
