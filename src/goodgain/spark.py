"""The toolkit on Apache Spark: takes DataFrames, returns DataFrames and the usual result objects.

Results are bit-identical to those of the local functions, because the kernels are the same.

>>> import goodgain.spark
>>> session = goodgain.spark.start("local[2]", {"spark.ui.enabled": "false"})
>>> qrels = session.createDataFrame([("q1", "a", 1)], ["query", "doc", "gain"])
>>> run = session.createDataFrame([("q1", "b", 2.0), ("q1", "a", 1.0)], ["query", "doc", "score"])
>>> result = goodgain.spark.evaluate(qrels, run, "RR")
>>> result.evaluation["RR"], [row["RR"] for row in result.per_query.collect()]
(0.5, [0.5])

`good_gain` takes conversations, and `label` pairs or conversations, in the same way (docs/spark.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.conversations import SparkGoodGain
from goodgain.engines.spark.conversations import good_gain as _good_gain
from goodgain.engines.spark.judgments import SMALL
from goodgain.engines.spark.labels import SparkLabels
from goodgain.engines.spark.labels import label as _label
from goodgain.engines.spark.runs import SparkEvaluation
from goodgain.engines.spark.runs import evaluate as _evaluate
from goodgain.engines.spark.session import session_of, start
from goodgain.ranking.evaluator import DEFAULT_MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.ranking import Policy
    from goodgain.ranking.evaluator import Measures

__all__ = [
    "SparkEvaluation",
    "SparkGoodGain",
    "SparkLabels",
    "evaluate",
    "good_gain",
    "label",
    "start",
]


def evaluate(
    qrels: Any,
    runs: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    policy: Policy | Mapping[str, str] | None = None,
    preset: str = "default",
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    partitions: int | None = None,
    small_qrels: int = SMALL,
    keep: bool = False,
    session: Any = None,
    **policies: str,
) -> SparkEvaluation:
    """Evaluate runs against judgments: `goodgain.evaluate` over DataFrames.

    Judgments and runs are DataFrames, paths and URLs that Spark can read, or anything the local function
    takes; several runs are a list, or a dictionary by name, evaluated in one job. Rows are shuffled once,
    packed by query, into at most `partitions` (by default Spark decides); a query is never split. Nothing
    stays cached on the cluster, unless `keep` asks for the values per query until `release`. Up to
    `small_qrels` judgments are sent to every executor, larger sets take part in the shuffle; where tasks
    read plain Parquet themselves, every process reads up to 2 million. Bad rows are an error, or with
    `skip_bad` skipped and counted.
    """
    return _evaluate(
        session or session_of(qrels, runs),
        qrels,
        runs,
        measures,
        policy=policy,
        preset=preset,
        columns=columns,
        skip_bad=skip_bad,
        partitions=partitions,
        small_qrels=small_qrels,
        keep=keep,
        **policies,
    )


def good_gain(
    traces: Any,
    *,
    column: str | None = None,
    keep: bool = False,
    session: Any = None,
    **options: Any,
) -> SparkGoodGain:
    """Measure the gain of each search of an agent: `goodgain.good_gain` over a DataFrame.

    Each conversation is one row: canonical JSON in a text column (name it with `column` if there are
    several), or nested columns `conversation` and `turns`. Rows are shuffled once, because the systems
    of a conversation share its known good results. `keep` is that of `evaluate`, `options` are those of
    `goodgain.good_gain`.
    `.per_iteration` is a DataFrame, `.good_gain` the local object, fetched on first use.
    """
    return _good_gain(session or session_of(traces), traces, column=column, keep=keep, **options)


def label(
    source: Any,
    judge: Any,
    store: Any = None,
    *,
    partitions: int | None = None,
    session: Any = None,
    **options: Any,
) -> SparkLabels:
    """Label pairs or traces with a judge: `goodgain.label` over a DataFrame.

    Pairs have columns such as query_id, doc_id, question and text; traces are as in `good_gain`. All
    pairs of a question are labelled in one partition. Each partition has a store of its own in
    `partition_folder` (by default next to `store`), merged into `store` on the driver. Pairs that are
    labelled already are skipped. `concurrency` applies to each partition; `budget` is divided among
    them. Keys for the judge come from the environment of the executors.
    """
    return _label(
        session or session_of(source), source, judge, store, partitions=partitions, **options
    )
