"""Cut-offs in tokens: what a generator with a limited context would really get.

Results are taken in rank order while they fit. The first one that would exceed the budget is cut off, and so
is everything below it: nothing is shortened, and nothing further down moves up. `nDCG@2000tokens` is nDCG of
the list that is left, against the ideal of all judgments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goodgain.data.run import Run
    from goodgain.measures.definition import Measure
    from goodgain.ranking.policy import Policy
    from goodgain.ranking.result import Evaluation
    from goodgain.spans.tokens import Tokenizer

HINT = (
    "pass documents=... (--documents) with their texts, or a run with a column tokens or text; "
    "tokenizer=... (--tokenizer) chooses what a token is"
)


def fitting(lengths: Iterable[int], budget: int) -> int:
    """How many of the first results fit into the budget."""
    total = count = 0
    for length in lengths:
        total += length
        if total > budget:
            break
        count += 1
    return count


class ResultLengths:
    """The tokens of each result: from a column of the run, the text of the result, or the documents."""

    def __init__(self, tokenizer: Tokenizer, documents: Mapping[str, str] | None) -> None:
        self._tokenizer = tokenizer
        self._documents = documents
        self._known: dict[str, int] = {}

    def of(self, doc: str) -> int | None:
        """The tokens of a document, or of its chunk `doc#start-end`; None if there is no text of it."""
        from goodgain.spans.pieces import parse_chunk_id

        if self._documents is None:
            return None
        if doc not in self._known:
            text = self._documents.get(doc)
            if text is None and (piece := parse_chunk_id(doc)) is not None:
                whole = self._documents.get(piece.doc)
                text = None if whole is None else whole[piece.start : piece.end]
            if text is None:
                return None
            self._known[doc] = self._tokenizer.count(text)
        return self._known[doc]


def evaluate_budgets(
    qrels: Any,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    evaluate: Callable[[Any, Any, Sequence[Measure]], Evaluation],
    *,
    tables: Mapping[str, Any],
    documents: Any = None,
    tokenizer: Any = None,
    policy: Policy,
) -> Evaluation:
    """Evaluate measures of which some have a budget: each budget once more, over lists cut to it.

    `tables` are the runs as they were passed, by name: they may have a column of tokens or texts.
    """
    from goodgain.io.texts import read_texts
    from goodgain.measures.grammar import parse
    from goodgain.ranking.composed import ComposedValues
    from goodgain.ranking.scores import RunScores
    from goodgain.spans.tokens import tokenizer_of

    if policy.ties in ("average", "bounds"):
        raise UsageError(
            f"ties={policy.ties} has no order in which results could fill a budget of tokens",
            hint="use ties=docid or ties=input, or leave out the measures with a budget",
        )
    texts = None if documents is None else read_texts(documents, "document").texts
    lengths = ResultLengths(tokenizer_of(tokenizer), texts)
    tokens = {
        run.name: tokens_of_rows(tables.get(run.name), lengths, tokenizer_of(tokenizer))
        for run in runs
    }
    plain = [m for m in measures if m.budget is None]
    whole = evaluate(qrels, list(runs), plain or [parse("NumQ")])
    places: dict[str, dict[str, Any]] = {run.name: {} for run in runs}
    empty: dict[str, list[str]] = {run.name: [] for run in runs}
    orders = {run.name: ranked_results(run, policy) for run in runs}
    for budget in sorted({m.budget for m in measures if m.budget is not None}):
        own = [m.of_list(None) for m in measures if m.budget == budget]
        cut = []
        for run in runs:
            lists = {
                query: docs[: fitting((tokens[run.name](query, doc) for doc in docs), budget)]
                for query, docs in orders[run.name].items()
            }
            without = sum(not docs for docs in lists.values())
            if without:
                empty[run.name].append(
                    f"for {without:,} of {len(lists):,} queries the first result has more than {budget:,} "
                    "tokens, so that nothing fits"
                )
            cut.append(_run_of(run, lists))
        scored = evaluate(qrels, cut, own)
        for run, scores in zip(runs, scored.runs, strict=True):
            places[run.name] |= {m.label: [(scores, None)] for m in own}
    results = {}
    for run, scores in zip(runs, whole.runs, strict=True):
        notes = (*scores.coverage.notes, *empty[run.name])
        values = ComposedValues(scores, places[run.name], {"notes": notes})
        results[run.name] = RunScores(run.name, tuple(measures), values)
    return whole.with_runs(results, tuple(measures))


def _run_of(run: Run, lists: Mapping[str, Sequence[str]]) -> Run:
    from goodgain.data.run import Run

    return Run(
        {query: list(docs) for query, docs in lists.items()},
        name=run.name,
        latency=run.latency,
        cost=run.cost,
    )


def ranked_results(run: Run, policy: Policy) -> dict[str, list[str]]:
    """The documents of each query in rank order: by score, then by id, larger first, or as in the input."""
    rows: dict[str, list[tuple[float, bytes, str]]] = {}
    if run.source.kind == "dict":  # queries without results count, too
        rows = {str(query): [] for query in run.source.value}
    queries, docs, scores = run.rows()
    if policy.scores == "single":
        from array import array

        scores = list(array("f", scores))
    for query, doc, score in zip(queries, docs, scores, strict=True):
        tie = b"" if policy.ties == "input" else doc.encode("utf-8", "surrogateescape")
        rows.setdefault(query, []).append((score, tie, doc))
    # A stable sort in reverse order keeps equal elements in the order of the input.
    return {
        query: [doc for _, _, doc in sorted(own, key=lambda row: row[:2], reverse=True)]
        for query, own in rows.items()
    }


def tokens_of_rows(
    table: Any, lengths: ResultLengths, tokenizer: Tokenizer
) -> Callable[[str, str], int]:
    """(query, document) -> its tokens: the column tokens of the run, its texts, or the documents."""
    known = _lengths_in_run(table, tokenizer)

    def tokens(query: str, doc: str) -> int:
        length = known.get((query, doc))
        if length is None:
            length = lengths.of(doc)
        if length is None:
            raise UsageError(
                f"the length of the result '{doc}' of query '{query}' is not known, so a budget of tokens "
                "cannot be applied",
                hint=HINT,
            )
        return length

    return tokens


def _lengths_in_run(source: Any, tokenizer: Tokenizer) -> dict[tuple[str, str], int]:
    from goodgain.io.columns import find_columns, has_column
    from goodgain.io.span_tables import names_of
    from goodgain.io.tables import load_table

    if source is None:
        return {}
    names = names_of(source)
    has = {role: has_column(names, "result lengths", role) for role in ("query", "doc")}
    if not all(has.values()) or not any(
        has_column(names, "result lengths", role) for role in ("tokens", "text")
    ):
        return {}
    table = load_table(source, "the run")
    roles = find_columns(table.columns, "result lengths", table.name)
    lengths: dict[tuple[str, str], int] = {}
    for row, (query, doc) in enumerate(
        zip(*(table.columns[roles[role]] for role in ("query", "doc")), strict=True)
    ):
        stated = table.columns[roles["tokens"]][row] if "tokens" in roles else None
        text = table.columns[roles["text"]][row] if "text" in roles else None
        if stated not in (None, "") and stated == stated:
            lengths[str(query), str(doc)] = _count(stated, table.where(row))
        elif isinstance(text, str) and text:
            lengths[str(query), str(doc)] = tokenizer.count(text)
    return lengths


def _count(value: Any, where: str) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not number >= 0 or number != int(number):
        raise InputError(f"'{value}' is not a number of tokens", where=where)
    return int(number)
