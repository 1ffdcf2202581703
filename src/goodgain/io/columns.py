"""Which column holds what: the usual names by role, the only such table in the package.

One rule decides for every table. The names of a role stand in groups; the first group of which the table
has a column decides, and two columns of one group are an error that names both. A role whose names have an
order of preference is written as groups of one name each (`_ordered`).
"""

from __future__ import annotations

from functools import lru_cache

from goodgain.errors import InputError
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal

    TableKind = Literal["run", "qrels"]

Names = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Role:
    """What a column is for, and the names that it goes by."""

    title: str
    names: Names
    required: bool = True


@dataclass(frozen=True, slots=True)
class Layout:
    """The roles of a kind of table, in the order in which columns are assigned; `choice` is a hint."""

    roles: dict[str, Role]
    choice: str = ""


def _ordered(*names: str) -> Names:
    return tuple((name,) for name in names)


_QUERY_IDS = ("query_id", "qid", "query-id", "q_id", "queryid", "topic_id")
_DOCUMENT_IDS = ("doc_id", "docno", "docid", "doc-id", "corpus-id", "corpus_id", "document_id",
                 "document-id")  # fmt: skip
_PASSAGE_IDS = ("pid", "passage_id")
_KEYS = (*_QUERY_IDS, "topic", "_id", "id", "question_id")  # of a table with a row per query
_CHOICE = "columns={'query': ...} (--query COLUMN)"

_QUERY = Role(
    "query id",
    (("query", "topic", *_QUERY_IDS), *_ordered("question_id", "question", "conversation", "unit")),
)
_DOCUMENT = Role("document id", (("doc", "document", *_DOCUMENT_IDS, *_PASSAGE_IDS),))
_SCORE = Role("score", (("score", "similarity", "sim"),))
_GAINS = ("gain", "relevance", "rel", "label", "grade", "judgment", "judgement")
_TEXT = Role(
    "text of a document",
    _ordered("text", "content", "contents", "body", "passage", "segment", "abstract", "document",
             "snippet"),
)  # fmt: skip
_QUESTION = Role("question", _ordered("question", "query_text", "query"), required=False)
_TITLE = Role("title", (("title",),), required=False)

TABLES: dict[str, Layout] = {
    "run": Layout(
        {"query": _QUERY, "doc": _DOCUMENT, "value": _SCORE},
        "columns={'query': ..., 'doc': ..., 'score': ...} (--columns query=...,doc=...)",
    ),
    "qrels": Layout(
        {
            "query": _QUERY,
            "doc": _DOCUMENT,
            "value": Role("gain", (_GAINS, *_SCORE.names)),  # BEIR calls gains scores
            "target": Role("target", (("target", "target_id"),), required=False),
            "aspect": Role(
                "aspect", (("aspect", "subtopic", "subtopic_id", "intent"),), required=False
            ),
        },
        "columns={'query': ..., 'doc': ..., 'gain': ...} (--columns query=...,doc=...)",
    ),
    "scores": Layout(
        {
            "query": _QUERY,
            "system": Role(
                "system",
                _ordered("system", "run", "method", "model", "retriever", "variant", "name"),
                required=False,
            ),
            "seed": Role("seed", _ordered("seed", "repeat"), required=False),
            "measure": Role("measure", _ordered("measure", "metric"), required=False),
            "value": Role("value", _ordered("value", "score"), required=False),
            "lower": Role("lower bound", (("lower",),), required=False),
            "upper": Role("upper bound", (("upper",),), required=False),
            "direction": Role(
                "direction", _ordered("direction", "lower_is_better"), required=False
            ),
            "iteration": Role("iteration", (("iteration",),), required=False),
        },
        _CHOICE,
    ),
    "preferences": Layout(
        {
            "query": _QUERY,
            "doc": Role(_DOCUMENT.title, _DOCUMENT.names, required=False),
            "label": Role(
                "label",
                _ordered(
                    "label", "gsb", "judgment", "judgement", "rating", "verdict", "preference"
                ),
            ),
            "annotator": Role(
                "annotator",
                _ordered("annotator", "rater", "judge", "assessor", "worker", "user"),
                required=False,
            ),
        },
        "columns={'query': ..., 'label': ...}",
    ),
    "documents": Layout(
        {
            "text": _TEXT,
            "id": Role(
                "id of a document", _ordered("doc", *_DOCUMENT_IDS, "_id", "id", *_PASSAGE_IDS)
            ),
            "title": _TITLE,
        }
    ),
    "queries": Layout(
        {
            "text": Role(
                "text of a query", _ordered("text", "question", "query_text", "title", "query")
            ),
            "id": Role("id of a query", _ordered(*_KEYS, "query")),
        }
    ),
    "groups": Layout(  # of queries, which may have texts besides
        {"query": Role("query id", _ordered(*_KEYS, "query", "question", "conversation", "unit"))},
        _CHOICE,
    ),
    "pairs": Layout(
        {
            "question": _QUESTION,
            "query": Role("query id", _ordered(*_QUERY_IDS), required=False),
            "doc": Role(
                "document id", _ordered(*_DOCUMENT_IDS, *_PASSAGE_IDS, "doc"), required=False
            ),
            "text": Role(_TEXT.title, _TEXT.names, required=False),
            "title": _TITLE,
        }
    ),
    "texts": Layout(  # documents or queries
        {
            "id": Role(
                "id", _ordered("_id", "id", *_DOCUMENT_IDS, *_PASSAGE_IDS, "doc", *_QUERY_IDS)
            ),
            "text": Role(_TEXT.title, _TEXT.names, required=False),
            "title": _TITLE,
            "question": _QUESTION,
        }
    ),
    "edges": Layout(
        {
            "source": Role("source", _ordered("source", "from", "doc", "a")),
            "target": Role("target", _ordered("target", "to", "neighbour", "neighbor", "b")),
            "weight": Role("weight", (("weight",),), required=False),
        }
    ),
}


