"""Content blocks, as MCP, Anthropic, OpenAI, Bedrock and Vercel write the outputs of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from goodgain.traces.results.decoding import decode
from goodgain.traces.results.objects import read_object

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT = ("text", "input_text", "output_text")
_TYPES = (
    *_TEXT, "image", "image_url", "audio", "resource", "resource_link", "embedded_resource", "search_result",
    "document", "json", "tool_reference", "web_search_result", "media", "file", "error", "tool_result",
)  # fmt: skip
Kind = Literal["text", "data", "result"]


def is_block_list(items: list[Any]) -> bool:
    """Whether a list holds content blocks, not documents of its own."""
    if not all(type(item) is dict for item in items):
        return False
    if all(_is_block(item) for item in items):
        return True
    if all(len(item) == 1 and ("json" in item or "text" in item) for item in items):  # Bedrock
        return len(items) == 1 or any(
            "json" in item or str(item["text"]).lstrip()[:1] in ("{", "[") for item in items
        )
    return False


def _is_block(item: dict[Any, Any]) -> bool:
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        return False
    if kind in _TEXT:
        return isinstance(item.get("text", item.get("value")), str) and not (
            {"url", "title", "id", "score", "source", "link"} & item.keys()
        )
    if kind in ("document", "web_search_result", "file"):
        return False  # an ordinary list of documents
    return True


def unwrap_blocks(blocks: list[Any]) -> Iterator[tuple[Kind, Any]]:
    """What each block holds."""
    for block in blocks:
        kind = block.get("type")
        if kind in _TEXT or (kind is None and "text" in block):
            text = block.get("text", block.get("value"))
            yield ("text", text) if isinstance(text, str) else ("data", text)
        elif kind in ("json", "tool_result") or (kind is None and "json" in block):
            yield (
                "data",
                block.get("json", block.get("value", block.get("content", block.get("data")))),
            )
        elif kind in ("resource", "embedded_resource"):
            yield from _resource(block.get("resource", block))
        elif kind in ("resource_link", "search_result"):
            result, strength = read_object(block)
            if strength:
                yield "result", result
        elif kind == "error":
            yield "data", block


def _resource(resource: Any) -> Iterator[tuple[Kind, Any]]:
    """A resource is a result; one that holds JSON may be a list of them."""
    if not isinstance(resource, dict):
        return
    text = resource.get("text")
    kind = str(resource.get("mimeType", resource.get("mime_type", "")))
    if isinstance(text, str) and ("json" in kind or text[:1] in ("[", "{")):
        inner = decode(text)
        if isinstance(inner, list) or (isinstance(inner, dict) and not read_object(inner)[1]):
            yield "data", inner
            return
    result, strength = read_object(resource)
    if strength:
        yield "result", result
