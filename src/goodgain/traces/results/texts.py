"""Results in text: data inside it, tags, tables, labelled blocks, lists of links; prose holds none."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.results.decoding import decode
from goodgain.traces.results.finding import Finding, empty, failed, result, unread
from goodgain.traces.results.itemised import read_items, read_links, read_passages
from goodgain.traces.results.labelled import read_labelled
from goodgain.traces.results.literals import parse_prefix, parse_string
from goodgain.traces.results.objects import read_object
from goodgain.traces.results.outcomes import says_nothing_matched, text_failure
from goodgain.traces.results.segments import segments
from goodgain.traces.results.tables import read_tables
from goodgain.traces.results.tags import read_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Results = list[dict[str, Any]]
_SHORT = 2_000
_ATTEMPTS = 24  # at data in a text that turn out to be none
_JSON = json.JSONDecoder()


def find_in_text(text: str, depth: int = 0) -> Finding:
    """What a text holds."""
    from goodgain.traces.results.data import find_in_data

    text = text.strip("\ufeff \t\r\n")
    if not text:
        return empty("the output is empty")
    value = decode(text)
    if not isinstance(value, str):
        return find_in_data(value, depth + 1)
    text = value.strip()
    if len(text) <= _SHORT or text.startswith("Traceback (most recent"):
        error = text_failure(text)
        if error is not None and not _is_about_nothing(text):
            return failed(error)
        if says_nothing_matched(text) and not _LINK.search(text):
            return empty("the output says that there are no results")
    if depth < 8:
        finding = _find_embedded(text, depth)
        if finding is not None:
            return finding
    for name, reader in _READERS.items():
        results = reader(text)
        if results:
            return result(results, name)
    if _NO_ENTRIES.search(text[:2000]):
        return empty("the output says that there are no results")
    if _TRUNCATED.match(text):
        return unread("data that are cut off or malformed")
    return unread("text without a list of documents")


_LINK = re.compile(r"https?://", re.I)
_NO_ENTRIES = re.compile(
    r"<(?:\w{1,20}:)?(?:totalResults|numFound|count|total)\b[^<>]{0,200}>\s{0,9}0\s{0,9}<", re.I
)
_TRUNCATED = re.compile(r'[\[{]\s*["\'{\[]')
_ABOUT_NOTHING = re.compile(
    r"(?:unable to|could not|couldn't|failed to) find (?:any|relevant|a|the)\b", re.I
)


def _is_about_nothing(text: str) -> bool:
    """ "Unable to find any results": a search that returned nothing, not one that failed."""
    return bool(_ABOUT_NOTHING.match(text))


# --- data inside text ---

_START = re.compile(
    r"(?:^|(?<=[\n:>=`]))[ \t]*(?=[\[{](?![\[{]*\d{1,3}\]))|(?=\[\s*\{\s*[\"'])|(?=\{\"\w)"
)
_FENCE = re.compile(r"^[ \t]*```[^\n`]*$", re.M)


def _find_embedded(text: str, depth: int) -> Finding | None:
    """What JSON lines, fenced blocks, and JSON or Python objects with words around them hold."""
    from goodgain.traces.results.data import find_in_data

    values, covered = [], 0
    for value, length in _embedded(text):
        values.append(value)
        covered += length
    if not values:
        return None
    finding = find_in_data(values[0] if len(values) == 1 else values, depth + 1)
    if finding.account == "result":
        return finding
    rest = len(text) - covered
    return finding if finding.account in ("empty", "failed") and rest < 200 else None


def _embedded(text: str) -> Iterator[tuple[Any, int]]:
    position, attempts = 0, 0
    while attempts < _ATTEMPTS and (start := _START.search(text, position)):
        begin = start.end()
        while begin < len(text) and text[begin] in " \t":
            begin += 1
        value, end = _value_at(text, begin)
        if end > begin and _has_objects(value):
            yield value, end - begin
            position = end
        elif end > begin:
            position = end
        else:
            attempts += 1
            position = begin + 1


def _value_at(text: str, begin: int) -> tuple[Any, int]:
    try:
        return _JSON.raw_decode(text, begin)
    except RecursionError:
        return None, 0
    except ValueError:
        return parse_prefix(text, begin)


def _has_objects(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(v, dict | list) for v in value) or len(value) == 0
    return isinstance(value, dict)


# --- objects as their `repr` ---

_CONSTRUCTOR = re.compile(r"(?:^|(?<=[\s\[(,:]))(?=[A-Z]\w{1,60}\(\w{1,40}=)")
_PAGE_CONTENT = re.compile(r"(?:^|(?<=[\s,(\[]))(?P<name>page_content|content|text)=(?=['\"])")
_METADATA = re.compile(r"\s*,?\s*metadata=(?=\{)")


def _read_reprs(text: str) -> Results:
    """Objects of Python, as LangChain, LlamaIndex and others print them."""
    objects, position, attempts = [], 0, 0
    while attempts < _ATTEMPTS and (start := _CONSTRUCTOR.search(text, position)):
        value, end = parse_prefix(text, start.end())
        if end and isinstance(value, dict):
            objects.append(value)
            position = end
        else:
            attempts += 1
            position = start.end() + 1
    results = [r for r, strength in map(read_object, objects) if strength >= 2]
    return results or _read_printed_documents(text)


def _read_printed_documents(text: str) -> Results:
    """page_content='...' metadata={...}, repeated."""
    results, position = [], 0
    while start := _PAGE_CONTENT.search(text, position):
        content, position = parse_string(text, start.end())
        if not position:
            break
        item: dict[str, Any] = {"content": content}
        metadata = _METADATA.match(text, position)
        if metadata:
            value, end = parse_prefix(text, metadata.end())
            if end:
                item["metadata"], position = value, end
        if metadata or start["name"] == "page_content":
            results.append(read_object(item)[0])
    return results


# --- forms of known agents ---

_DOC_TITLE = re.compile(
    r"^[ \t]*Doc(?:ument)?[ \t]*\[?\d+\]?[ \t]*\(Title:[ \t]*(?P<title>[^\n]*?)\)[ \t]*", re.M
)
_NUMBERED = re.compile(
    r"^[ \t]*\d+[.)][ \t]+(?:<docid:[ \t]*(?P<docid>[^>\n]+)>[ \t]*)?"
    r"(?:\[(?P<link>[^\n]*?)\]\((?P<url>https?://[^\s]*?)\)[ \t]*$|\[(?P<head>[^\n]*)\][ \t]*$)",
    re.M,
)
_NEXT_SEARCH = re.compile(r"^(?:A (?:Google )?search for|=======)", re.M)
_DATE = re.compile(r"^\s*Date published:[^\n]*\n")


def _read_titled(text: str) -> Results:
    """Doc 1(Title: ...) text, as Search-R1 shows documents to its model."""
    results = []
    for mark, body in segments(_DOC_TITLE, text):
        title = mark["title"].strip().strip('"').strip()
        results.append({k: v for k, v in (("title", title), ("content", body.strip())) if v})
    return results


def _read_numbered(text: str) -> Results:
    """1. [title](URL) or 1. <docid: 7> [title ...], as Tongyi's and WebDancer's tools write them."""
    results = []
    for mark, body in segments(_NUMBERED, text):
        body = _DATE.sub("", _NEXT_SEARCH.split(body, maxsplit=1)[0])
        ids: dict[str, Any] = {}
        if mark["docid"]:
            ids = {"id": mark["docid"].strip(), "ids": {"doc_id": mark["docid"].strip()}}
        title = mark["link"] or (None if mark["docid"] else mark["head"])
        named = {
            "url": mark["url"],
            "title": title,
            "content" if mark["docid"] else "snippet": body.strip(),
        }
        item = {**ids, **{k: v for k, v in named.items() if v}}
        if ids or mark["url"] or "snippet" in item:
            results.append(item)
    return results


_READERS: dict[str, Callable[[str], Results]] = {
    "documents with titles": _read_titled,
    "numbered documents": _read_numbered,
    "tagged documents": read_tags,
    "printed objects": _read_reprs,
    "a table": read_tables,
    "labelled blocks": read_labelled,
    "a list of links": read_items,
    "links": read_links,
    "numbered passages": read_passages,
}
