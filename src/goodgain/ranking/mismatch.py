"""Ids that differ only in how they are written, so that next to nothing of a run is judged.

Such a run is measured as if it had found nothing. Nobody can know what was meant, so ids are never
changed; but what would match is said.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from goodgain.errors import GoodgainError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from goodgain.data import Qrels, Run
    from goodgain.ranking.scores import Coverage, RunScores

_SUSPICIOUS = 0.05  # of what could be judged at most
_ENOUGH = 0.5  # of the ids that match nothing must match, or it is a coincidence
_MOST_ROWS = 5_000_000  # beyond which the run is not read again
_ROW_BYTES = 200  # of a row in memory: its texts, its number and their places in lists
_NUMBER = re.compile(r"0*(\d+)(\.0*)?")
_SEPARATORS = re.compile(r"[-_/\\:.]+")
_PAIRS = 50  # ids of each side that are compared to find what one side has before or after them


def _without_blanks(name: str) -> str:
    """Format characters such as the zero-width space are blanks that nobody sees."""
    return "".join(
        c for c in name if not c.isspace() and unicodedata.category(c) not in ("Cf", "Cc")
    )


def _read_as_utf8(name: str) -> str:
    """UTF-8 that was read as Latin-1, read again."""
    try:
        return name.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return name


_FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("case", str.casefold),
    ("blanks", _without_blanks),
    ("leading zeros", lambda name: re.sub(r"(?<!\d)0+(?=\d)", "", name)),
    ("whole numbers written as decimals", lambda name: _NUMBER.sub(r"\1", name, count=1)),
    ("Unicode forms", lambda name: unicodedata.normalize("NFKC", name)),
    ("encoding (UTF-8 read as Latin-1)", _read_as_utf8),
    ("URL encoding", lambda name: unquote(name.replace("+", " "))),
    ("HTML escapes", unescape),
    ("separators such as - and _", lambda name: _without_blanks(_SEPARATORS.sub("", name))),
)


def _plainest(name: str) -> str:
    """An id without any of these differences, for ids that differ in several ways at once."""
    for _, form in _FORMS[4::-1]:  # Unicode first: it has digits and capitals of its own
        name = form(name)
    return name


def _forms_of(groups: Sequence[Group]) -> Iterator[tuple[str, Callable[[str], str]]]:
    """The ways in which ids may be written alike, the simplest first."""
    yield from _FORMS
    if affixes := _affixes(groups, str):
        before, after = affixes
        yield (
            f"what is around them ('{before:.60}' before, '{after:.60}' after)",
            _stripper(affixes),
        )
    yield "case, blanks, zeros, decimals and Unicode forms", _plainest
    if affixes := _affixes(groups, _plainest):
        strip = _stripper(affixes)
        yield (
            f"case and what is around them ('{affixes[0]:.60}' before, '{affixes[1]:.60}' after)",
            lambda name: strip(_plainest(name)),
        )


def _stripper(affixes: tuple[str, str]) -> Callable[[str], str]:
    before, after = affixes
    return lambda name: name.removeprefix(before).removesuffix(after)


def _affixes(groups: Sequence[Group], form: Callable[[str], str]) -> tuple[str, str] | None:
    """What the ids of one side have before and after those of the other, most often."""
    seen: Counter[tuple[str, str]] = Counter()
    for group in groups[:_PAIRS]:
        known = [form(name) for name in sorted(group.judged)[:_PAIRS]]
        others = [form(name) for name in group.others[:_PAIRS]]
        for one in known:
            for other in others:
                inner, outer = sorted((one, other), key=len)
                if not inner or len(inner) == len(outer):
                    continue
                before, inside, after = outer.partition(inner)
                if inside:
                    # Within a number or a word it is a coincidence.
                    edges = (before[-1:] + inner[:1], inner[-1:] + after[:1])
                    if not any(len(e) == 2 and (e.isdigit() or e.isalpha()) for e in edges):
                        seen[before, after] += 1
    return seen.most_common(1)[0][0] if seen else None


class Group(NamedTuple):
    """Ids that should match: those of the judgments, and those of the run that match none of them."""

    query: str
    judged: set[str]
    others: list[str]


def mismatch_notes(run: RunScores) -> list[str]:
    """What would match if ids were written alike, if queries are left over or next to nothing is judged."""
    coverage = run.coverage
    if not coverage.is_suspicious or coverage.documents > _MOST_ROWS:
        return []
    retrieved = coverage.documents - coverage.unjudged_documents
    try:
        evaluator, table = run.tables()
        qrels = evaluator.qrels
        _require_room(table, evaluator.prepared.memory)
        notes = _query_notes(qrels, table) if coverage.leaves_queries else []
        if retrieved <= _SUSPICIOUS * min(coverage.documents, qrels.judgments):
            notes += _document_notes(qrels, table, coverage)
    except (
        GoodgainError
    ):  # a pipe, in a cluster, changed, too large, or with bad rows that were skipped
        none = f"none of the {coverage.documents:,} documents is judged: are the ids written alike?"
        return [] if retrieved else [none]
    return notes


def _require_room(table: Run, memory: int) -> None:
    """Raise an error unless the rows fit into the memory that is allowed for a run."""
    if table.about_rows() > min(_MOST_ROWS, memory // _ROW_BYTES):
        raise InputError("too many rows to read again", where=table.name)


def disjoint_hint(qrels: Qrels, run: Any, memory: int) -> str:
    """What would match of a run without any judged query; empty if nothing is known."""
    from goodgain.data import Run

    try:
        table = Run.of(run)
        table.source.require_unchanged()
        _require_room(table, memory)
        notes = _query_notes(qrels, table)
    except GoodgainError:  # a pipe, changed since, or too large
        return ""
    return notes[0] if notes else ""


def _query_notes(qrels: Qrels, run: Run) -> list[str]:
    in_run, judged = dict.fromkeys(run.rows()[0]), set(qrels.queries)
    others = [query for query in in_run if query not in judged]
    return alike_notes("queries", [Group("", judged - in_run.keys(), others)])


def _document_notes(qrels: Qrels, run: Run, coverage: Coverage) -> list[str]:
    lists: dict[str, list[str]] = {}
    for query, doc in zip(*run.rows()[:2], strict=True):
        lists.setdefault(query, []).append(doc)
    groups: list[Group] = []
    for query, docs in lists.items():
        if query in qrels:
            judged = qrels[query]
            others = [doc for doc in docs if doc not in judged]
            if judged and others:
                groups.append(Group(query, set(judged), others))
    if notes := alike_notes("documents", groups):
        return notes
    if coverage.documents > coverage.unjudged_documents or not groups:
        return []
    group = groups[0]
    return [
        f"none of the {coverage.documents:,} documents is judged: query '{group.query}' has document "
        f"'{group.others[0]:.60}', its judgments have '{min(group.judged):.60}'"
    ]


def pair_notes(
    judged: Mapping[str, Mapping[str, float]],
    others: Mapping[str, Mapping[str, float]],
    sides: tuple[str, str],
) -> list[str]:
    """What would match if the ids of two tables, {query: {document: number}}, were written alike."""
    queries = [query for query in others if query not in judged]
    notes = alike_notes("queries", [Group("", judged.keys() - others.keys(), queries)], sides)
    groups = [
        Group(
            query, docs.keys() - others[query].keys(), [d for d in others[query] if d not in docs]
        )
        for query, docs in judged.items()
        if query in others
    ]
    return notes + alike_notes("documents", groups, sides)


def alike_notes(
    what: str,
    groups: Sequence[Group],
    sides: tuple[str, str] = ("the run has", "the judgments have"),
) -> list[str]:
    """One sentence about the first form that lets most of the judged ids match."""
    for name, form in _forms_of(groups):
        possible = matching = 0
        example: tuple[str, str] | None = None
        for _, judged, others in groups:
            written = {form(other): other for other in others}
            both = [known for known in judged if form(known) in written]
            possible += min(len(judged), len(written))
            matching += len(both)
            if both and example is None:
                first = min(both)
                example = written[form(first)], first
        if example and matching >= _ENOUGH * possible:
            return [
                f"ignoring {name}, {matching:,} of {possible:,} unmatched {what} "
                f"({matching / possible:.0%}) would match: {sides[0]} '{example[0]:.60}', {sides[1]} "
                f"'{example[1]:.60}'"
            ]
    return []
