"""The results in a tool's output: a list of objects, JSON in a string, or text in blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodgain.traces.values import decode_json, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

# What tools call the fields of a result, the usual name first. Columns of tables: goodgain.io.columns.
_ALIASES = {
    "url": ("url", "link", "href", "uri", "source_url", "web_url"),
    "title": ("title", "name", "heading", "page_title", "filename", "file_name"),
    "snippet": ("snippet", "description", "summary", "excerpt"),
    "content": (
        "content",
        "text",
        "page_content",
        "contents",
        "passage",
        "body",
        "raw_content",
        "chunk",
    ),
    "score": ("score", "similarity", "relevance_score", "_score"),
    "gain": ("gain",),
}
_DOCUMENT_IDS = ("docid", "doc_id", "document_id", "docno")
_IDS = (
    "chunk_id", "passage_id", "node_id", "file_id", "unique_id", "message_id", "event_id", "item_id",
    "artifact_id", "email_url", "site_id", "web_id", "list_id", "original_id", "channel_id", "plugin_id",
)  # fmt: skip
_FIELDS = (
    "author", "authors", "file_name", "filename", "file_type", "modified", "modified_by", "received",
    "from", "to", "subject", "start", "end", "organizer", "organizer_email", "participants",
    "department", "company", "office", "page_age", "date",
)  # fmt: skip
_TYPES = (
    "web", "webpage", "passage", "chunk", "file", "email", "event", "message", "chat", "person",
    "external", "transcript",
)  # fmt: skip
_LISTS = (
    "results", "documents", "docs", "items", "hits", "organic_results", "organic", "sources",
    "search_results", "matches", "data", "value", "output", "response", "result", "content", "artifact",
    "retrieved",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """What an output holds; there are results only where the account is "result"."""

    results: list[dict[str, Any]]
    account: Literal["result", "empty", "failed", "unread"]
    reason: str


def find_results(output: Any) -> Finding:
    """The results in a tool's output, or why there are none."""
    if is_failure(output):
        account: Literal["empty", "failed"] = "empty" if _NOTHING.match(output) else "failed"
        return Finding([], account, output[:500])
    results = results_of(output)
    if results:
        return Finding(results, "result", "")
    return Finding([], "empty", "no results in the output")


def results_of(output: Any) -> list[dict[str, Any]]:
    """The results that can be recognised in a tool's output, without empty ones."""
    value = decode_json(output)
    if isinstance(value, list):
        if value and all(_is_text_block(v) for v in value):
            return results_of(text_of(value))
        return [result for item in value for result in _one(item) if result]
    if isinstance(value, dict):
        for name in _LISTS:
            inner = decode_json(value.get(name))
            if isinstance(inner, list) or (isinstance(inner, dict) and name != "artifact"):
                return results_of(inner)
        result = result_of(value)
        return [result] if set(result) - {"type", "score"} else []
    return _text_results(value) if isinstance(value, str) else []


def _is_text_block(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "text"
        and set(value)
        <= {
            "type",
            "text",
            "annotations",
            "citations",
            "cache_control",
        }
    )


