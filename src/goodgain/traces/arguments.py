"""The evidence in a call's arguments and output: whether it asks a question or names a document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.traces.results.decoding import decode
from goodgain.traces.results.names import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.traces.results import Finding

_QUERY = {
    "query", "querie", "q", "question", "keyword", "term", "topic", "search", "phrase", "claim", "concept",
}  # fmt: skip
_ANY_TEXT = {"input", "text", "prompt", "arg1", "args", "tool_input", "input_str", "message"}
_TARGET = {
    "url", "uri", "link", "href", "path", "filepath", "filename", "docid", "pmid", "doi", "website",
    "webpage", "isbn",
}  # fmt: skip
_TARGETS = {
    "id", "doc_id", "document_id", "file_id", "page_id", "paper_id", "chunk_id", "article_id", "message_id",
    "thread_id", "resource_id", "arxiv_id", "link_id", "ids", "doc_ids", "document_ids", "file_ids", "page",
    "file_name", "document", "file", "item_id", "node_id", "ref_id",
}  # fmt: skip
_URL = re.compile(r"\s*(?:https?|file|ftp|s3|gs)://\S+\s*$", re.I)
_SQL = re.compile(
    r"\s*(?:(?:select|with)\b.{1,400}?\bfrom\b|insert\s+into\b|update\b.{1,200}?\bset\b|delete\s+from\b"
    r"|(?:create|drop|alter)\s+(?:table|view|index|database)\b|pragma\b|match\s*\(.{0,200}?\breturn\b)",
    re.I | re.S,
)
_CODE = re.compile(
    r"\s*(?:(?:import|from)\s+[\w.]+(?:\s+import\b|\s*$|\s*\n)|def\s+\w+\(|print\(|#!|\w+\s*=\s*[\w\[{('\"]"
    r"|[\d(][\d\s().,+*/^%-]*[+*/^%-][\d\s().,+*/^%-]*$)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a call besides its name."""

    known: bool
    query: str
    target: bool
    documents: bool

    @classmethod
    def of(cls, arguments: Any, finding: Finding | None) -> Evidence:
        """The evidence in the arguments of a call and in what its output holds."""
        query, target = "", False
        pairs = list(_pairs(arguments))
        for name, value in pairs:
            if _is_target(name, value):
                target = True
            elif not query and _is_query(name):
                query = value
        if not query and not target and len(pairs) == 1 and not pairs[0][0]:
            query = pairs[0][1]
        return cls(
            known=bool(pairs),
            query=query[:1000],
            target=target,
            documents=finding is not None and finding.account == "result",
        )

    def has(self, wanted: tuple[str, ...]) -> bool:
        """Whether all of the wanted evidence is there; `searching.toml` explains its names."""
        return all(self._has(name) for name in wanted)

    def _has(self, name: str) -> bool:
        match name:
            case "query":
                return bool(self.query) or not self.known
            case "no query":
                return not self.query
            case "arguments":
                return bool(self.query)
            case "target":
                return self.target
            case "no target":
                return not self.target
            case "documents":
                return self.documents
            case "sql":
                return bool(_SQL.match(self.query))
            case _:
                return bool(_CODE.match(self.query))


def _pairs(arguments: Any) -> Iterator[tuple[str, str]]:
    """Names and texts of the arguments; a wrapper such as {"input": {...}} is opened."""
    arguments = decode(arguments)
    for _ in range(3):
        if not (isinstance(arguments, dict) and len(arguments) == 1):
            break
        inner = decode(next(iter(arguments.values())))
        if not isinstance(inner, dict):
            break
        arguments = inner
    if isinstance(arguments, str):
        if arguments.strip():
            yield "", arguments
    elif isinstance(arguments, list):
        yield from (("", a) for a in arguments[:1] if isinstance(a, str) and a.strip())
    elif isinstance(arguments, dict):
        for name, value in arguments.items():
            first = value[0] if isinstance(value, list) and value else value
            if isinstance(first, dict):  # [{"query": ...}] or {"query": {"text": ...}}
                first = next((v for v in first.values() if isinstance(v, str) and v), None)
            if isinstance(first, str | int | float) and first != "":
                yield "_".join(words_of(str(name))), str(first)


def _is_query(name: str) -> bool:
    last = name.rpartition("_")[2]
    return bool(name) and (last.rstrip("s") in _QUERY or last in _QUERY or name in _ANY_TEXT)


def _is_target(name: str, value: str) -> bool:
    last = name.rpartition("_")[2].rstrip("s")
    return last in _TARGET or name in _TARGETS or bool(_URL.match(value))
