"""TREC Dynamic Domain: tab-separated lines of query, iteration, document, score and ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.traces.builder import Builder
from goodgain.traces.format import TraceFormat

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents


def _mismatch(document: Any) -> str:
    if not isinstance(document, str):
        return "not tab-separated text"
    first = next((line for line in document.splitlines() if line.strip()), "").split("\t")
    if not 5 <= len(first) <= 6:
        return "no lines of five or six tab-separated columns"
    return (
        ""
        if first[1].strip().isdigit() and _is_number(first[3])
        else "the second column is not an iteration"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per query; a result's gain is its best rating, its aspects the subtopics."""
    queries: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for where, text in documents:
        if not isinstance(text, str):
            problem = InputError("not tab-separated text", where=context.place(where))
            context.skip(problem)
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                query, iteration, result = _parse(line)
            except ValueError as error:
                context.skip(
                    InputError(
                        f"invalid TREC Dynamic Domain line '{line[:80]}': {error}",
                        where=f"{context.name}:{number}",
                        hint="expected topic, iteration, docno, score, on_topic, subtopic:rating|..., "
                        "separated by tabs",
                    )
                )
                continue
            queries.setdefault(query, {}).setdefault(iteration, []).append(result)
    for query, iterations in queries.items():
        builder = Builder(query, None, context)
        builder.start_turn(None)
        for number, results in sorted(iterations.items()):
            builder.start_iteration()
            place = f"{query} iteration {number}"
            record = builder.add_call(None, None, None, where=place, kind="retriever")
            builder.add_output(record, None, where=place, results=results)
        yield builder.build()


def _parse(line: str) -> tuple[str, int, dict[str, Any]]:
    """(query, iteration, result) of a line."""
    columns = line.rstrip("\n").split("\t")
    if len(columns) < 5:
        raise ValueError("fewer than five columns")
    doc = columns[2]
    result = {"id": doc, "ids": {"doc_id": doc}, "score": float(columns[3])}
    return columns[0], int(columns[1]), {**result, **_ratings(columns[5:])}


def _ratings(columns: list[str]) -> dict[str, Any]:
    ratings = [
        r.rpartition(":") for r in (columns[0] if columns else "").strip().split("|") if ":" in r
    ]
    aspects = {name: float(rating) for name, _, rating in ratings}
    return {"gain": max(aspects.values()), "aspects": aspects} if aspects else {"gain": 0}


FORMAT = TraceFormat("trec-dd", "TREC Dynamic Domain runs", _mismatch, _read)
