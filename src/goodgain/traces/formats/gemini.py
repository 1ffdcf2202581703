"""Gemini: contents with function calls, responses with grounding, and interactions."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.citations import block_citations, grounding_citations
from goodgain.traces.format import TraceFormat
from goodgain.traces.items import messages_in, piece_of_messages, read_threads, text_name
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts, first_of

if TYPE_CHECKING:
    from goodgain.traces.calls import CallRecord
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents
    from goodgain.traces.threads import Item, Piece
    from goodgain.traces.usage import Usage

_HISTORY = ("automaticFunctionCallingHistory", "automatic_function_calling_history")
_BLOCKS = {"text", "functionCall", "function_call", "functionResponse", "function_response"}


def _mismatch(document: Any) -> str:
    if isinstance(document, dict):
        response = document.get("response")
        holders = (document, response if isinstance(response, dict) else {})
        if any(isinstance(holder.get("candidates"), list) for holder in holders):
            return ""
        if document.get("object") == "interaction" and isinstance(document.get("steps"), list):
            return ""
        if isinstance(document.get("steps"), list) and any(
            str(s.get("type")).startswith("google_search") for s in dicts(document["steps"])
        ):
            return ""
        request = document.get("request")
        document = (request if isinstance(request, dict) else document).get("contents")
    if not isinstance(document, list):
        return "no contents or candidates"
    blocks = [b for c in dicts(document) for b in dicts(c.get("parts"))]
    known = any(set(b) & _BLOCKS and "type" not in b for b in blocks)
    return "" if known else "no contents with parts"


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per list of contents, thread of requests and responses, or interaction."""
    for is_interaction, group in groupby(documents, lambda pair: _is_interaction(pair[1])):
        if not is_interaction:
            yield from read_threads(group, _piece, context, lambda builder: _Chat(builder).add)
            continue
        for where, facts in group:
            builder = Builder(text_name(facts, "id") or where, facts.get("model"), context)
            _add_interaction(facts, builder, where)
            yield builder.build()


def _is_interaction(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("steps"), list)


def _piece(where: str, document: Any) -> Piece:
    """Contents, and the first candidate of the response to them."""
    facts = document if isinstance(document, dict) else {}
    response = facts["response"] if isinstance(facts.get("response"), dict) else facts
    request = facts["request"] if isinstance(facts.get("request"), dict) else facts
    contents = first_of(request, "contents") if facts else document
    if contents is None:
        contents = first_of(response, *_HISTORY)
    if isinstance(contents, str):
        contents = [{"role": "user", "parts": [{"text": contents}]}]
    elif isinstance(contents, dict):
        contents = [contents]
    candidate, *others = [*dicts(response.get("candidates")), None]
    reply = None
    if candidate is not None:
        content = candidate["content"] if isinstance(candidate.get("content"), dict) else {}
        reply = {**content, "role": "model", "parts": content.get("parts") or []}
        about = {k: v for k, v in candidate.items() if k != "content"}
        reply |= {"metadata": {**about, "others": len(others) - 1}}
    return piece_of_messages(
        where,
        document,
        contents,
        reply=reply,
        usage=read_usage(first_of(response, "usageMetadata", "usage_metadata")),
        name=text_name(facts, "id") or text_name(response, "responseId", "response_id"),
        system=first_of(response, "modelVersion", "model_version") or first_of(facts, "model"),
    )


