"""Which column holds what: the usual names by role, the only such table in the package.

One rule decides for every table. The names of a role stand in groups; the first group of which the table
has a column decides, and two columns of one group are an error that names both. A role whose names have an
order of preference is written as groups of one name each (`_ordered`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from goodgain.errors import InputError, UsageError
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal

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
_CONVERSATION = Role(
    "conversation",
    _ordered("conversation", "conversation_id", *_QUERY_IDS, "id", "_id", "question_id", "unit",
             "query"),
)  # fmt: skip
_DOCUMENT = Role("document id", (("doc", "document", *_DOCUMENT_IDS, *_PASSAGE_IDS),))
_SCORE = Role("score", (("score", "similarity", "sim"),))
_RANK = Role("rank", (("rank",),), required=False)  # only where there is no score
_RUN = Role(
    "name of the run", _ordered("run", "system", "run_id", "runid", "system_id"), required=False
)
_GAINS = ("gain", "relevance", "rel", "label", "grade", "judgment", "judgement")
_TEXT = Role(
    "text of a document",
    _ordered("text", "content", "contents", "body", "passage", "segment", "abstract", "document",
             "snippet"),
)  # fmt: skip
_QUESTION = Role("question", _ordered("question", "query_text", "query"), required=False)
_TITLE = Role("title", (("title",),), required=False)
BACKGROUND = {  # what a judge may be shown about a query
    "narrative": Role("narrative", _ordered("narrative", "narr"), required=False),
    "answer": Role(
        "gold answer", _ordered("answer", "gold_answer", "reference_answer"), required=False
    ),
}

TABLES: dict[str, Layout] = {
    "run": Layout(
        {"query": _QUERY, "doc": _DOCUMENT, "value": _SCORE, "rank": _RANK, "run": _RUN},
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
    "result lists": Layout(  # a row per query, with the list of its results
        {
            "query": Role(_QUERY.title, _ordered(*_KEYS, "query", "question", "unit")),
            "results": Role(
                "list of results",
                _ordered(
                    "results",
                    "documents",
                    "docs",
                    "hits",
                    "matches",
                    "nodes",
                    "source_nodes",
                    "retrieved",
                    "retrieved_docs",
                    "retrieved_documents",
                    "retrieved_ids",
                    "doc_ids",
                    "ids",
                    "ranking",
                    "contexts",
                    "context",
                ),
            ),
            "run": _RUN,
        },
        "columns={'query': ..., 'results': ...} (--columns query=...,results=...)",
    ),
    "result": Layout(  # one of them
        {
            "doc": Role(
                _DOCUMENT.title,
                _ordered(
                    *_DOCUMENT_IDS,
                    "id",
                    "_id",
                    "id_",
                    "node_id",
                    "chunk_id",
                    *_PASSAGE_IDS,
                    "doc",
                    "document",
                ),
                required=False,
            ),
            "value": Role(
                _SCORE.title,
                _ordered("score", "_score", "similarity", "sim", "relevance_score"),
                required=False,
            ),
            "rank": _RANK,
        }
    ),
    "result metadata": Layout(
        {
            "doc": Role(
                _DOCUMENT.title,
                _ordered(
                    *_DOCUMENT_IDS,
                    "id",
                    "_id",
                    "chunk_id",
                    *_PASSAGE_IDS,
                    "doc",
                    "source",
                    "url",
                    "file_path",
                    "path",
                ),
                required=False,
            )
        }
    ),
    "scores": Layout(
        {
            "query": _QUERY,
            "system": Role(
                "system",
                _ordered("system", "run", "method", "model", "retriever", "variant", "name"),
                required=False,
            ),
            "seed": Role("seed", (("seed",),), required=False),
            "repeat": Role(
                "repeat",
                _ordered("repeat", "repetition", "replicate", "trial"),
                required=False,
            ),
            "annotator": Role(
                "annotator", _ordered("annotator", "rater", "assessor", "worker"), required=False
            ),
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
    "spans": Layout(  # judged spans of text
        {
            "query": _QUERY,
            "doc": _DOCUMENT,
            "start": Role(
                "start of the span", (("start", "start_index", "begin"),), required=False
            ),
            "end": Role("end of the span", (("end", "end_index", "stop"),), required=False),
            "quote": Role("quote", (("quote", "span", "answer_span"),), required=False),
            "value": Role("gain", (_GAINS,), required=False),
        },
        "columns={'query': ..., 'doc': ..., 'quote': ...} (--columns query=...,doc=...)",
    ),
    "chunks": Layout(  # retrieved pieces of documents
        {
            "query": _QUERY,
            "doc": _DOCUMENT,
            "start": Role(
                "start of the chunk", (("start", "start_index", "begin"),), required=False
            ),
            "end": Role("end of the chunk", (("end", "end_index", "stop"),), required=False),
            "text": Role(
                "text of a chunk",
                _ordered("text", "content", "chunk", "page_content", "passage"),
                required=False,
            ),
            "score": Role(_SCORE.title, _SCORE.names, required=False),
            "rank": _RANK,
        },
        "columns={'query': ..., 'doc': ..., 'text': ...} (--columns query=...,doc=...)",
    ),
    "result lengths": Layout(  # how long the results of a run are
        {
            "query": _QUERY,
            "doc": _DOCUMENT,
            "tokens": Role(
                "number of tokens",
                _ordered("tokens", "token_count", "num_tokens", "n_tokens"),
                required=False,
            ),
            "text": Role(
                "text of a result",
                _ordered("text", "content", "chunk", "page_content", "passage", "contents"),
                required=False,
            ),
        },
    ),
    "published": Layout(  # values as printed, by run and measure; wide or long
        {
            "system": Role(
                "run",
                _ordered(
                    "run",
                    "system",
                    "method",
                    "model",
                    "retriever",
                    "variant",
                    "name",
                    "runid",
                    "run_id",
                ),
                required=False,
            ),
            "measure": Role("measure", _ordered("measure", "metric"), required=False),
            "value": Role("value", _ordered("value", "score"), required=False),
        }
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
            "query": Role("query id", _ordered(*_QUERY_IDS, "query"), required=False),
            "doc": Role(
                "document id", _ordered(*_DOCUMENT_IDS, *_PASSAGE_IDS, "doc"), required=False
            ),
            "text": Role(_TEXT.title, _TEXT.names, required=False),
            "title": _TITLE,
            **BACKGROUND,
        }
    ),
    "votes": Layout(  # beside those of pairs
        {
            "value": Role(
                "gain",
                _ordered(*_GAINS, "rating", "score", "value", "result.score"),
                required=False,
            ),
            "annotator": Role(
                "annotator",
                _ordered(
                    "annotator",
                    "rater",
                    "assessor",
                    "judge",
                    "worker",
                    "username",
                    "user",
                    "user_email",
                    "email",
                    "user_id",
                ),
                required=False,
            ),
            "model": Role("model", _ordered("model", "model_version"), required=False),
            "status": Role("status", (("status",),), required=False),
            "reason": Role("reason", (("reason",),), required=False),
            "note": Role("note", _ordered("note", "comment", "explanation"), required=False),
            "seconds": Role("seconds", _ordered("seconds", "lead_time"), required=False),
            "created": Role(
                "time", _ordered("created", "updated_at", "created_at", "timestamp"), required=False
            ),
            "low": Role("lowest gain", (("low",),), required=False),
            "high": Role("highest gain", (("high",),), required=False),
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
            **BACKGROUND,
        }
    ),
    "labels by hop": Layout(
        {"query": _QUERY, "doc": _DOCUMENT, "hop": Role("hop", (("hop",),))},
    ),
    "gold by hop": Layout(  # a row per conversation, with a list of documents for each hop
        {"query": _CONVERSATION, "hops": Role("hops", (("hops",),))},
    ),
    "answers": Layout(  # accepted answers, a row per conversation or per answer
        {
            "query": _CONVERSATION,
            "answer": Role(
                "gold answer",
                _ordered("answer", "answers", "gold_answer", "gold", "expected_answer", "expected"),
            ),
            "aliases": Role(
                "other accepted answers", _ordered("aliases", "answer_aliases"), required=False
            ),
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
    names: Iterable[str],
    table: str,
    where: str = "",
    chosen: Mapping[str, str] | None = None,
    value: bool = True,
) -> dict[str, str]:
    """The column of each role of a table (a key of `TABLES`); optional roles only where there is one.

    `chosen` names columns by role; `score` and `gain` may stand for `value`. A run has a column `value` or,
    without scores, `rank`; a rank beside a score is ignored unless it is chosen. With `value=False` it may
    have neither.
    """
    by_role: tuple[tuple[str, str], ...] = ()
    if chosen:
        aliases = {"score": "value", "gain": "value"} if table in ("run", "qrels") else {}
        by_role = tuple((aliases.get(role, role), column) for role, column in chosen.items())
    columns = _find(tuple(names), table, by_role, value)
    if isinstance(columns, InputError):
        raise InputError(columns.message, where=where, hint=columns.hint)
    return dict(columns)


@lru_cache(maxsize=4096)  # files of objects repeat the same names line by line
def _find(
    names: tuple[str, ...], table: str, chosen: tuple[tuple[str, str], ...], value: bool
) -> dict[str, str] | InputError:
    layout = TABLES[table]
    columns = dict(chosen)
    for chosen_role, column in chosen:
        if chosen_role in layout.roles and names.count(column) > 1:
            return _repeated(column)
        if chosen_role not in layout.roles:
            return InputError(
                f"unknown column role '{chosen_role}'", hint=f"roles: {', '.join(layout.roles)}"
            )
        if column not in names:
            return column_not_found(column, names)
    for name, role in layout.roles.items():
        if name in columns or (name in ("rank", "value") and {"rank", "value"} & columns.keys()):
            continue
        free = [column for column in names if column not in columns.values()]
        matches = _matches(free, role.names)
        if len(matches) > 1:
            if matches[0] == matches[1]:
                return _repeated(matches[0])
            return InputError(
                f"ambiguous {role.title}: it could be column '{matches[0]}' or '{matches[1]}'",
                hint=f"choose one with {layout.choice}" if layout.choice else "rename one of them",
            )
        if matches:
            columns[name] = matches[0]
        elif role.required and not (
            name == "value" and (not value or has_column(free, table, "rank"))
        ):
            usual = ", ".join(alias for group in role.names for alias in group)
            choice = f"; choose one with {layout.choice}" if layout.choice else ""
            return InputError(
                f"no column for the {role.title}",
                hint=f"available columns: {', '.join(names)}; usual names: {usual}{choice}",
            )
    return {role: columns[role] for role in layout.roles if role in columns}


def _repeated(column: str) -> InputError:
    return InputError(
        f"two columns are named '{column}'",
        hint="rename one of them: nobody can tell which is meant",
    )


def has_column(names: Sequence[str], table: str, role: str) -> bool:
    """Whether one of the names is usual for a role."""
    roles = TABLES[table].roles
    return role in roles and bool(_matches(names, roles[role].names))


def run_column(names: Sequence[str], table: str) -> str | None:
    """The column that names the run of a row, if there is one."""
    matches = _matches(names, TABLES[table].roles["run"].names)
    return matches[0] if matches else None


def core_columns(roles: Mapping[str, str]) -> tuple[dict[str, str], bool]:
    """The columns as the core names them, and whether the values of the run are ranks.

    The column that names runs is not among them: whoever reads one run of several adds it.
    """
    names = {
        "value" if role == "rank" else role: name for role, name in roles.items() if role != "run"
    }
    return names, "rank" in roles


def score_names() -> list[str]:
    """The usual names of a score."""
    return [name for group in _SCORE.names for name in group]


def column_not_found(column: str, names: Iterable[str], where: str = "") -> InputError:
    """The error for a column that a table does not have."""
    return InputError(
        f"column '{column}' not found", where=where, hint=f"available columns: {', '.join(names)}"
    )


def chosen_columns(chosen: Any) -> dict[str, str] | None:
    """What a user passed as `columns`, with the places of columns as text."""
    if chosen is None:
        return None
    if not isinstance(chosen, Mapping):
        raise UsageError(
            f"columns must be a dictionary, got {chosen!r:.80}",
            hint="for example columns={'query': 'qid', 'doc': 'docno'}",
        )
    columns: dict[str, str] = {}
    for role, column in chosen.items():
        if not isinstance(column, str | int) or isinstance(column, bool):
            raise UsageError(
                f"column {column!r:.80} for {role!r:.80} must be a name",
                hint="or its place, from 1, in a file without a header",
            )
        columns[str(role)] = str(column)
    return columns


def columns_of(table: TableKind, chosen: Mapping[str, str] | None) -> dict[str, str]:
    """Of columns chosen for judgments and runs at once, those of one of them."""
    others = {"gain", "target", "aspect"} if table == "run" else {"score", "rank", "results", "run"}
    return {role: str(column) for role, column in (chosen or {}).items() if role not in others}


def are_places(chosen: Mapping[str, str] | None, first: Sequence[str], where: str) -> bool:
    """Whether columns are chosen by their places, from 1, because the first line is not a header."""
    places = list((chosen or {}).values())
    if not places or not all(place.isdecimal() and place[0] != "0" for place in places):
        return False
    if all(place in first for place in places):
        raise InputError(
            f"'{places[0]}' could be the name or the place of a column",
            where=where,
            hint="give the file a header with other names",
        )
    return True


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
    return {"run"} if _matches(names, (*_SCORE.names, *_RANK.names)) else set()


def _matches(columns: Sequence[str], names: Names) -> list[str]:
    """The columns of the first group of names that has any."""
    folded = [column.strip().casefold() for column in columns]
    for group in names:
        matches = [column for column, name in zip(columns, folded, strict=True) if name in group]
        if matches:
            return matches
    return []
