"""Which column is which: the usual names, and an error where one could mean two things."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Role = Literal["query", "doc", "value", "target", "aspect"]
TableKind = Literal["run", "qrels"]

_NAMES: dict[str, tuple[str, ...]] = {
    "query": ("query", "query_id", "qid", "query-id", "q_id", "queryid", "topic", "topic_id"),
    "doc": ("doc", "doc_id", "docno", "docid", "corpus-id", "corpus_id", "document", "document_id",
            "document-id", "doc-id", "pid", "passage_id"),
    "score": ("score", "similarity", "sim"),
    "gain": ("gain", "relevance", "rel", "label", "grade", "judgment", "judgement"),
    "target": ("target", "target_id"),
    "aspect": ("aspect", "subtopic", "subtopic_id", "intent"),
}  # fmt: skip


def find_columns(
    names: Sequence[str], table: TableKind, where: str, given: Mapping[str, str] | None = None
) -> dict[Role, str]:
    """The column of each role; optional ones only where they are there.

    `given` names columns by role (`query`, `doc`, `score` or `gain`, `target`, `aspect`).
    """
    given = {("value" if r in ("score", "gain") else r): c for r, c in (given or {}).items()}
    found: dict[Role, str] = {}
    roles: tuple[Role, ...] = ("query", "doc", "value", "target", "aspect")
    for unknown in set(given) - set(roles):
        raise InputError(f"'{unknown}' is not the role of a column", hint=_naming(table))
    for role in roles:
        if role in given:
            if given[role] not in names:
                raise InputError(
                    f"there is no column '{given[role]}'",
                    where=where,
                    hint=f"the columns are: {', '.join(names)}",
                )
            found[role] = given[role]
            continue
        if table == "run" and role in ("target", "aspect"):
            continue
        candidates = _candidates(names, role, table)
        if len(candidates) > 1:
            raise InputError(
                f"the {_word(role, table)} could be in column '{candidates[0]}' or "
                f"'{candidates[1]}'",
                where=where,
                hint=f"say which: {_naming(table)}",
            )
        if candidates:
            found[role] = candidates[0]
        elif role in ("query", "doc", "value"):
            raise InputError(
                f"there is no column for the {_word(role, table)}",
                where=where,
                hint=f"the columns are: {', '.join(names)}; name it: {_naming(table)}",
            )
    return found


def columns_of(table: TableKind, given: Mapping[str, str] | None) -> dict[str, str]:
    """Of columns that are named for judgements and runs together, those of one of them."""
    ours = {"query", "doc", "score"}
    if table == "run":
        return {role: name for role, name in (given or {}).items() if role in ours}
    return {role: name for role, name in (given or {}).items() if role != "score"}


def looks_like_header(names: Sequence[str], table: TableKind) -> bool:
    """Whether a first line names columns rather than holding values."""
    return all(_candidates(names, role, table) for role in ("query", "doc"))


def kinds_of_header(names: Sequence[str]) -> set[TableKind]:
    """What a table with these columns can be; BEIR calls a document corpus-id only in judgements."""
    if not looks_like_header(names, "run"):
        return set()
    if _matching(names, _NAMES["gain"]) or _matching(names, ("corpus-id",)):
        return {"qrels"}
    return {"run"} if _matching(names, _NAMES["score"]) else set()


def _candidates(names: Sequence[str], role: str, table: TableKind) -> list[str]:
    if role == "value":
        usual = _NAMES["score"] if table == "run" else _NAMES["gain"]
        found = _matching(names, usual)
        # BEIR calls the gain of its judgements a score.
        return found or (_matching(names, _NAMES["score"]) if table == "qrels" else [])
    return _matching(names, _NAMES[role])


def _matching(names: Sequence[str], usual: tuple[str, ...]) -> list[str]:
    return [name for name in names if name.strip().casefold() in usual]


def _word(role: str, table: TableKind) -> str:
    if role == "value":
        return "score" if table == "run" else "gain"
    return {"query": "query id", "doc": "document id"}.get(role, role)


def _naming(table: TableKind) -> str:
    value = "score" if table == "run" else "gain"
    return f"columns={{'query': ..., 'doc': ..., '{value}': ...}} (--columns query=...,doc=...)"