class _Chat:
    """Contents in order; calls without an id are answered in order by the name of their function."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.pending: list[tuple[str, CallRecord]] = []

    def add(self, item: Item) -> None:
        """Add a content, or the reply with what the provider says about it."""
        if item.value.get("role") not in ("model", "assistant"):
            self.add_content(item.value, item.where)
            return
        metadata = item.value.get("metadata")
        about = metadata if isinstance(metadata, dict) else {}
        others = about.get("others")
        if isinstance(others, int) and others > 0:
            rule = "another candidate for the reply"
            self.builder.add_item("message", item.where, "read", rule, others)
        self.add_generation({**about, "content": item.value}, item.where, item.usage)

    def add_content(self, content: dict[str, Any], where: str) -> None:
        outputs = 0
        for number, block in enumerate(dicts(content.get("parts"))):
            output = first_of(block, "functionResponse", "function_response")
            if isinstance(output, dict):
                outputs += 1
                self.add_output(output, f"{where}.parts[{number}]")
        if not outputs:
            self.builder.start_turn("\n".join(_texts(content)))

    def add_generation(self, candidate: dict[str, Any], where: str, usage: Usage) -> None:
        builder = self.builder
        builder.start_iteration(**builder.context.spent(usage, builder.system))
        builder.drop_answer()
        grounding = first_of(candidate, "groundingMetadata", "grounding_metadata")
        citations = _add_grounding(grounding, builder, where) if grounding else []
        pages = first_of(candidate, "urlContextMetadata", "url_context_metadata")
        if isinstance(pages, dict):
            _add_pages(pages, builder, where)
        content = candidate.get("content")
        content = content if isinstance(content, dict) else {}
        has_calls = False
        for number, block in enumerate(dicts(content.get("parts"))):
            call = first_of(block, "functionCall", "function_call")
            if isinstance(call, dict):
                has_calls = True
                name, place = call.get("name"), f"{where}.parts[{number}]"
                record = builder.add_call(call.get("id"), name, call.get("args"), where=place)
                self.pending.append((str(name), record))
        if not has_calls:
            builder.add_answer("".join(_texts(content)), citations)

    def add_output(self, output: dict[str, Any], where: str) -> None:
        response, error = output.get("response"), None
        if isinstance(response, dict) and response.get("error") and len(response) <= 2:
            error = response["error"]
            error = error.get("message") or str(error) if isinstance(error, dict) else error
        call: Any = output.get("id")
        if not call:
            names = [name for name, _ in self.pending]
            if str(output.get("name")) in names:
                call = self.pending.pop(names.index(str(output.get("name"))))[1]
        self.builder.add_output(call, response, where=where, error=error)


def _texts(content: dict[str, Any]) -> list[str]:
    blocks = (b for b in dicts(content.get("parts")) if not b.get("thought"))
    return [b["text"] for b in blocks if isinstance(b.get("text"), str)]


def _add_grounding(grounding: Any, builder: Builder, where: str) -> list[dict[str, Any]]:
    """Add the search that the provider ran, with the chunks that it returned; the citations of them."""
    if not isinstance(grounding, dict):
        return []
    names = ("webSearchQueries", "retrievalQueries", "imageSearchQueries")
    queries = [
        query
        for name in names
        for query in first_of(grounding, name, _snake(name)) or []
        if isinstance(query, str)
    ]
    chunks = first_of(grounding, "groundingChunks", "grounding_chunks")
    if not queries and not chunks:
        return []
    place = f"{where}.groundingMetadata"
    record = builder.add_call(
        None, "google_search", queries or None, where=place, kind="hosted search"
    )
    results = [_chunk_result(chunk) for chunk in dicts(chunks)]
    if chunks is not None:
        builder.add_output(record, chunks, where=place, results=[r for r in results if r])
    return grounding_citations(grounding, results)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def _chunk_result(chunk: dict[str, Any]) -> dict[str, Any]:
    web = chunk.get("web")
    inner = web or first_of(chunk, "retrievedContext", "retrieved_context") or chunk.get("maps")
    if not isinstance(inner, dict):
        return {}
    fields = {
        "url": inner.get("uri"),
        "title": inner.get("title"),
        "content": inner.get("text"),
        "id": first_of(inner, "documentName", "document_name", "placeId", "place_id"),
        "type": "web" if web else None,
    }
    return {k: str(v) for k, v in fields.items() if v}


def _add_pages(metadata: dict[str, Any], builder: Builder, where: str) -> None:
    """Add the pages that the provider opened for the model."""
    for number, page in enumerate(dicts(first_of(metadata, "urlMetadata", "url_metadata"))):
        url = first_of(page, "retrievedUrl", "retrieved_url")
        place = f"{where}.urlContextMetadata[{number}]"
        record = builder.add_call(None, "fetch_url", {"url": url}, where=place)
        status = str(first_of(page, "urlRetrievalStatus", "url_retrieval_status") or "")
        error = status if status and not status.endswith("SUCCESS") else None
        builder.add_output(record, url, where=place, error=error)


# --- interactions ---


def _add_interaction(facts: dict[str, Any], builder: Builder, where: str) -> None:
    """Steps in order: calls, results and outputs of the model."""
    question = facts.get("input")
    builder.start_turn(question if isinstance(question, str) else None)
    is_new = True
    for place, step in messages_in(facts["steps"], builder, where, "steps"):
        kind = str(step.get("type"))
        if kind.endswith("_call"):
            if is_new:
                builder.start_iteration()
                is_new = False
            hosted = "hosted search" if "search" in kind else None
            name = step.get("name") or kind.removesuffix("_call")
            builder.add_call(step.get("id"), name, step.get("arguments"), where=place, kind=hosted)
        elif kind.endswith("_result"):
            is_new = True
            _add_step_result(step, builder, place)
        elif kind == "user_input":
            builder.start_turn(_text(step))
        elif kind == "model_output":
            builder.add_answer(_text(step), _citations(step))
    usage = facts.get("usage")
    if isinstance(usage, dict):
        names = {"input_tokens": "total_input_tokens", "output_tokens": "total_output_tokens"}
        usage = {**usage, **{name: usage.get(other) for name, other in names.items()}}
    builder.add_usage(**builder.context.spent(read_usage(usage), builder.system))


def _add_step_result(step: dict[str, Any], builder: Builder, place: str) -> None:
    value = step.get("result")
    error = "error" if step.get("is_error") else None
    pages = list(dicts(value))
    if pages and all(set(p) <= {"search_suggestions", "rendered_content"} for p in pages):
        return  # only widgets to display: the results stay with the provider
    builder.add_output(step.get("call_id"), value, where=place, error=error)


def _text(step: dict[str, Any]) -> str:
    return "".join(b["text"] for b in dicts(step.get("content")) if isinstance(b.get("text"), str))


def _citations(step: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for block in dicts(step.get("content")) for c in block_citations(block)]


FORMAT = TraceFormat("gemini", "Gemini contents, responses and interactions", _mismatch, _read)
