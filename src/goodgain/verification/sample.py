"""The queries that a self-test recomputes: a sample of the user's own, or generated ones."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels, Run
from goodgain.io.columns import columns_of
from goodgain.io.rows import rows_of
from goodgain.verification.definitions import Judged, judged_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.verification.definitions import Row

Retrieved = list[tuple[str, float]]
_DIFFICULTIES = "ties, unjudged documents, negative grades, queries missing from the run"


@dataclass(frozen=True, slots=True)
class Sample:
    """Judgments and results of some queries, and the tables they come from."""

    qrels: Any  # what `evaluate` reads
    run: Any
    judged: dict[str, Judged]
    retrieved: dict[str, Retrieved]  # in the order of the run; queries that it lacks are absent
    total: int  # judged queries in all
    title: str

    @property
    def rows(self) -> list[tuple[str, str, float, str | None, str | None]]:
        """The judgments of the sample as rows."""
        return [(query, *row) for query, judged in self.judged.items() for row in judged.rows]

    @property
    def has_aspects(self) -> bool:
        """Whether judgments are by aspect."""
        return any(row[3] is not None for judged in self.judged.values() for row in judged.rows)

    def run_rows(self) -> list[tuple[str, str, float]]:
        """The results of the sample as rows."""
        return [(q, doc, score) for q, docs in self.retrieved.items() for doc, score in docs]


def draw_sample(
    qrels: Any, run: Any, queries: int, seed: int, columns: Mapping[str, str] | None
) -> Sample:
    """Judged queries chosen at random, at least one of them missing from the run if there are any."""
    table = Qrels.of(qrels, columns_of("qrels", columns))
    ranked = Run.of(run, columns=columns_of("run", columns))
    rows: dict[str, list[Row]] = {}
    read = rows_of(table.source, "qrels")
    columns_read = (read.query, read.doc, read.value, read.target, read.aspect)
    for query, doc, gain, target, aspect in zip(*columns_read, strict=True):
        rows.setdefault(query, []).append((doc, gain, target, aspect))
    if len({row[3] for one in rows.values() for row in one}) == 1:  # the 0 of TREC qrels
        rows = {q: [(d, g, t, None) for d, g, t, _ in one] for q, one in rows.items()}
    top = max([1.0, *(row[1] for one in rows.values() for row in one)])
    results: dict[str, Retrieved] = {}
    for query, doc, score in zip(*ranked.rows(), strict=True):
        results.setdefault(query, []).append((doc, score))
    generator = random.Random(seed)
    chosen = generator.sample(sorted(rows), min(queries, len(rows)))
    absent = sorted(rows.keys() - results.keys())
    if absent and not set(absent) & set(chosen):
        chosen[-1] = generator.choice(absent)
    return Sample(
        qrels=table,
        run=ranked,
        judged={q: judged_from(rows[q], top) for q in chosen},
        retrieved={q: results[q] for q in chosen if q in results},
        total=len(rows),
        title=f"{len(chosen)} of {len(rows):,} judged queries of {ranked.name}",
    )


def generate_samples(queries: int, seed: int) -> list[Sample]:
    """Queries with ties, unjudged documents, negative grades, some without results: by aspect, by target."""
    generator = random.Random(seed)
    return [
        _generate(generator, queries, seed, labels)
        for labels in (("a", "b", "c"), ("t1", "t2", None))
    ]


def _generate(
    generator: random.Random, queries: int, seed: int, labels: tuple[str | None, ...]
) -> Sample:
    docs = [f"d{i}" for i in range(12)]
    by_aspect = None not in labels
    rows: list[tuple[Any, ...]] = []
    results: list[tuple[str, str, float]] = []
    for number in range(queries):
        query = f"q{number}"
        for doc in generator.sample(docs, generator.randint(1, 8)):
            for label in generator.sample(labels, generator.randint(1, 2) if by_aspect else 1):
                gain = generator.choice([-1, 0, 0, 1, 1, 2, 3])
                rows.append((query, doc, gain, *((None, label) if by_aspect else (label, None))))
        scores = (0.0, 0.5, 1.0, 1.0 + 1e-9, 2.0) if number % 2 else tuple(range(100))
        if number == 0 or generator.random() > 0.1:
            chosen = generator.sample(docs, generator.randint(1, 6))
            results += [(query, doc, float(generator.choice(scores))) for doc in chosen]
    sample = draw_sample(rows, results, queries, seed, None)
    return replace(sample, title=f"{queries} generated queries: {_DIFFICULTIES}")
