"""Documents in tags: <document index="1"><title>...</title>...</document>, feeds, and their like."""

from __future__ import annotations

import re
from typing import Any

from goodgain.traces.results.names import role_of, words_of
from goodgain.traces.results.objects import read_object

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]{0,40})(?P<attributes>(?:\s[^<>]*|/)?)>")
_ATTRIBUTE = re.compile(r"([\w:.-]{1,60})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/>]+))")
_CDATA = re.compile(r"<!\[CDATA\[|\]\]>")
_HTML = re.compile(r"\s*(?:<!doctype html|<html\b|<head\b|<body\b)", re.I)
# In order of preference: a <source> inside a <document> is its field.
_NAMES = (
    "document", "doc", "search_result", "web_result", "result", "entry", "item", "passage", "chunk", "hit", "record",
    "pubmed_article", "article", "webpage", "web_page", "page", "paper", "reference", "node", "snippet", "excerpt",
    "source", "context", "citation", "file", "text",
)  # fmt: skip
_RANK = {name: rank for rank, name in enumerate(_NAMES)}
_FIELDS = {"document_content", "published", "updated", "author", "date"}
_ROLES = {"url", "title", "name", "content", "snippet", "summary", "id", "doc", "ids", "source", "score", "path", "type"}  # fmt: skip


class _Element:
    """A tag with what it encloses."""

    __slots__ = ("attributes", "end", "inner", "name", "start", "stop")

    def __init__(self, name: str, attributes: str, start: int) -> None:
        self.name, self.attributes, self.start = name, attributes, start
        self.end = self.stop = -1  # of its content, and after its closing tag
        self.inner: list[_Element] = []


def _tag_name(name: str) -> str:
    """The name of a tag without its namespace and number: <doc_2>, <ns:Document>."""
    words = [w for w in words_of(name.rpartition(":")[2]) if not w.isdigit()]
    return "_".join(words)


def _parse(text: str) -> list[_Element]:
    """All elements in order of their start; tags that are not closed in place are left out."""
    elements: list[_Element] = []
    open_by_name: dict[str, list[_Element]] = {}
    stack: list[_Element] = []
    for tag in _TAG.finditer(text):
        name = tag["name"]
        if tag["close"]:
            waiting = open_by_name.get(name)
            if not waiting:
                continue
            element = waiting.pop()
            element.end, element.stop = tag.start(), tag.end()
            while stack and stack.pop() is not element:
                pass
            continue
        while stack and stack[-1].end >= 0:
            stack.pop()
        element = _Element(name, tag["attributes"], tag.end())
        if stack:
            stack[-1].inner.append(element)
        elements.append(element)
        if tag["attributes"].endswith("/"):
            element.end = element.stop = tag.end()
        else:
            stack.append(element)
            open_by_name.setdefault(name, []).append(element)
    return elements


def read_tags(text: str) -> list[dict[str, Any]]:
    """The documents in tags of the preferred name."""
    if "<" not in text or _HTML.match(text):
        return []
    elements = _parse(text)
    groups: dict[str, list[_Element]] = {}
    last_end: dict[str, int] = {}
    for element in elements:
        name = _tag_name(element.name)
        if name in _RANK and element.end >= 0 and element.start >= last_end.get(name, 0):
            groups.setdefault(name, []).append(element)
            last_end[name] = element.stop  # one inside another of its name is part of it
    for name in sorted(groups, key=_RANK.__getitem__):
        group = groups[name]
        if len(group) == 1 and _contains_documents(group[0]):
            continue
        if name == "text" and len(group) < 2:
            continue
        results = [r for r in (_read_element(e, text) for e in group) if r]
        if results:
            return results
    return _read_unclosed(elements, text)


def _contains_documents(element: _Element) -> bool:
    names = [_tag_name(e.name) for e in element.inner]
    fields = {role_of(n) for n in names}
    return any(names.count(n) > 1 and n in _RANK for n in set(names)) or (
        len(names) == 1 and names[0] in _RANK and not fields & {"url", "title", "content"}
    )


def _read_element(element: _Element, text: str) -> dict[str, Any]:
    """A tag's attributes, the fields in the tags inside it, and the text between those."""
    item = _attributes(element)
    rest, position = [], element.start
    for inner in element.inner:
        if inner.end >= 0 and inner.start >= position and _add_fields(inner, text, item):
            rest.append(text[position : text.rfind("<", position, inner.start)])
            position = inner.stop
    rest.append(text[position : element.end])
    remaining = _clean("".join(rest))
    if remaining and not {"content", "snippet", "summary"} & {role_of(k) for k in item}:
        item["content"] = remaining
    result, _ = read_object(item)
    return result if {"url", "id", "ids", "title", "content", "snippet"} & result.keys() else {}


def _add_fields(element: _Element, text: str, item: dict[str, Any]) -> bool:
    """Add the field that a tag is, or those inside it; whether there is one."""
    stack, added = [element], False
    while stack:
        inner = stack.pop()
        name = _tag_name(inner.name)
        if inner.end >= 0 and (role_of(name) in _ROLES or name in _FIELDS) and not _is_group(inner):
            attributes = _attributes(inner)
            body = _clean(text[inner.start : inner.end])
            value = body or next(
                (attributes[n] for n in ("href", "url", "value") if n in attributes), ""
            )
            if value:
                item.setdefault(inner.name.rpartition(":")[2], value)
                added = True
        else:
            stack.extend(reversed(inner.inner))
    return added


def _is_group(element: _Element) -> bool:
    """Whether a tag such as <Article> or <document> only groups fields."""
    return any(role_of(_tag_name(i.name)) in _ROLES for i in element.inner)


def _attributes(element: _Element) -> dict[str, str]:
    return {
        name.rpartition(":")[2]: double or single or bare
        for name, double, single, bare in _ATTRIBUTE.findall(element.attributes)
    }


def _clean(text: str) -> str:
    return _CDATA.sub("", text).strip() if "CDATA" in text else text.strip()


def _read_unclosed(elements: list[_Element], text: str) -> list[dict[str, Any]]:
    """<doc id=1> text <doc id=2> text: each runs to the next."""
    marks = [e for e in elements if e.end < 0 and _tag_name(e.name) in _RANK]
    if len(marks) < 2 or len({e.name for e in marks}) > 1:
        return []
    results = []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        end = len(text) if following is None else text.rfind("<", mark.start, following.start)
        body = _clean(text[mark.start : end])
        item = _attributes(mark)
        if body:
            item["content"] = body
        results.append(read_object(item)[0])
    return [r for r in results if r]
