"""Small seeded results for pages, with everything that a page can show."""

from __future__ import annotations

import random
from functools import lru_cache

import numpy as np

import goodgain
from goodgain import Calibration, Comparison, Evaluation, Run

MEASURES = "nDCG@10 AP RR Latency"


def judged(queries: int = 40, seed: int = 1) -> dict[str, dict[str, int]]:
    rng = random.Random(seed)
    return {
        f"q{i}": {f"d{rng.randrange(300)}": rng.choice([0, 1, 2, 3]) for _ in range(20)}
        for i in range(queries)
    }


def ranked(
    qrels: dict[str, dict[str, int]], name: str, noise: float, seconds: float, seed: int
) -> Run:
    """Judged documents with noise, and some that nobody judged."""
    rng = random.Random(seed)
    run = {
        q: {d: g + rng.gauss(0, noise) for d, g in docs.items() if rng.random() < 0.8}
        | {f"d{rng.randrange(300, 600)}": rng.gauss(1, 1) for _ in range(15)}
        for q, docs in qrels.items()
    }
    return Run(run, name=name, latency={q: abs(rng.gauss(seconds, seconds / 9)) for q in run})


@lru_cache
def evaluation(queries: int = 40) -> Evaluation:
    qrels = judged(queries)
    runs = [
        ranked(qrels, "bm25", 2.5, 0.01, 1),
        ranked(qrels, "dense", 2.4, 0.04, 2),
        ranked(qrels, "hybrid", 0.8, 0.05, 3),
    ]
    return goodgain.evaluate(qrels, runs, MEASURES)


@lru_cache
def comparison(queries: int = 40) -> Comparison:
    kinds = {f"q{i}": ("short", "long")[i % 2] for i in range(queries)}
    return goodgain.compare(evaluation(queries), by=kinds)


@lru_cache
def calibration() -> Calibration:
    """Labels that are often one grade beside the human ones."""
    rng = random.Random(3)
    human = judged()
    labels = {
        q: {d: max(0, min(3, g + rng.choice([-1, 0, 0, 0, 1]))) for d, g in docs.items()}
        for q, docs in human.items()
    }
    runs = [ranked(human, "bm25", 2.5, 0.01, 1), ranked(human, "hybrid", 0.8, 0.05, 3)]
    return goodgain.calibrate(human, labels, runs, resamples=50, design="queries")


def many_queries(queries: int, depth: int) -> tuple[Comparison, dict[str, str]]:
    """Three systems that rank random documents with the judged ones among them, and the questions' texts."""
    rng = np.random.default_rng(0)
    relevant = rng.integers(8_800_000, size=(queries, 2))
    qrels = {f"{1_000_000 + q}": {f"{d}": 1 for d in relevant[q]} for q in range(queries)}
    runs = []
    for name, share in (("bm25", 0.5), ("dense", 0.55), ("hybrid", 0.7)):
        docs = rng.integers(8_800_000, size=(queries, depth))
        places = rng.exponential(6, size=queries).astype(int) % depth
        hits = rng.random(queries) < share
        docs[hits, places[hits]] = relevant[hits, 0]
        rows = zip(qrels, docs.tolist(), strict=True)
        run = {q: {f"{d}": 100.0 - i for i, d in enumerate(row)} for q, row in rows}
        runs.append(Run(run, name=name))
    texts = {q: f"what people ask when they ask question {i}" for i, q in enumerate(qrels)}
    return goodgain.compare(goodgain.evaluate(qrels, runs, "nDCG@10 AP RR R@100")), texts
