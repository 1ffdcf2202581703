"""What methods learn from judged queries: chances of relevance by rank, as ranx estimates them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain._core import RankedRun
    from goodgain.data import Qrels
    from goodgain.fusion.methods import Method

    Hits = list[list[int]]  # for each query 1 at the ranks that are relevant

_DOUBLING = [0] + [10 * 2 ** (k - 1) - 5 for k in range(1, 11)]
_ODDS = [0, 5, 10, 15, 20, 30, 100, 200, 500, 1000]


def tables(
    method: Method,
    runs: Sequence[RankedRun],
    qrels: Qrels,
    params: Mapping[str, float],
    inverted: bool,
) -> list[list[float]]:
    """A table for each run: points by rank, or by segment; `inverted` runs have their best last."""
    found = []
    for run in runs:
        hits = [row[::-1] if inverted else row for row in run.hits(qrels.core, 1.0)]
        match method.name:
            case "posfuse" | "slidefuse":
                table = _by_rank(hits)
            case "probfuse":
                table = _by_segment(hits, int(params["n_segments"]))
            case "segfuse":
                table = _by_doubling(hits)
            case "bayesfuse":
                table = _log_odds(hits)
            case _:
                table = [_mean_precision(hits, qrels, run)]
        found.append(table)
    return found


def _by_rank(hits: Hits) -> list[float]:
    longest = max(map(len, hits), default=0)
    found, counts = [0] * longest, [0] * longest
    for row in hits:
        for i, hit in enumerate(row):
            found[i] += hit
            counts[i] += 1
    return [f / c for f, c in zip(found, counts, strict=True)]


def _by_segment(hits: Hits, segments: int) -> list[float]:
    chances = [0.0] * segments
    for row in hits:
        size = math.ceil(len(row) / segments)
        for k in range(segments):
            part = row[k * size : (k + 1) * size]
            if part:
                chances[k] += sum(part) / len(part)
    return [c / max(1, len(hits)) for c in chances]


def _by_doubling(hits: Hits) -> list[float]:
    return [
        math.fsum(sum(row[start:end]) / (end - start) for row in hits) / max(1, len(hits))
        for start, end in pairwise(_DOUBLING)
    ]


def _log_odds(hits: Hits) -> list[float]:
    odds: list[float] = []
    for start, end in pairwise(_ODDS):
        chance = math.fsum(sum(row[start:end]) / (end - start) for row in hits) / max(1, len(hits))
        chance = chance or 0.001
        odds += [math.log(chance / ((1 - chance) or 0.001))] * (end - start)
    return odds


def _mean_precision(hits: Hits, qrels: Qrels, run: RankedRun) -> float:
    """AP over the queries of the run, from its hits and the number of relevant documents."""
    known = set(run.queries())
    queries = [q for q in qrels.queries if q in known]
    total = 0.0
    for query, row in zip(queries, hits, strict=True):
        relevant = sum(gain >= 1 for gain in qrels[query].values())
        found, precision = 0, 0.0
        for i, hit in enumerate(row, 1):
            if hit:
                found += 1
                precision += found / i
        total += precision / relevant if relevant else 0.0
    return total / max(1, len(queries))
