"""`compare(qrels, runs, measures)` and `gate(qrels, runs, measures)`: evaluate, then compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goodgain.data.qrels import Qrels, looks_like_qrels
from goodgain.errors import UsageError
from goodgain.measures.grammar import parse_all
from goodgain.ranking import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodgain.measures.definition import Measure

    Measures = str | Measure | Iterable[str | Measure] | None


def evaluated_sources(
    sources: tuple[Any, ...], measures: Measures, default: str, qrels: Any = None, runs: Any = None,
    *, primary: Measures = None,
) -> tuple[tuple[Any, ...], Measures]:  # fmt: skip
    """The sources as they are, or the evaluation of `(qrels, runs[, measures])` and `primary`."""

    def evaluated(chosen: Measures) -> tuple[Any, ...]:
        listed = default if chosen is None else chosen
        if primary is not None:
            listed = with_primary(primary, parse_all(listed))
        return (evaluate(qrels, runs, listed),)

    if qrels is not None or runs is not None:
        if sources or qrels is None or runs is None:
            raise UsageError(
                "qrels= and runs= go together, without other sources",
                hint="compare(qrels, runs, 'nDCG@10')",
            )
        return evaluated(measures), None
    if not sources:
        raise UsageError(
            "nothing to compare", hint="compare(qrels, runs, 'nDCG@10'), or two results"
        )
    if len(sources) < 2 or not looks_like_qrels(sources[0]):
        return sources, measures
    qrels, runs, *rest = sources
    if isinstance(qrels, Mapping | Qrels) and isinstance(runs, Mapping) and not runs:
        raise UsageError("no runs to compare", hint="give {name: run} with at least two runs")
    if len(rest) > 1 or (rest and measures is not None):
        raise UsageError(
            f"expected (qrels, runs, measures), got {len(sources)} arguments",
            hint="several runs are a list or a dictionary: compare(qrels, {'old': a, 'new': b}, 'AP')",
        )
    return evaluated(rest[0] if rest else measures), None


def with_primary(
    primary: str | Measure | Iterable[str | Measure], measures: Sequence[Measure]
) -> tuple[Measure, ...]:
    """The measures to evaluate, primary ones first."""
    return parse_all([*parse_all(primary), *measures])
