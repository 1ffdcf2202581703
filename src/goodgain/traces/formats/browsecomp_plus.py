"""BrowseComp-Plus: one JSON object per query, with the calls and texts of the agent in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.traces.builder import Builder
from goodgain.traces.format import TraceFormat
from goodgain.traces.telemetry import text_in
from goodgain.traces.values import dicts

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents


def _mismatch(document: Any) -> str:
    if not isinstance(document, dict) or "query_id" not in document:
        return "no query_id"
    return "" if isinstance(document.get("result"), list) else "no list 'result'"


def _read(documents: Documents, context: Context) -> Conversations:
    """One iteration per call; with `merge_adjacent`, calls with nothing between them share one."""
    for where, document in documents:
        if problem := _mismatch(document):
            context.skip(
                InputError(f"not a BrowseComp-Plus run: {problem}", where=context.place(where))
            )
            continue
        metadata = document.get("metadata")
        system = text_in(metadata, "model") if isinstance(metadata, dict) else None
        builder = Builder(document["query_id"], system, context)
        query = document.get("query")
        builder.start_turn(query if isinstance(query, str) else None)
        is_adjacent = False
        for number, item in enumerate(dicts(document["result"])):
            place = f"{where} result[{number}]"
            builder.add_item("message", place)
            if item.get("type") != "tool_call":
                is_adjacent = False
                if item.get("type") == "output_text":
                    builder.drop_answer()
                    builder.add_answer(str(item.get("output") or ""))
                continue
            if not (is_adjacent and context.merge_adjacent):
                builder.start_iteration()
            is_adjacent = True
            record = builder.add_call(
                None, item.get("tool_name"), item.get("arguments"), where=place
            )
            if item.get("output") is not None:
                builder.add_output(record, item["output"], where=place)
        if _ended_without_answer(document):
            builder.end_without_answer()
        yield builder.build()


def _ended_without_answer(run: dict[str, Any]) -> bool:
    """Whether the run says that it is over and has no text: it ran out of steps or tokens."""
    texts = (i for i in dicts(run["result"]) if i.get("type") == "output_text" and i.get("output"))
    return isinstance(run.get("status"), str) and next(texts, None) is None


FORMAT = TraceFormat("browsecomp-plus", "BrowseComp-Plus runs", _mismatch, _read)
