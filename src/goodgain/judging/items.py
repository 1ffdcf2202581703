"""What people judge: questions with documents, from a store, a sample, a file of pairs or runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.labels.canaries import PREFIX
from goodgain.labels.pairs import file_rows, pair_of, row_fields
from goodgain.labels.pooling import pool, rows_by_id
from goodgain.labels.store import digest, document_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goodgain.labels.store import Store

TEXT_LIMIT = 200_000  # characters of a document that are shown
_URLS = ("url", "link", "uri", "href")
_NARRATIVES = ("narrative", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A question and a document, with all that is shown of them."""

    query: str
    doc: str
    question: str
    text: str
    title: str = ""
    url: str = ""
    narrative: str = ""
    document: str | None = None  # the hash of the text

    @property
    def place(self) -> tuple[str, ...]:
        """What a vote on it is about."""
        return self.query, self.doc

    def to_dict(self) -> dict[str, Any]:
        """What the page gets: nothing about ranks, systems, strata or labels."""
        return {
            "key": item_key(self.place),
            "seen": (self.document or "")[:16],
            "query": self.query,
            "doc": self.doc,
            "question": self.question,
            "narrative": self.narrative,
            "title": self.title,
            "text": self.text[:TEXT_LIMIT],
            "cut": len(self.text) if len(self.text) > TEXT_LIMIT else None,
            "url": self.url,
        }


def item_key(place: tuple[str, ...]) -> str:
    """A name for URLs, since ids may hold anything."""
    return digest(*place)[:20]


def file_items(path: str) -> list[Item]:
    """The pairs of a file: query_id, doc_id, question, text; title, url and narrative if it has them."""
    items: dict[tuple[str, ...], Item] = {}
    for where, row in file_rows(path):
        pair = pair_of(row, where)
        fields = row_fields(row, "pairs", where) if isinstance(row, dict) else {}
        item = Item(
            query=pair.query,
            doc=pair.doc,
            question=pair.question,
            text=fields.get("text", "") if fields else pair.text,
            title=fields.get("title", ""),
            url=_web(_extra(row, _URLS)) or _web(pair.doc),
            narrative=_extra(row, _NARRATIVES),
            document=document_hash(pair.text),
        )
        if items.setdefault(item.place, item) != item:
            raise InputError(
                f"query '{item.query}', document '{item.doc}' has two texts", where=where
            )
    return list(items.values())


def store_pairs(store: Store) -> list[tuple[str, str]]:
    """The queries and documents that a store has labels of, without decoys."""
    settings = ", ".join(str(number) for number, _ in store.gain_settings()) or "NULL"
    rows = store.db.execute(
        f"SELECT DISTINCT query, doc FROM asked WHERE setting IN ({settings}) "
        "UNION SELECT query, doc FROM votes ORDER BY 1, 2"
    )
    return [(query, doc) for query, doc in rows.fetchall() if not doc.startswith(PREFIX)]


def run_pairs(runs: Any, depth: int, qrels: Any = None) -> list[tuple[str, str]]:
    """The documents in the top of any run that the judgments lack."""
    return [(pair.query, pair.doc) for pair in pool(runs, depth, qrels=qrels)]


def items_of(
    store: Store,
    pairs: Iterable[tuple[str, str]],
    *,
    queries: str | None = None,
    documents: str | None = None,
) -> tuple[list[Item], list[str]]:
    """Items for queries and documents, with texts from files or the store; and warnings.

    The store's text comes first: it is what the model judged.
    """
    wanted = list(dict.fromkeys(pairs))
    known = _stored(store, wanted)
    query_rows = rows_by_id(queries, {query for query, _ in wanted})
    document_rows = rows_by_id(documents, {doc for _, doc in wanted})
    items, missing, changed = [], 0, 0
    for query, doc in wanted:
        stored_question, hash_of, stored = known.get((query, doc), ("", None, None))
        question, narrative = query_fields(query_rows.get(query))
        question = question or stored_question
        if not question:
            raise InputError(
                f"no text for query '{query}'",
                hint="--queries must have the id and the text of every query",
            )
        fields = document_fields(doc, document_rows.get(doc))
        title, text, url = fields["title"], fields["text"], fields["url"]
        joined = "\n".join(filter(None, (title, text)))
        if stored is not None and not joined.startswith(stored):
            changed += bool(joined)
            title, text = "", stored
        elif stored is None and hash_of and joined:
            changed += hash_of != document_hash(joined)
        if not text and not title and not url:
            missing += 1
            continue
        items.append(
            Item(
                query=query,
                doc=doc,
                question=question,
                text=text,
                title=title,
                url=url,
                narrative=narrative,
                document=document_hash("\n".join(filter(None, (title, text)))),
            )
        )
    warnings = []
    if missing:
        if not items:
            raise InputError(
                f"none of the {missing:,} documents has a text",
                where=documents if isinstance(documents, str) else "",
                hint="--documents takes a table of documents: id, text, optional title and url",
            )
        warnings.append(f"{missing:,} documents have neither text nor URL and are left out")
    if changed:
        warnings.append(
            f"{changed:,} documents differ from the texts that the model judged; where the store has "
            "that text, it is shown"
        )
    return items, warnings


def _stored(
    store: Store, pairs: list[tuple[str, str]]
) -> dict[tuple[str, str], tuple[str, str | None, str | None]]:
    """Question, hash and text of each pair that the store knows; the last one counts."""
    wanted = set(pairs)
    rows = store.db.execute(
        "SELECT a.query, a.doc, q.text, a.document, d.text FROM asked a "
        "JOIN questions q ON q.id = a.question LEFT JOIN documents d ON d.hash = a.document "
        "ORDER BY a.created, a.id"
    )
    facts = {
        (row[0], row[1]): (row[2], row[3], row[4]) for row in rows if (row[0], row[1]) in wanted
    }
    votes = store.db.execute(
        "SELECT v.query, v.doc, q.text, v.document, d.text FROM votes v "
        "JOIN questions q ON q.id = v.question LEFT JOIN documents d ON d.hash = v.document"
    )
    for query, doc, question, hash_of, text in votes:
        if (query, doc) in wanted:
            facts.setdefault((query, doc), (question, hash_of, text))
    return facts


def query_fields(row: Mapping[str, Any] | None) -> tuple[str, str]:
    """The text and the narrative of a row about a query."""
    if row is None:
        return "", ""
    fields = row_fields(row, "texts", "")
    question = fields.get("text") or fields.get("question") or fields.get("title") or ""
    return question, _extra(row, _NARRATIVES)


def document_fields(doc: str, row: Mapping[str, Any] | None) -> dict[str, str]:
    """Title, text and URL of a row about a document, as far as it has them."""
    fields = {} if row is None else row_fields(row, "texts", "")
    return {
        "title": fields.get("title", ""),
        "text": fields.get("text", ""),
        "url": _web(_extra(row, _URLS)) or _web(doc),
    }


def _extra(row: Any, names: tuple[str, ...]) -> str:
    """The first of some columns that has a value."""
    if not isinstance(row, dict):
        return ""
    folded = {str(name).casefold(): value for name, value in row.items()}
    values = (folded.get(name) for name in names)
    return next((str(v) for v in values if v not in (None, "") and v == v), "")


def _web(address: str) -> str:
    return address if address.startswith(("http://", "https://")) else ""
