"""goodgain's own form: a conversation of turns, iterations, searches and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat

if TYPE_CHECKING:
    from goodgain.traces.builder import Context
    from goodgain.traces.format import Conversations, Documents


def _mismatch(document: Any) -> str:
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, dict) or "conversation" not in first:
        return "no 'conversation'"
    return "" if "turns" in first else "no 'turns'"


def _read(documents: Documents, context: Context) -> Conversations:
    for _, document in documents:
        yield from document if isinstance(document, list) else [document]


FORMAT = TraceFormat("canonical", "goodgain's own JSON lines", _mismatch, _read)