def find_columns(
    names: Iterable[str], table: str, where: str = "", chosen: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The column of each role of a table (a key of `TABLES`); optional roles only where there is one.

    `chosen` names columns by role; `score` and `gain` may stand for `value`.
    """
    listed = tuple(names)
    aliases = {"score": "value", "gain": "value"} if table in ("run", "qrels") else {}
    by_role = tuple((aliases.get(role, role), column) for role, column in (chosen or {}).items())
    columns = _find(listed, table, by_role)
    if isinstance(columns, InputError):
        raise InputError(columns.message, where=where, hint=columns.hint)
    return dict(columns)


@lru_cache(maxsize=4096)  # files of objects repeat the same names line by line
def _find(
    names: tuple[str, ...], table: str, chosen: tuple[tuple[str, str], ...]
) -> dict[str, str] | InputError:
    layout = TABLES[table]
    columns = dict(chosen)
    for chosen_role, column in chosen:
        if chosen_role not in layout.roles:
            return InputError(
                f"unknown column role '{chosen_role}'", hint=f"roles: {', '.join(layout.roles)}"
            )
        if column not in names:
            return column_not_found(column, names)
    for name, role in layout.roles.items():
        if name in columns:
            continue
        free = [column for column in names if column not in columns.values()]
        matches = _matches(free, role.names)
        if len(matches) > 1:
            return InputError(
                f"ambiguous {role.title}: it could be column '{matches[0]}' or '{matches[1]}'",
                hint=f"choose one with {layout.choice}" if layout.choice else "rename one of them",
            )
        if matches:
            columns[name] = matches[0]
        elif role.required:
            usual = ", ".join(alias for group in role.names for alias in group)
            choice = f"; choose one with {layout.choice}" if layout.choice else ""
            return InputError(
                f"no column for the {role.title}",
                hint=f"available columns: {', '.join(names)}; usual names: {usual}{choice}",
            )
    return {role: columns[role] for role in layout.roles if role in columns}


def column_not_found(column: str, names: Iterable[str], where: str = "") -> InputError:
    """The error for a column that a table does not have."""
    return InputError(
        f"column '{column}' not found", where=where, hint=f"available columns: {', '.join(names)}"
    )


def columns_of(table: TableKind, chosen: Mapping[str, str] | None) -> dict[str, str]:
    """Of columns chosen for judgments and runs at once, those of one of them."""
    others = {"gain", "target", "aspect"} if table == "run" else {"score"}
    return {role: column for role, column in (chosen or {}).items() if role not in others}


def looks_like_header(names: Sequence[str], table: TableKind) -> bool:
    """Whether a first line names columns rather than holding values."""
    roles = TABLES[table].roles
    return all(_matches(names, roles[role].names) for role in ("query", "doc"))


def kinds_of_header(names: Sequence[str]) -> set[TableKind]:
    """What a table with these columns can be; BEIR calls a document corpus-id only in judgments."""
    if not looks_like_header(names, "run"):
        return set()
    if _matches(names, (_GAINS,)) or _matches(names, (("corpus-id",),)):
        return {"qrels"}
    return {"run"} if _matches(names, _SCORE.names) else set()


def _matches(columns: Sequence[str], names: Names) -> list[str]:
    """The columns of the first group of names that has any."""
    folded = [column.strip().casefold() for column in columns]
    for group in names:
        matches = [column for column, name in zip(columns, folded, strict=True) if name in group]
        if matches:
            return matches
    return []