def _one(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [result_of(value)]
    if isinstance(value, list) and value and isinstance(value[0], dict):  # (document, score)
        return [result_of(value[0])]
    return [_bare(value)] if isinstance(value, str) and value.strip() else []


def _bare(text: str) -> dict[str, Any]:
    """A string in a list: a URL, an id, or text."""
    if re.match(r"https?://\S+$", text):
        return {"url": text}
    return {"id": text} if len(text) <= 80 and not re.search(r"\s", text) else {"content": text}


def result_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical result in an object, by the usual names; `metadata` fills in what is missing."""
    sources = [item]
    for name in ("document", "_source", "metadata", "attributes", "doc"):
        inner = decode_json(item.get(name))
        if isinstance(inner, dict):
            sources.extend(
                [inner, *([inner["metadata"]] if isinstance(inner.get("metadata"), dict) else [])]
            )
        elif name == "document" and isinstance(inner, str):
            sources.append({"content": inner})
    result: dict[str, Any] = {}
    for source in sources:
        _add_fields({str(k).casefold().replace("-", "_"): v for k, v in source.items()}, result)
    return result


def _add_fields(source: Mapping[str, Any], result: dict[str, Any]) -> None:
    for name, usual in _ALIASES.items():
        value = next((source[u] for u in usual if source.get(u) not in (None, "", [])), None)
        if value is None or name in result:
            continue
        if name in ("score", "gain"):
            if (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and abs(value) < 1e300
            ):
                result[name] = value
        elif isinstance(text := value if isinstance(value, str) else text_of(value), str) and text:
            result[name] = text
    where = source.get("source")
    if isinstance(where, str) and where and "url" not in result:
        if re.match(r"[a-z][\w+.-]*://", where):
            result["url"] = where
        else:
            result.setdefault("fields", {}).setdefault("source", where)
    if "id" not in result and _scalar(source.get("id", source.get("_id"))):
        result["id"] = str(source.get("id", source.get("_id")))
    ids = {"doc_id": next((source[n] for n in _DOCUMENT_IDS if _scalar(source.get(n))), None)}
    ids |= {n: source.get(n) for n in _IDS}
    for name, value in ids.items():
        if _scalar(value):
            result.setdefault("ids", {}).setdefault(name, str(value))
    if result.get("ids", {}).get("doc_id") and "id" not in result:
        result["id"] = result["ids"]["doc_id"]
    for name in _FIELDS:
        if _scalar(source.get(name)):
            result.setdefault("fields", {}).setdefault(name, source[name])
    kind = str(source.get("type", "")).casefold()
    if "type" not in result and (kind in _TYPES or kind == "web_search_result"):
        result["type"] = "web" if kind == "web_search_result" else kind


def _scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


# --- text ---

_DOC_TITLE = re.compile(r"^Doc(?:ument)?\s*\[?\d+\]?\s*\(Title:\s*(?P<title>.*?)\)\s*", re.M)
_NUMBERED = re.compile(
    r"^\s*\d+[.)]\s+(?:<docid:\s*(?P<docid>[^>]+)>\s*)?"
    r"(?:\[(?P<link>[^\n]*?)\]\((?P<url>https?://[^\s]*?)\)(?=\s*$|\s*\n)|\[(?P<head>[^\n]*)\]\s*$)",
    re.M,
)
_TAGGED = re.compile(
    r"<(?P<tag>document|doc|result|passage|search_result)\b(?P<attributes>[^>]*)>(?P<body>.*?)</(?P=tag)>",
    re.S | re.I,
)
_LABELLED = re.compile(
    r"^(?:\d+[.)]\s*)?(?:\*\*)?(Title|URL|Link|Source|Snippet|Content|Description|Summary|Text)"
    r"(?:\*\*)?:\s*",
    re.M | re.I,
)
_FAILURE = re.compile(
    r"^\s*(\[\w+\]\s*)?(\[?error\b|invalid request|traceback|no results? (were )?found|no relevant)",
    re.I,
)


_NOTHING = re.compile(r"^\s*(\[\w+\]\s*)?no (results?|relevant)", re.I)


def is_failure(output: Any) -> bool:
    """Whether an output only reports that the call failed or returned nothing."""
    return isinstance(output, str) and bool(_FAILURE.match(output))


def _text_results(text: str) -> list[dict[str, Any]]:
    """One result per recognisable block of text, else one with the whole text as content."""
    if not text.strip() or is_failure(text):
        return []
    for pattern, make in ((_DOC_TITLE, _titled_result), (_NUMBERED, _numbered_result)):
        marks = list(pattern.finditer(text))
        if marks:
            ends = [m.start() for m in marks[1:]] + [len(text)]
            return [make(m, text[m.end() : end]) for m, end in zip(marks, ends, strict=True)]
    if tagged := list(_TAGGED.finditer(text)):
        return [_tagged_result(m) for m in tagged]
    return _labelled_results(text) or [{"content": text.strip()}]


def _titled_result(mark: re.Match[str], body: str) -> dict[str, Any]:
    title = mark["title"].strip().strip('"').strip()
    return {k: v for k, v in (("title", title), ("content", body.strip())) if v}


def _numbered_result(mark: re.Match[str], body: str) -> dict[str, Any]:
    body = re.split(r"^(?:A (?:Google )?search for|=======)", body, maxsplit=1, flags=re.M)[0]
    body = re.sub(r"^\s*Date published:[^\n]*\n", "", body)
    ids: dict[str, Any] = {}
    if mark["docid"]:
        ids = {"id": mark["docid"].strip(), "ids": {"doc_id": mark["docid"].strip()}}
    title = mark["link"] or (None if mark["docid"] else mark["head"])
    named = {
        "url": mark["url"],
        "title": title,
        "content" if mark["docid"] else "snippet": body.strip(),
    }
    return {**ids, **{k: v for k, v in named.items() if v}}


def _tagged_result(match: re.Match[str]) -> dict[str, Any]:
    attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', match["attributes"]))
    body = match["body"]
    for name, value in re.findall(
        r"<(title|url|source|link|content|snippet|text|id)>(.*?)</\1>", body, re.S | re.I
    ):
        attributes.setdefault(name.casefold(), value.strip())
    if not {"content", "text", "snippet"} & set(attributes):
        attributes["content"] = body.strip()
    return result_of(attributes)


def _labelled_results(text: str) -> list[dict[str, Any]]:
    """Blocks such as "Title: ...", "URL: ...", repeated."""
    marks = list(_LABELLED.finditer(text))
    if len(marks) < 2:
        return []
    results: list[dict[str, Any]] = []
    current: dict[str, Any] = {}
    ends = [m.start() for m in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        name = mark[1].casefold()
        if name in current:
            results.append(result_of(current))
            current = {}
        current[name] = text[mark.end() : end].strip().strip("-").strip()
    return [*results, result_of(current)]
