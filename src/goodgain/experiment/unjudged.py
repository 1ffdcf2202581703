"""How much of what systems returned is judged, and what should be judged next.

A document that only one system returned and nobody judged counts against that system, whatever it is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.experiment.judgments import CHUNK, DOCUMENT, SPAN, document_of_chunk
from goodgain.experiment.plan import documents_of
from goodgain.results.text import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.experiment.result import ExperimentResult

TOP = 10  # results of a query that are looked at
FILE = "judge.jsonl"
COLUMNS = ("query_id", "doc_id", "question", "text", "system", "rank")


def chunk_notes(result: ExperimentResult) -> list[str]:
    """What the splitters of systems over chunks could not do, and which chunks are not judged."""
    chunked, by = result.chunked, result.plan.judged
    notes: list[str] = []
    for name in chunked:
        notes += (f"{name}: {note}" for note in result.folder.index_of(name).get("chunk_notes", ()))
    if by == DOCUMENT:
        notes += _cut_notes(result)
    if chunked and by == CHUNK:
        notes += (
            f"{name}: it returns documents, but chunks are judged, so it has no relevant result"
            for name in result.systems
            if name not in chunked
        )
    return notes


def _cut_notes(result: ExperimentResult) -> Iterator[str]:
    """Lists of chunks that were cut where they hold fewer documents than the measures look at."""
    depth = result.settings["depth"]
    needed = max(map(documents_of, result.plan.measures), default=0)
    for name in result.chunked:
        cut = [
            len(docs)
            for raw, mapped in zip(result.results[name], result.runs[name], strict=True)
            for query, docs in mapped.source.value.items()
            if len(raw.source.value[query]) >= depth
        ]
        if cut and min(cut) < needed:
            yield (
                f"{name}: its lists of {depth:,} chunks hold as few as {min(cut):,} documents, but measures "
                f"look at {needed:,}; a larger depth finds more"
            )


def data_facts(result: ExperimentResult) -> list[str]:
    """Where the data is from, which queries were drawn, and how chunks count; for below the tables."""
    facts = list(result.settings.get("data_notes", ()))
    if result.plan.judged == SPAN:
        facts.append(
            f"judged by span: a span is met if chunks cover {result.plan.cover:g} of it; "
            "a cut-off counts chunks"
        )
    elif result.chunked:
        how = "as its document" if result.plan.judged == DOCUMENT else "by its own id"
        facts.append(f"a chunk ({', '.join(result.chunked)}) is judged {how}")
        if result.plan.judged == DOCUMENT:
            facts[-1] += ", ranked by its best chunk"
    return [f"{fact[0].upper()}{fact[1:]}." for fact in facts]


def judged_shares(result: ExperimentResult) -> dict[str, float]:
    """The share of each system's first ten results that is judged, over all queries and seeds.

    With judgments of spans, a result counts as judged if its document has a judged span.
    """
    judged = _judged(result)
    shares = {}
    for name in result.systems:
        listed = [(query, doc) for query, doc, _ in _top(result, name)]
        known = sum(doc in judged.get(query, ()) for query, doc in listed)
        shares[name] = known / len(listed) if listed else float("nan")
    return shares


def returned_once(result: ExperimentResult) -> list[tuple[str, str, str, int]]:
    """(query, document, system, rank) of unjudged documents that one system alone has in its first ten."""
    judged = _judged(result)
    places: dict[tuple[str, str], dict[str, int]] = {}
    for name in result.systems:
        for query, doc, rank in _top(result, name):
            if doc not in judged.get(query, ()):
                own = places.setdefault((query, doc), {})
                own[name] = min(rank, own.get(name, rank))
    return [
        (query, doc, *next(iter(systems.items())))
        for (query, doc), systems in places.items()
        if len(systems) == 1
    ]


def pairs_text(result: ExperimentResult, documents: Mapping[str, str]) -> str:
    """The pairs that `goodgain judge --pairs` takes, with their texts, those at the top first."""
    from goodgain.experiment.snapshot import text_of

    rows = [
        [query, doc, result.queries.get(query, ""), text_of(doc, documents) or "", system, rank]
        for query, doc, system, rank in sorted(returned_once(result), key=lambda row: row[3])
    ]
    return render("jsonl", list(COLUMNS), rows)


def _judged(result: ExperimentResult) -> dict[str, set[str]]:
    assert result.qrels is not None
    return {query: set(gains) for query, gains in result.qrels.to_dict().items()}


def _top(result: ExperimentResult, system: str) -> Iterator[tuple[str, str, int]]:
    """(query, judged id, rank) of the first ten results of each query, over all seeds."""
    by_document = result.plan.judged == SPAN
    for run in result.runs[system]:
        value: Mapping[str, Any] = run.source.value
        for query, docs in value.items():
            for rank, doc in enumerate(list(docs)[:TOP], 1):
                yield query, document_of_chunk(doc) if by_document else doc, rank
