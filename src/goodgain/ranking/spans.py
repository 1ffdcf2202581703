"""Evaluation of retrieved chunks against judged spans of text.

A span earns its gain once, at the first rank where the chunks so far cover at least the share `cover` of it.
For ranked measures the list of chunks becomes a list of spans: a chunk that completes several spans stands
for them one after the other, the highest gain first, and one that completes none is an entry of no gain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels, Run
from goodgain.data.spans import (
    Piece,
    Span,
    SpanTable,
    merge,
    normalised,
    overlap,
    read_chunks,
    read_spans,
)
from goodgain.errors import UsageError
from goodgain.io.naming import system_name, unique_names
from goodgain.io.texts import read_texts
from goodgain.measures.grammar import parse_all
from goodgain.ranking.evaluator import Evaluator
from goodgain.ranking.result import Evaluation
from goodgain.ranking.scores import Coverage, RunScores, ValuesInMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Measures

    Tokenizer = Callable[[str], Sequence[tuple[int, int]]]
    Intervals = dict[str, list[tuple[int, int]]]  # by document


def evaluate_spans(
    judgments: Any,
    runs: Any,
    measures: Measures,
    *,
    documents: Any = None,
    cover: float = 0.5,
    tokenizer: Tokenizer | None = None,
    columns: Mapping[str, str] | None = None,
    preset: str = "default",
    **options: Any,
) -> Evaluation:
    """Measure runs of chunks against judged spans; see `evaluate`."""
    if not 0 < cover <= 1:
        raise UsageError(f"cover must be above 0 and at most 1, got {cover}")
    texts = None if documents is None else read_texts(documents, "document").texts
    if tokenizer is not None and texts is None:
        raise UsageError("tokens need the documents", hint="pass documents=... with the tokenizer")
    table = read_spans(judgments, texts, columns)
    parsed = parse_all(measures)
    ranked = [m for m in parsed if m.definition.column != "spans"]
    qrels = Qrels(
        {q: {s.name: s.gain for s in spans} for q, spans in table.spans.items()}, name=table.name
    )
    evaluator = Evaluator(qrels, ranked or ["NumQ"], preset=preset, **options)
    results = {}
    for name, source in _runs(runs):
        chunks, lost = read_chunks(source, texts, columns)
        _require_offsets(table, chunks)
        run = Run(
            {q: _entries(table.spans.get(q, []), c, cover) for q, c in chunks.items()}, name=name
        )
        inner = evaluator.evaluate(run).runs[0]
        values = _SpanValues(inner, table, chunks, (*table.lost, *lost), _lengths(texts, tokenizer))
        results[name] = RunScores(name, parsed, values)
    return Evaluation(results, parsed, evaluator.policy, qrels.source, None, preset)


def _runs(runs: Any) -> list[tuple[str, Any]]:
    """One run of chunks, a list of files, or {name: run}."""
    import os

    if isinstance(runs, dict) and not all(isinstance(v, list | tuple) and v and not isinstance(v[0], dict)
                                          for v in runs.values()):  # fmt: skip
        return [(str(name), run) for name, run in runs.items()]
    is_list_of_runs = isinstance(runs, list | tuple) and runs and not isinstance(runs[0], dict)
    listed = list(runs) if is_list_of_runs else [runs]
    names = [system_name(run) if isinstance(run, str | os.PathLike) else "run" for run in listed]
    return list(zip(unique_names(names), listed, strict=True))


def _require_offsets(table: SpanTable, chunks: Mapping[str, Sequence[Piece]]) -> None:
    """Spans by offset can only be compared with chunks whose offsets are known."""
    by_offset = any(s.piece.start is not None for spans in table.spans.values() for s in spans)
    by_text = [c for listed in chunks.values() for c in listed if c.start is None]
    if by_offset and by_text and len(by_text) == sum(map(len, chunks.values())):
        raise UsageError(
            "the judgments name offsets, but the chunks have only text",
            hint="pass the documents that the text can be found in: documents=... (--documents)",
        )


# --- spans as entries of a ranked list ---


def _entries(spans: Sequence[Span], chunks: Sequence[Piece], cover: float) -> list[str]:
    """What stands at each rank: the spans that a chunk completes, or an entry of no gain."""
    entries: list[str] = []
    covered: dict[str, list[tuple[int, int]]] = {}  # of each span, by its offsets
    earned: set[str] = set()
    for rank, chunk in enumerate(chunks, 1):
        complete = []
        for span in spans:
            if span.name in earned:
                continue
            covered[span.name] = merge([*covered.get(span.name, []), *_covered(span.piece, chunk)])
            length = sum(end - start for start, end in covered[span.name])
            if span.piece.length and length >= cover * span.piece.length:
                complete.append(span)
        earned |= {span.name for span in complete}
        names = [span.name for span in sorted(complete, key=lambda span: -span.gain)]
        entries += names or [f"chunk {rank}"]
    return entries


def _covered(span: Piece, chunk: Piece) -> list[tuple[int, int]]:
    """The part of a span that a chunk holds, counted from the beginning of the document or of the quote."""
    if span.doc != chunk.doc:
        return []
    if span.start is not None and span.end is not None:
        if chunk.start is None or chunk.end is None:
            return []
        return overlap([(span.start, span.end)], [(chunk.start, chunk.end)])
    return [(0, span.length)] if normalised(span.text) in normalised(chunk.text) else []


# --- lengths in characters or tokens ---


def _lengths(
    texts: Mapping[str, str] | None, tokenizer: Tokenizer | None
) -> Callable[[str, Sequence[tuple[int, int]]], int]:
    """How much text intervals of a document are: characters, or tokens that begin in them."""
    if tokenizer is None or texts is None:
        return lambda _doc, intervals: sum(end - start for start, end in intervals)
    starts: dict[str, list[int]] = {}

    def tokens(doc: str, intervals: Sequence[tuple[int, int]]) -> int:
        from bisect import bisect_left

        if doc not in starts:
            starts[doc] = sorted(start for start, _ in tokenizer(texts.get(doc, "")))
        return sum(
            bisect_left(starts[doc], end) - bisect_left(starts[doc], start)
            for start, end in intervals
        )

    return tokens


class _SpanValues(ValuesInMemory):
    """Ranked measures from the core, measures of text computed here."""

    __slots__ = ("_chunks", "_inner", "_length", "_lost", "_measures", "_table")

    def __init__(
        self,
        inner: RunScores,
        table: SpanTable,
        chunks: Mapping[str, list[Piece]],
        lost: tuple[str, ...],
        length: Callable[[str, Sequence[tuple[int, int]]], int],
    ) -> None:
        self._inner = inner
        self._table = table
        self._chunks = chunks
        self._lost = lost
        self._length = length

    @property
    def source(self) -> Any:
        return self._inner.source

    @property
    def has_bounds(self) -> bool:
        return self._inner.has_bounds

    def queries(self) -> list[str]:
        return self._inner.queries

    def tables(self) -> Any:
        return self._inner.tables()

    def coverage(self) -> Coverage:
        from dataclasses import replace

        inner = self._inner.coverage
        if not self._lost:
            return inner
        return replace(inner, bad_rows=len(self._lost), bad_example=self._lost[0])

    def column(self, label: str, bound: str) -> list[float]:
        measure = parse_all(label)[0]
        if measure.definition.column != "spans":
            return self._inner.column(label, bound)
        return [math.nan if bound else self._value(measure, query) for query in self.queries()]

    def _value(self, measure: Measure, query: str) -> float:
        """Covered, judged and retrieved text of one query."""
        rel = float(measure.get("rel") or 1)
        chunks = self._chunks.get(query, [])
        chunks = chunks[: int(measure.cutoff)] if measure.cutoff else chunks
        spans = [s.piece for s in self._table.spans[query] if s.gain >= rel]
        judged = self._by_document(spans)
        retrieved = self._by_document(chunks)
        total = sum(self._length(doc, merge(own)) for doc, own in judged.items())
        covered = sum(
            self._length(doc, overlap(merge(own), merge(retrieved.get(doc, []))))
            for doc, own in judged.items()
        )
        read = sum(self._length(doc, [one]) for doc, own in retrieved.items() for one in own)
        quotes = [
            p for p in spans if p.start is None
        ]  # without offsets: by the chunks that hold them
        total += sum(p.length for p in quotes)
        covered += sum(p.length for p in quotes if any(_covered(p, c) for c in chunks))
        read += sum(c.length for c in chunks if c.start is None)
        if not total:
            return math.nan
        if measure.name == "SpanRecall":
            return covered / total
        if measure.name == "SpanPrecision":
            return covered / read if read else 0.0
        return covered / (total + read - covered)

    @staticmethod
    def _by_document(pieces: Sequence[Piece]) -> Intervals:
        intervals: Intervals = {}
        for piece in pieces:
            if piece.start is not None and piece.end is not None:
                intervals.setdefault(piece.doc, []).append((piece.start, piece.end))
        return intervals
