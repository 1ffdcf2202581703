"""Evaluation of retrieved chunks against judged spans of text.

A span earns its gain once, at the first rank where the chunks so far cover at least the share `cover` of it.
For ranked measures the list of chunks becomes a list of spans: a chunk that completes several relevant spans
stands for them one after the other, the highest gain first, and one that completes none is one entry of no
gain. A cut-off counts chunks. Where the first k chunks stand for more than k spans, so does the ideal list.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels, Run
from goodgain.errors import InputError, UsageError
from goodgain.io.naming import system_name, unique_names
from goodgain.io.texts import read_texts
from goodgain.measures.grammar import parse, parse_all
from goodgain.ranking.budgets import HINT, fitting
from goodgain.ranking.composed import ComposedValues
from goodgain.ranking.evaluator import Evaluator
from goodgain.ranking.policy import Policy
from goodgain.ranking.scores import RunScores
from goodgain.spans.pieces import Piece, merge, normalised, overlap
from goodgain.spans.tables import ChunkTable, Span, SpanTable, by_document, read_chunks, read_spans
from goodgain.spans.tokens import TokenCounts, Tokenizer, tokenizer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Measures
    from goodgain.ranking.result import Evaluation

    Length = Callable[[Piece], int]
    # What is cut from a list of chunks: all but the first k, or all that do not fit into a budget.
    Cut = tuple[float | None, int | None]


def evaluate_spans(
    judgments: Any,
    runs: Any,
    measures: Measures,
    *,
    documents: Any = None,
    cover: float = 0.5,
    tokenizer: Any = None,
    columns: Mapping[str, str] | None = None,
    preset: str = "default",
    skip_bad: bool = False,
    **options: Any,
) -> Evaluation:
    """Measure runs of chunks against judged spans; see `evaluate`."""
    if isinstance(cover, bool) or not isinstance(cover, int | float) or not 0 < cover <= 1:
        raise UsageError(f"cover must be above 0 and at most 1, got {cover}")
    policies = {k: v for k, v in options.items() if k not in ("policy", "threads", "memory")}
    policy = Policy.of(options.get("policy"), preset, **policies)
    if policy.ties in ("average", "bounds"):
        raise UsageError(
            f"ties={policy.ties} is not available for judgments of spans",
            hint="chunks of equal score stay in the order of the run",
        )
    texts = None if documents is None else read_texts(documents, "document").texts
    if tokenizer is not None and texts is None:
        raise UsageError("tokens need the documents", hint="pass documents=... with the tokenizer")
    table = read_spans(judgments, texts, columns, policy.duplicates)
    text_lengths = TextLengths(texts, None if tokenizer is None else tokenizer_of(tokenizer))
    budget_lengths = TextLengths(texts, tokenizer_of(tokenizer))
    parsed = parse_all(measures, preset)
    qrels = Qrels(
        {q: {s.name: s.gain for s in spans} for q, spans in table.spans.items()}, name=table.name
    )
    judged = _Judged(table, qrels, cover, preset, options)
    whole = results = None
    for name, source in named_sources(runs):
        chunks = read_chunks(source, texts, columns, skip_bad)
        _require_offsets(table, chunks)
        evaluation, scores = _scores(
            judged, (name, source), chunks, parsed, text_lengths, budget_lengths
        )
        whole = whole or evaluation
        results = {**(results or {}), name: scores}
    if whole is None or results is None:
        raise UsageError("there are no runs")
    return whole.with_runs(results, parsed)


def named_sources(runs: Any) -> list[tuple[str, Any]]:
    """One run of chunks, a list of them, or {name: run}, as (name, run)."""
    import os

    if isinstance(runs, dict) and not _is_one_run(runs):
        return [(str(name), run) for name, run in runs.items()]
    is_list_of_runs = (
        isinstance(runs, list | tuple) and runs and not isinstance(runs[0], dict)
    ) or _is_list_of_tables(runs)
    listed = list(runs) if is_list_of_runs else [runs]
    names = [
        system_name(run) if isinstance(run, str | os.PathLike) else getattr(run, "name", "run")
        for run in listed
    ]
    return list(zip(unique_names(names), listed, strict=True))


def _is_one_run(runs: dict[Any, Any]) -> bool:
    """A table by column, or {query: {id: score}}, rather than {name: run}."""
    first = next((v for v in runs.values() if v), None)
    if isinstance(first, list | tuple):
        return not isinstance(first[0], dict | list | tuple)
    return isinstance(first, dict) and all(isinstance(v, int | float) for v in first.values())


def _is_list_of_tables(runs: Any) -> bool:
    return (
        isinstance(runs, list | tuple)
        and bool(runs)
        and isinstance(runs[0], dict)
        and bool(runs[0])
        and all(isinstance(v, dict | list) for v in runs[0].values())
    )


def _require_offsets(table: SpanTable, chunks: ChunkTable) -> None:
    """Spans by offset can only be compared with chunks whose offsets are known."""
    by_offset = any(s.piece.start is not None for spans in table.spans.values() for s in spans)
    pieces = [c for listed in chunks.chunks.values() for c in listed]
    if by_offset and pieces and all(c.start is None for c in pieces) and not chunks.notes:
        raise UsageError(
            "the judgments name offsets, but the chunks have only text",
            hint="pass the documents that the text can be found in: documents=... (--documents)",
        )


class TextLengths:
    """The length of pieces: characters, or with a tokenizer tokens that begin in them."""

    def __init__(self, texts: Mapping[str, str] | None, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer
        self._texts = texts or {}
        self._counts = None if tokenizer is None else TokenCounts(tokenizer, self._texts)

    def of(self, piece: Piece) -> int:
        """The length of a piece; without offsets that of its text."""
        if piece.start is None or piece.end is None:
            return len(piece.text) if self._tokenizer is None else self._tokenizer.count(piece.text)
        if self._counts is None:
            return piece.end - piece.start
        return self._counts.between(piece.doc, piece.start, piece.end)

    def as_result(self, piece: Piece) -> int:
        """The tokens of a retrieved chunk, for a budget."""
        assert self._tokenizer is not None
        if piece.text:
            return self._tokenizer.count(piece.text)
        text = self._texts.get(piece.doc)
        if text is None or piece.start is None:
            raise UsageError(
                f"the length of a chunk of document '{piece.doc}' is not known in tokens, so a budget of "
                "tokens cannot be applied",
                hint=HINT,
            )
        return self._tokenizer.count(text[piece.start : piece.end])

    def total(self, intervals: Mapping[str, Sequence[tuple[int, int]]]) -> int:
        """The length of all intervals."""
        return sum(
            self.of(Piece(doc, *interval)) for doc, own in intervals.items() for interval in own
        )


class _Judged:
    """The judged spans, and evaluators of lists of them."""

    def __init__(
        self, table: SpanTable, qrels: Qrels, cover: float, preset: str, options: dict[str, Any]
    ) -> None:
        self.table = table
        self.cover = cover
        self._qrels = qrels
        self._preset = preset
        self._options = options

    def evaluate(
        self, name: str, lists: Mapping[str, list[str]], measures: Any, source: Any = None
    ) -> Evaluation:
        """Measures of lists of spans; time and cost are those of `source`, if it is a run."""
        evaluator = Evaluator(self._qrels, measures, preset=self._preset, **self._options)  # type: ignore[arg-type]
        own = source if isinstance(source, Run) else None
        latency, cost = (None, None) if own is None else (own.latency, own.cost)
        return evaluator.evaluate(Run(dict(lists), name=name, latency=latency, cost=cost))


def _scores(
    judged: _Judged, run: tuple[str, Any], table: ChunkTable, measures: Sequence[Measure],
    text_lengths: TextLengths, budget_lengths: TextLengths,
) -> tuple[Evaluation, RunScores]:  # fmt: skip
    """The scores of one run, and the evaluation of its whole lists."""
    chunks = table.chunks
    name, source = run
    spans = judged.table.spans
    everything = {q: entries(spans.get(q, []), c, judged.cover, 0) for q, c in chunks.items()}
    own = [m for m in measures if m.definition.column in ("latency", "cost")]
    whole = judged.evaluate(name, everything, [parse("NumQ"), *own], source)
    facts = {
        **_judged_share(spans, chunks),
        "notes": (*judged.table.notes, *table.notes),
        "bad_rows": table.bad_rows,
        "bad_example": table.bad_example,
    }
    places: dict[str, Any] = {}
    text: list[tuple[Measure, dict[str, list[Piece]]]] = []
    lists: dict[Cut, dict[str, list[Piece]]] = {}
    for measure in measures:
        cut = (None if measure.definition.cutoff == "recall" else measure.cutoff, measure.budget)
        if cut not in lists:
            lists[cut] = {q: _cut(c, cut, budget_lengths) for q, c in chunks.items()}
        if measure.definition.column == "spans":
            text.append((measure, lists[cut]))
        elif measure.definition.column is None:
            places[measure.label] = _ranked(judged, name, measure, cut, lists[cut])
    values = _SpanValues(whole.runs[0], places, facts, judged.table, text, text_lengths)
    return whole, RunScores(name, tuple(measures), values)


def _judged_share(
    spans: Mapping[str, Sequence[Span]], chunks: Mapping[str, Sequence[Piece]]
) -> dict[str, Any]:
    """How many chunks are of documents with a judged span: what lies elsewhere may be unjudged."""
    top = top_judged = total = unjudged = 0
    for query, own in spans.items():
        documents = {span.piece.doc for span in own}
        known = [chunk.doc in documents for chunk in chunks.get(query, ())]
        total += len(known)
        unjudged += known.count(False)
        top += len(known[:10])
        top_judged += sum(known[:10])
    share = top_judged / top if top else math.nan
    return {"documents": total, "unjudged_documents": unjudged, "judged_at_10": share}


def _cut(chunks: list[Piece], cut: Cut, lengths: TextLengths) -> list[Piece]:
    rank, budget = cut
    if budget is not None:
        return chunks[: fitting(map(lengths.as_result, chunks), budget)]
    return chunks if rank is None else chunks[: int(rank)]


def _ranked(
    judged: _Judged, name: str, measure: Measure, cut: Cut, lists: Mapping[str, list[Piece]]
) -> list[tuple[RunScores, set[str] | None]]:
    """A ranked measure over the lists of spans that the chunks stand for.

    Where the first k chunks stand for more than k spans, the cut-off is the number of these spans.
    """
    least = float(measure.get("rel") or 0)
    spans = judged.table.spans
    written = {q: entries(spans.get(q, []), c, judged.cover, least) for q, c in lists.items()}
    if cut[0] is None:
        own = measure.of_list(measure.cutoff if measure.definition.cutoff == "recall" else None)
        return [(judged.evaluate(name, written, [own]).runs[0], None)]
    depths: dict[int, set[str]] = {}
    for query, own_entries in written.items():
        depths.setdefault(max(int(cut[0]), len(own_entries)), set()).add(query)
    scores: list[tuple[RunScores, set[str] | None]] = [
        (judged.evaluate(name, written, [measure.of_list(cut[0])]).runs[0], None)
    ]
    for depth, queries in depths.items():
        if depth > cut[0]:
            deeper = judged.evaluate(name, written, [measure.of_list(depth)]).runs[0]
            scores.append((deeper, queries))
    return scores


def entries(
    spans: Sequence[Span], chunks: Sequence[Piece], cover: float, least: float
) -> list[str]:
    """What stands at each rank: the relevant spans that a chunk completes, or one entry.

    `least` is the lowest gain of a relevant span; 0 stands for any gain above 0.
    """
    listed: list[str] = []
    covered: dict[str, list[tuple[int, int]]] = {}  # of each span, by its offsets
    earned: set[str] = set()
    for rank, chunk in enumerate(chunks, 1):
        complete = []
        for span in spans:
            if span.name in earned:
                continue
            own = _covered(span.piece, chunk)
            if not own:
                continue
            covered[span.name] = merge([*covered.get(span.name, []), *own])
            length = sum(end - start for start, end in covered[span.name])
            if length / span.piece.length >= cover:
                complete.append(span)
        earned |= {span.name for span in complete}
        complete.sort(key=lambda span: -span.gain)
        relevant = [s.name for s in complete if s.gain > 0 and s.gain >= least]
        listed += relevant or [complete[0].name if complete else f"chunk {rank}"]
    return listed


def _covered(span: Piece, chunk: Piece) -> list[tuple[int, int]]:
    """The part of a span that a chunk holds, counted from the beginning of the document or of the quote."""
    if span.doc != chunk.doc:
        return []
    if span.start is not None and span.end is not None:
        if chunk.start is None or chunk.end is None:
            return []
        return overlap([(span.start, span.end)], [(chunk.start, chunk.end)])
    return [(0, span.length)] if normalised(span.text) in normalised(chunk.text) else []


class _SpanValues(ComposedValues):
    """Ranked measures over lists of spans, and measures of text, computed here."""

    __slots__ = ("_lengths", "_table", "_text")

    def __init__(
        self, whole: RunScores, places: Mapping[str, Any], facts: Mapping[str, Any],
        table: SpanTable, text: Sequence[tuple[Measure, Mapping[str, list[Piece]]]],
        lengths: TextLengths,
    ) -> None:  # fmt: skip
        super().__init__(whole, places, facts)
        self._table = table
        self._text = {measure.label: (measure, lists) for measure, lists in text}
        self._lengths = lengths

    def tables(self) -> Any:
        """There is no list of documents with a gain each: chunks earn the gains of spans together."""
        raise InputError("judgments of spans are not of whole results")

    def column(self, label: str, bound: str) -> list[float]:
        """The values of a measure, in the order of the queries."""
        if label in self._text:
            measure, lists = self._text[label]
            return [
                math.nan if bound else self._value(measure, query, lists.get(query, []))
                for query in self.queries()
            ]
        return super().column(label, bound)

    def _value(self, measure: Measure, query: str, chunks: Sequence[Piece]) -> float:
        """Covered, judged and retrieved text of one query."""
        least = float(measure.get("rel") or 1)
        spans = [s.piece for s in self._table.spans[query] if s.gain >= least]
        lengths = self._lengths
        judged = {doc: merge(own) for doc, own in by_document(spans).items()}
        retrieved = by_document(chunks)
        shared = {doc: overlap(own, merge(retrieved.get(doc, []))) for doc, own in judged.items()}
        # Quotes without offsets are covered by the chunks that hold them.
        quotes = [piece for piece in spans if piece.start is None]
        met = [q for q in quotes if any(_covered(q, chunk) for chunk in chunks)]
        total = lengths.total(judged) + sum(map(lengths.of, quotes))
        covered = lengths.total(shared) + sum(map(lengths.of, met))
        read = sum(map(lengths.of, chunks))
        if not total:
            return math.nan
        if measure.name == "SpanRecall":
            return covered / total
        if measure.name == "SpanPrecision":
            return covered / read if read else 0.0
        return covered / (total + read - covered)
