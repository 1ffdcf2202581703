"""The judgments of an experiment, of documents, chunks or spans, and how results are matched with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels
from goodgain.errors import InputError, UsageError
from goodgain.experiment.data import qrels_rows, with_text_ids
from goodgain.io.span_tables import is_span_table
from goodgain.spans.pieces import parse_chunk_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goodgain.data import Run
    from goodgain.measures import Measure
    from goodgain.ranking import Evaluation

DOCUMENT, CHUNK, SPAN = "document", "chunk", "span"


@dataclass(frozen=True, slots=True)
class Judgments:
    """What is judged. `qrels` of spans are their documents, each with the best gain of its spans."""

    by: str
    qrels: Qrels
    spans: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    def of_queries(self, queries: Collection[str]) -> Judgments:
        """The judgments of these queries."""
        if set(self.qrels.queries) <= set(queries):
            return self
        rows = [row for row in qrels_rows(self.qrels) if row["query"] in queries]
        spans = tuple(row for row in self.spans if row["query"] in queries)
        qrels = Qrels(rows, name=self.qrels.name).judged_by(self.qrels.source.judge)
        return replace(self, qrels=qrels, spans=spans)

    def documents(self) -> dict[str, set[str]]:
        """The judged ids of each query."""
        return {query: set(gains) for query, gains in self.qrels.to_dict().items()}


def read_judgments(source: Any, documents: Mapping[str, str] | None, has_chunks: bool) -> Judgments:
    """Read judgments of any kind; those of an ordinary table are of chunks if their ids are.

    Without the documents, judgments are of chunks if all of their ids are `doc#start-end`.
    """
    if isinstance(source, list) and source and isinstance(source[0], Path):
        if len(source) == 1:
            source = str(source[0])
        else:
            tables = [with_text_ids(Qrels.of(str(path))) for path in source]
            source = [row for table in tables for row in qrels_rows(table)]
    if is_span_table(source):
        return _span_judgments(source, documents)
    qrels = with_text_ids(Qrels.of(source))
    ids = {doc for gains in qrels.to_dict().values() for doc in gains}
    if documents is None:
        chunks = [i for i in ids if parse_chunk_id(i) is not None]
        by = CHUNK if has_chunks and len(chunks) == len(ids) else DOCUMENT
        return Judgments(by, qrels)
    chunks = [i for i in ids if i not in documents and document_of_chunk(i) in documents]
    if not chunks or not has_chunks:
        return Judgments(DOCUMENT, qrels, notes=_missing(qrels, documents))
    if len(chunks) < len(ids) and any(i in documents for i in ids):
        raise InputError(
            f"the judgments are of documents and of chunks, such as '{chunks[0]}'",
            where=qrels.name,
            hint="judge one of them, or spans: query, doc, start, end, gain",
        )
    return Judgments(CHUNK, qrels)


def _missing(qrels: Qrels, documents: Mapping[str, str]) -> tuple[str, ...]:
    """Relevant documents that no system can return."""
    missing = [
        doc
        for gains in qrels.to_dict().values()
        for doc, gain in gains.items()
        if gain > 0 and doc not in documents
    ]
    if not missing or all(doc not in documents for doc in _ids(qrels)):
        return ()  # ids of another kind, which `identity` may match
    return (
        f"{len(missing):,} relevant judgments are of documents that are not in the corpus, such as "
        f"'{missing[0]}': no system can return them",
    )


def _ids(qrels: Qrels) -> set[str]:
    return {doc for gains in qrels.to_dict().values() for doc in gains}


def _span_judgments(source: Any, documents: Mapping[str, str] | None) -> Judgments:
    from goodgain.spans.tables import read_spans

    table = read_spans(source, documents)
    rows = []
    best: dict[str, dict[str, float]] = {}
    for query, spans in table.spans.items():
        own = best.setdefault(query, {})
        for span in spans:
            piece = span.piece
            place = (
                {"start": piece.start, "end": piece.end, "quote": ""}
                if piece.start is not None
                else {"start": None, "end": None, "quote": piece.text}
            )
            rows.append({"query": query, "doc": piece.doc, **place, "gain": span.gain})
            own[piece.doc] = max(span.gain, own.get(piece.doc, span.gain))
    qrels = Qrels(best, name=table.name)
    return Judgments(SPAN, qrels, tuple(rows), table.notes)


def document_of_chunk(name: str) -> str:
    """The document of a chunk, also of one that could not be located (`doc#?1`)."""
    piece = parse_chunk_id(name)
    return name.rpartition("#?")[0] or name if piece is None else piece.doc


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """How results are matched with judgments, as `evaluate` takes it."""

    judgments: Judgments
    documents: Mapping[str, str] | None  # None if their texts are not known
    cover: float = 0.5
    tokenizer: Any = None

    def evaluate(
        self, runs: Sequence[Run], chunked: Collection[str], measures: Sequence[Measure]
    ) -> Evaluation:
        """The measures of runs; the results of those in `chunked` are chunks."""
        from goodgain.ranking import Evaluator, evaluate

        judgments = self.judgments
        texts: dict[str, Any] = {"documents": self.documents}
        if judgments.by == SPAN:
            tokens = {} if self.tokenizer is None else {"tokenizer": self.tokenizer}
            return evaluate(
                list(judgments.spans), list(runs), measures, cover=self.cover, **texts, **tokens
            )
        texts["tokenizer"] = self.tokenizer
        has_budget = any(m.budget is not None for m in measures)
        if not chunked and not has_budget:
            return Evaluator(judgments.qrels, measures).evaluate(list(runs))
        if judgments.by == CHUNK or not chunked:
            return evaluate(judgments.qrels, list(runs), measures, **texts)
        # The first chunk of a document stands for it; the others only fill the context.
        groups = (
            ([run for run in runs if run.name in chunked], document_of_chunk),
            ([run for run in runs if run.name not in chunked], None),
        )
        scored = [
            evaluate(judgments.qrels, own, measures, identity=identity, **texts)
            for own, identity in groups
            if own
        ]
        by_name = {scores.name: scores for evaluation in scored for scores in evaluation.runs}
        return scored[0].with_runs({run.name: by_name[run.name] for run in runs}, tuple(measures))


def needs_texts(measures: Sequence[Measure], by: str, has_whole_documents: bool) -> bool:
    """Whether scores depend on texts, which the folder of an experiment does not keep."""
    return any(m.budget is not None for m in measures) or (by == SPAN and has_whole_documents)


def require_measures(measures: Sequence[Measure], by: str) -> None:
    """Measures of spans need judgments of spans."""
    for measure in measures:
        if measure.definition.column == "spans" and by != SPAN:
            raise UsageError(
                f"{measure} needs judgments of spans",
                hint="judgments with columns start and end, or quote",
            )
