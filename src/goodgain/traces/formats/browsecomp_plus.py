"""BrowseComp-Plus: one JSON object per query, with the calls and texts of the agent in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder, Context, dicts, query_of
from goodgain.traces.format import TraceFormat
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from goodgain.traces.format import Conversations, Documents


def _mismatch(document: Any) -> str:
    if not isinstance(document, dict) or "query_id" not in document:
        return "no query_id"
    return "" if isinstance(document.get("result"), list) else "no list 'result'"


def _read(documents: Documents, context: Context) -> Conversations:
    """One iteration per call; with `merge_adjacent`, calls with nothing between them share one."""
    for _, document in documents:
        builder = Builder(document["query_id"], (document.get("metadata") or {}).get("model"))
        query = document.get("query")
        builder.start_turn(query if isinstance(query, str) else None)
        is_adjacent = False
        for item in dicts(document["result"]):
            if item.get("type") != "tool_call":
                is_adjacent = False
                if item.get("type") == "output_text":
                    builder.set_answer(str(item.get("output") or ""))
                continue
            if not context.is_search(item.get("tool_name")):
                continue
            if not (is_adjacent and context.merge_adjacent):
                builder.start_iteration()
            is_adjacent = True
            _add_search(item, builder)
        yield builder.build()


def _add_search(item: dict[str, Any], builder: Builder) -> None:
    search = builder.add_search(None, item.get("tool_name"), query_of(item.get("arguments")))
    output = item.get("output")
    if is_failure(output):
        search["error"] = str(output)[:500]
    else:
        search["results"] = results_of(output)


FORMAT = TraceFormat("browsecomp-plus", "BrowseComp-Plus runs", _mismatch, _read)
