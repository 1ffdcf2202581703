"""A collection with every difficulty: ties, negative gains, targets, aspects, missing queries."""

from __future__ import annotations

import random
from typing import Any

from collections_ import DOCS


def collection(queries: int, seed: int = 7) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Shuffled rows of judgments (query, doc, gain, target, aspect) and of a run (query, doc, score)."""
    rng = random.Random(seed)
    judged, ranked = [], []
    for number in range(queries):
        query = f"q{number}"
        if rng.random() < 0.9:
            for doc in rng.sample(DOCS, rng.randint(1, 9)):
                for aspect in rng.sample(["a", "b", "c", "d"], rng.randint(1, 2)):
                    gain = rng.choice([-1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 4.0])
                    judged.append((query, doc, gain, rng.choice(["s", "t", None]), aspect))
        if rng.random() < 0.85:
            ranked += [
                (query, doc, rng.choice([-1.5, 0.0, 0.1, 1.0, 2.0, rng.random()]))
                for doc in rng.sample(DOCS, rng.randint(1, 12))
            ]
    rng.shuffle(judged)
    rng.shuffle(ranked)
    return judged, ranked


def frames(session: Any, judged: Any, ranked: Any) -> tuple[Any, Any]:
    """The same as DataFrames, in several partitions."""
    qrels = session.createDataFrame(
        judged, "query string, doc string, gain double, target string, aspect string"
    )
    return qrels, session.createDataFrame(ranked, "query string, doc string, score double")


def same(local: Any, spark: Any) -> bool:
    """Compare every query, value and mean bit by bit; `repr` distinguishes 0.0 from -0.0."""
    ours, theirs = local.to_dict(), spark.to_dict()
    assert repr(theirs["runs"]) == repr(ours["runs"])
    assert theirs["policy"] == ours["policy"]
    assert spark.warnings() == local.warnings()
    return True
