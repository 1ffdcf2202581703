"""The toolkit on Apache Spark: DataFrames in, DataFrames and the same results out.

    evaluation, per_query, _ = goodgain.spark.evaluate(qrels_df, run_df, "nDCG@10 AP")

The kernels are those of the local functions, and so are the results, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.conversations import Gained
from goodgain.engines.spark.conversations import good_gain as _good_gain
from goodgain.engines.spark.judgments import SMALL
from goodgain.engines.spark.labels import Labelled
from goodgain.engines.spark.labels import label as _label
from goodgain.engines.spark.runs import Evaluated
from goodgain.engines.spark.runs import evaluate as _evaluate
from goodgain.engines.spark.session import start
from goodgain.ranking.evaluator import DEFAULT_MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.ranking import Policy
    from goodgain.ranking.evaluator import Measures

__all__ = ["Evaluated", "Gained", "Labelled", "evaluate", "good_gain", "label", "start"]


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
    session: Any = None,
    **policies: str,
) -> Evaluated:
    """Measure runs against judgements: `goodgain.evaluate` over DataFrames.

    Judgements and runs are DataFrames, paths and URLs that Spark reads, or anything of this machine;
    several runs are a list, or a dictionary from their names. Rows move once, packed by query, into
    `partitions` (Spark's own choice where none is given); a query is never split. Judgements of up to
    `small_qrels` rows go to every executor, more of them meet their queries in the same shuffle; where
    tasks read plain Parquet themselves, every process reads up to 2 million. Bad rows of all partitions
    are counted and an error, or with `skip_bad` left out.
    """
    return _evaluate(
        session or start(),
        qrels,
        runs,
        measures,
        policy=policy,
        preset=preset,
        columns=columns,
        skip_bad=skip_bad,
        partitions=partitions,
        small_qrels=small_qrels,
        **policies,
    )


def good_gain(
    traces: Any, *, column: str | None = None, session: Any = None, **options: Any
) -> Gained:
    """Measure what each search of an agent was worth: `goodgain.good_gain` over a DataFrame.

    A conversation is a row: canonical JSON in one column of text (`column` where there are several),
    or the same nested, with columns `conversation` and `turns`. Nothing is shuffled. `options` are
    those of `goodgain.good_gain`. `.per_iteration` is a DataFrame, `.good_gain` the object, fetched
    when it is first asked for.
    """
    return _good_gain(session or start(), traces, column=column, **options)


def label(
    source: Any,
    judge: Any,
    store: Any = None,
    *,
    partitions: int | None = None,
    session: Any = None,
    **options: Any,
) -> Labelled:
    """Gains for pairs or traces from a judge: `goodgain.label` over a DataFrame.

    Pairs have columns such as query_id, doc_id, question and text; traces are as in `good_gain`. The
    pairs of one question are asked in one partition, each with a store of its own in `parts` (beside
    the store, if nothing is said), and merged into `store` on the driver. What that has already is
    not asked again. `concurrency` is of a partition; `budget` is shared out among them. Keys for the
    judge come from the environment of the executors.
    """
    return _label(session or start(), source, judge, store, partitions=partitions, **options)
