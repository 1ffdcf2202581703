"""Random collections: ties, repeated ids, negative and missing judgements, empty queries, any Unicode."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

# Ids whose byte order, length and script differ; one holds '#', one a comma and a quote.
DOCS = (
    "d1",
    "d10",
    "d2",
    "D1",
    "é",
    "文書",
    "a#b",
    'x,"y',
    "zz",
    "ß",
    "😀",
    "d-3",
    "0",
    "007",
    "q1",
)
QUERIES = ("q1", "q2", "10", "9", "frage-ß", "問", "Q#1")
GRADES = (-2, -1, 0, 0, 1, 1, 2, 3, 4)
REAL_GAINS = (-1.0, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
SCORES = (-1.5, 0.0, 0.1, 1.0, 2.0)


@dataclass
class Query:
    """One query: judged rows (doc, gain, target, aspect) and retrieved (doc, score), in input order."""

    rows: list[tuple[str, float, str | None, str | None]] = field(default_factory=list)
    run: list[tuple[str, float]] = field(default_factory=list)

    @property
    def gains(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for doc, gain, _, _ in self.rows:
            found[doc] = max(gain, found.get(doc, gain))
        return found


@dataclass
class Collection:
    """Queries by id; a query without a run is missing from it, one without rows is not judged."""

    queries: dict[str, Query]

    def qrels(self) -> dict[str, dict[str, float]]:
        return {q: dict(item.gains) for q, item in self.queries.items() if item.rows}

    def qrels_rows(self) -> list[tuple[str, str, float, str | None, str | None]]:
        return [(q, *row) for q, item in self.queries.items() for row in item.rows]

    def run(self) -> dict[str, dict[str, float]]:
        return {q: dict(item.run) for q, item in self.queries.items() if item.run}

    def run_rows(self) -> list[tuple[str, str, float]]:
        return [(q, doc, score) for q, item in self.queries.items() for doc, score in item.run]


@st.composite
def query(
    draw,
    max_docs=6,
    grades=GRADES,
    scores=SCORES,
    labels=None,
    min_run=0,
    min_rows=0,
    docs=DOCS,
    distinct=False,
):
    """One query; `labels` is None, "target", "aspect" or "both"; `distinct` leaves no ties."""
    pool = st.permutations(docs)
    retrieved = draw(pool)[: draw(st.integers(min_run, max_docs))]
    judged = draw(pool)[: draw(st.integers(min_rows, max_docs + 2))]
    if labels is None:
        rows = [(doc, draw(st.sampled_from(grades)), None, None) for doc in judged]
    elif labels == "both":
        pairs = st.tuples(st.sampled_from("abc"), st.sampled_from("123"))
        rows = [
            (doc, draw(st.sampled_from(grades)), *pair)
            for doc in judged
            for pair in draw(st.lists(pairs, min_size=1, max_size=3, unique=True))
        ]
    else:
        rows = []
        for doc in judged:
            names = st.sampled_from(("a", "b", "c") if labels == "aspect" else ("a", "b", None))
            for label in draw(st.lists(names, min_size=1, max_size=2, unique=True)):
                target, aspect = (label, None) if labels == "target" else (None, label)
                rows.append((doc, draw(st.sampled_from(grades)), target, aspect))
        if labels == "target":  # a repeated row must name another target
            rows = [r for i, r in enumerate(rows) if r[2] or all(o[0] != r[0] for o in rows[:i])]
    if distinct:
        order = draw(st.permutations(range(len(retrieved))))
        return Query(rows, [(d, float(s)) for d, s in zip(retrieved, order, strict=True)])
    return Query(rows, [(doc, draw(st.sampled_from(scores))) for doc in retrieved])


@st.composite
def collections(draw, max_queries=4, judged=True, **options):
    """Several queries, at least one of them both judged and in the run."""
    ids = draw(st.permutations(QUERIES))[: draw(st.integers(1, max_queries))]
    first = {**options, "min_run": 1, "min_rows": 1}
    queries = {q: draw(query(**(first if i == 0 else options))) for i, q in enumerate(ids)}
    return Collection(queries)
