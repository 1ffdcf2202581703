"""Citations of an answer: annotations, citation blocks, markers and URLs in its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain._core import text_citations as _core_citations
from goodgain.traces.values import dicts, first_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


def citations_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the provider itself says that a message cites."""
    text = text_of(message.get("content"))
    citations = list(_annotations(message.get("annotations"), text))
    for block in dicts(message.get("content")):
        citations += block_citations(block)
    extra = message.get("additional_kwargs")  # LangChain's place for what its messages do not have
    if isinstance(extra, dict):
        citations += _annotations(extra.get("annotations"), text)
        sources = extra.get("search_results") or extra.get("citations")
        citations += numbered_citations(text, sources if isinstance(sources, list) else ())
    return citations


def block_citations(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The citations of a block of text: OpenAI's annotations, Anthropic's citations."""
    inner = block.get("citationsContent")  # Bedrock
    if isinstance(inner, dict):
        return [c for c in map(_location, dicts(inner.get("citations"))) if c]
    text, annotations = block.get("text"), block.get("annotations")
    if isinstance(text, dict):  # OpenAI's threads: {"value": ..., "annotations": [...]}
        annotations = annotations or text.get("annotations")
        text = text.get("value")
    listed = _annotations(annotations, text if isinstance(text, str) else "")
    return [*listed, *map(_location, dicts(block.get("citations")))]


def _annotations(annotations: Any, text: str) -> Iterator[dict[str, Any]]:
    for annotation in dicts(annotations):
        inner = annotation.get(str(annotation.get("type")))
        fields = inner if isinstance(inner, dict) else annotation
        citation = {
            "url": fields.get("url"),
            "title": fields.get("title") or fields.get("filename"),
            "id": fields.get("file_id"),
            "marker": _slice(text, fields) or annotation.get("text"),
            "quote": fields.get("quote"),
        }
        texts = _texts(citation)
        if "id" in texts:
            texts["ids"] = {"doc_id": texts["id"]}
        if "url" in texts or "id" in texts:
            yield texts


def _slice(text: str, fields: Mapping[str, Any]) -> str | None:
    """The marker that the annotation covers in the text."""
    start, end = fields.get("start_index"), fields.get("end_index")
    if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text):
        return text[start:end]
    return None


def _location(citation: Mapping[str, Any]) -> dict[str, Any]:
    """Anthropic's and Bedrock's: a web result, a search result, or a document that the request held."""
    place = citation.get("location")
    web = place.get("web") if isinstance(place, dict) else None
    source = citation.get("url") or citation.get("source")
    source = web.get("url") if isinstance(web, dict) and not source else source
    is_url = isinstance(source, str) and re.match(r"[a-z][\w+.-]*://", source)
    fields = {
        "url": source if is_url else None,
        "id": citation.get("file_id") or (None if is_url else source),
        "title": citation.get("title") or citation.get("document_title"),
        "quote": citation.get("cited_text"),
    }
    return _texts(fields)


def _texts(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        k: str(v)
        for k, v in fields.items()
        if isinstance(v, str | int) and not isinstance(v, bool) and v != ""
    }


def text_citations(text: str, names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Links, markers such as [2] or [d7] and bare URLs in an answer, each once; `names` are known ids.

    A marker gets the URL that a list of references in the same text has for its number.
    """
    return [*_core_citations(text.encode("utf-8", "surrogatepass"), set(names))]


def numbered_citations(text: str, sources: Iterable[Any]) -> list[dict[str, Any]]:
    """The markers of a text that number the provider's own list of sources: [2] is the second, [doc2] too."""
    listed = [{"url": s} if isinstance(s, str) else source_fields(s) for s in sources]
    citations = []
    for citation in text_citations(text):
        match = re.fullmatch(r"\[\^?(?:doc ?)?(\d+)\]", citation.get("marker", ""))
        number = int(match[1]) if match else 0
        if "url" not in citation and 1 <= number <= len(listed) and listed[number - 1]:
            citations.append({**listed[number - 1], "marker": citation["marker"]})
    return citations


def source_fields(source: Any) -> dict[str, Any]:
    """What a provider's record of a source says about the document."""
    if not isinstance(source, dict):
        return {}
    fields = {
        "url": source.get("url"),
        "title": source.get("title") or source.get("filename"),
        "id": source.get("file_id") or source.get("chunk_id") or source.get("id"),
    }
    texts = _texts(fields)
    if "url" in texts:
        texts.pop("id", None)  # of the record, not of the document
    return texts


def grounding_citations(
    grounding: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Google's: the chunks that support each segment of the answer."""
    citations = []
    for support in dicts(first_of(grounding, "groundingSupports", "grounding_supports")):
        segment = support.get("segment")
        quote = segment.get("text") if isinstance(segment, dict) else None
        for index in first_of(support, "groundingChunkIndices", "grounding_chunk_indices") or []:
            if isinstance(index, int) and 0 <= index < len(results) and results[index]:
                more = {"quote": str(quote)} if quote else {}
                citations.append({**results[index], **more})
    return citations
