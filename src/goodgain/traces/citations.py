"""Citations of an answer: annotations, citation blocks, markers and URLs in its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.values import dicts, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LINK = re.compile(
    r"\[(?P<text>[^\[\]\n]{1,200})\]\((?P<url>https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)"
)
_URL = re.compile(r"https?://[^\s<>\"'`\]|]+")
_MARKER = re.compile(
    r"\[\^?(?P<numbers>\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?!\()|【(?P<wide>[^】\n]{1,40})】"
)
_REFERENCE = re.compile(
    r"^\s*(?:\[\^?(?P<number>\d{1,3})\]:?|(?P<plain>\d{1,3})[.)])\s.*?(?P<url>https?://[^\s<>\"'`\])]+)",
    re.M,
)


def citations_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the provider itself says that a message cites."""
    text = text_of(message.get("content"))
    citations = list(_annotations(message.get("annotations"), text))
    for block in dicts(message.get("content")):
        citations += block_citations(block)
    return citations


def block_citations(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The citations of a block of text: OpenAI's annotations, Anthropic's citations."""
    text = block.get("text")
    annotations = _annotations(block.get("annotations"), text if isinstance(text, str) else "")
    return [*annotations, *map(_location, dicts(block.get("citations")))]


def _annotations(annotations: Any, text: str) -> Iterator[dict[str, Any]]:
    for annotation in dicts(annotations):
        inner = annotation.get(str(annotation.get("type")))
        fields = inner if isinstance(inner, dict) else annotation
        citation = {
            "url": fields.get("url"),
            "title": fields.get("title") or fields.get("filename"),
            "id": fields.get("file_id"),
            "marker": _slice(text, fields),
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
    """Anthropic's: a web result, a search result, or a document that the request held."""
    source = citation.get("url") or citation.get("source")
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


def text_citations(text: str) -> list[dict[str, Any]]:
    """Links, markers such as [2] and bare URLs in an answer, each once.

    A marker gets the URL that a list of references in the same text has for its number.
    """
    references = {m["number"] or m["plain"]: _trimmed(m["url"]) for m in _REFERENCE.finditer(text)}
    citations: dict[str, dict[str, Any]] = {}
    for link in _LINK.finditer(text):
        citations.setdefault(link["url"], {"url": link["url"], "marker": link["text"]})
    body = _REFERENCE.sub("", text)
    for marker in _MARKER.finditer(body):
        for number in re.split(r"\s*[,;]\s*", marker["numbers"] or marker["wide"]):
            url = references.get(number)
            name = f"[{number}]" if marker["numbers"] else f"【{number}】"
            citation = {"url": url, "marker": name} if url else {"marker": name}
            citations.setdefault(url or name, citation)
    for match in _URL.finditer(_LINK.sub(" ", text)):
        url = _trimmed(match[0])
        citations.setdefault(url, {"url": url})
    return list(citations.values())


def _trimmed(url: str) -> str:
    url = url.rstrip(".,;:!?*_")
    return url[:-1] if url.endswith(")") and url.count("(") < url.count(")") else url
