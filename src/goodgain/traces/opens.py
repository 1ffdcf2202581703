"""Documents that an agent opened: named by the arguments of the call, described by its output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.values import decode_json, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.traces.calls import CallRecord

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+$", re.I)
DOCUMENT_NAMES = (
    "url", "urls", "uri", "link", "links", "href", "page", "page_url", "website", "id", "ids", "docid",
    "doc_id", "document_id", "file_id", "path", "file_path", "source", "document", "title", "input",
    "__arg1",
)  # fmt: skip


def opened_documents(record: CallRecord) -> list[dict[str, Any]]:
    """What a call opened, one result for each document; empty if it is not named."""
    documents = list(_named(decode_json(record.arguments)))
    finding = record.finding
    if len(documents) <= 1 and finding is not None and len(finding.results) == 1:
        document = {**finding.results[0], **(documents[0] if documents else {})}
        documents = [{k: v for k, v in document.items() if k != "gain"}]
    tool = {"tool": record.tool} if record.tool else {}
    return [{**document, **tool} for document in documents]


def _named(arguments: Any) -> Iterator[dict[str, Any]]:
    if isinstance(arguments, str | int) and not isinstance(arguments, bool):
        if text := str(arguments).strip():
            yield {"url": text} if _URL.match(text) else {"id": text}
    elif isinstance(arguments, list):
        for item in arguments:
            yield from _named(decode_json(item))
    elif isinstance(arguments, dict):
        name = next((n for n in DOCUMENT_NAMES if arguments.get(n)), None)
        if name is not None:
            value = decode_json(arguments[name])
            if name == "title" and text_of(value):
                yield {"title": text_of(value)}
            else:
                yield from _named(value)
