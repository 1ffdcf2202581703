"""Training of fusion methods: probabilities of relevance by rank, estimated as in ranx."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain._core import RankedRun
    from goodgain.data import Qrels
    from goodgain.fusion.methods import Method

    Relevance = list[list[int]]  # for each query, 1 at every rank with a relevant document

_DOUBLING = [0] + [10 * 2 ** (k - 1) - 5 for k in range(1, 11)]
_ODDS = [0, 5, 10, 15, 20, 30, 100, 200, 500, 1000]


def tables(
    method: Method,
    runs: Sequence[RankedRun],
    qrels: Qrels,
    params: Mapping[str, float],
    inverted: bool,
) -> list[list[float]]:
    """One table per run: points by rank or by segment; `inverted` runs have their best document last."""
    by_run = []
    for run in runs:
        relevance = [row[::-1] if inverted else row for row in run.hits(qrels.core, 1.0)]
        match method.name:
            case "posfuse" | "slidefuse":
                table = _by_rank(relevance)
            case "probfuse":
                table = _by_segment(relevance, int(params["n_segments"]))
            case "segfuse":
                table = _by_doubling(relevance)
            case "bayesfuse":
                table = _log_odds(relevance)
            case _:
                table = [_mean_average_precision(relevance, qrels, run)]
        by_run.append(table)
    return by_run


def _by_rank(relevance: Relevance) -> list[float]:
    longest = max(map(len, relevance), default=0)
    relevant, counts = [0] * longest, [0] * longest
    for row in relevance:
        for i, value in enumerate(row):
            relevant[i] += value
            counts[i] += 1
    return [r / c for r, c in zip(relevant, counts, strict=True)]


def _by_segment(relevance: Relevance, segments: int) -> list[float]:
    totals = [0.0] * segments
    for row in relevance:
        size = math.ceil(len(row) / segments)
        for k in range(segments):
            segment = row[k * size : (k + 1) * size]
            if segment:
                totals[k] += sum(segment) / len(segment)
    return [total / max(1, len(relevance)) for total in totals]


def _by_doubling(relevance: Relevance) -> list[float]:
    return [_probability(relevance, start, end) for start, end in pairwise(_DOUBLING)]


def _log_odds(relevance: Relevance) -> list[float]:
    odds: list[float] = []
    for start, end in pairwise(_ODDS):
        probability = _probability(relevance, start, end) or 0.001
        odds += [math.log(probability / ((1 - probability) or 0.001))] * (end - start)
    return odds


def _probability(relevance: Relevance, start: int, end: int) -> float:
    """The share of relevant documents between two ranks, averaged over queries."""
    shares = (sum(row[start:end]) / (end - start) for row in relevance)
    return math.fsum(shares) / max(1, len(relevance))


def _mean_average_precision(relevance: Relevance, qrels: Qrels, run: RankedRun) -> float:
    """AP over the judged queries of the run."""
    in_run = set(run.queries())
    queries = [q for q in qrels.queries if q in in_run]
    total = 0.0
    for query, row in zip(queries, relevance, strict=True):
        relevant = sum(gain >= 1 for gain in qrels[query].values())
        so_far, precision = 0, 0.0
        for i, value in enumerate(row, 1):
            if value:
                so_far += 1
                precision += so_far / i
        total += precision / relevant if relevant else 0.0
    return total / max(1, len(queries))
