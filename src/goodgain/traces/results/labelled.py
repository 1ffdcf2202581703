"""Blocks of labelled lines: "Title: ...", "URL: ...", in any order, and the same on one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.results.names import LABELS, field_of, role_of
from goodgain.traces.results.objects import read_object
from goodgain.traces.results.segments import segments

if TYPE_CHECKING:
    from collections.abc import Iterable

# Labels that are not names of fields, or not English.
_LINE = re.compile(
    r"[ \t>|]{0,40}(?P<mark>(?:[-*•+–#]{1,6}|\[?\(?\d{1,4}[\].):]{1,2})[ \t]+)?[ \t]{0,8}"
    r"[^\w\s\"'(\[{<]{0,4}[ \t]?[\"'\[]?(?P<label>[^\W\d_][\w '/-]{0,30}?)[\"']?"
    r"[*_]{0,2}[ \t]*[:：＝=][*_]{0,2}(?:[ \t]+|$|(?=[^\s/]))(?P<value>.*)"
)
_HEAD = re.compile(
    r"[ \t]{0,8}(?:[#*=-]{0,10}[ \t]*)?\[?(?:(?:search[ \t])?"
    r"(?:result|document|doc|source|passage|chunk|item|hit|entry|article|paper|page)[ \t]?#?\d{1,5}"
    r"|\(?\d{1,4}[\].):]{1,2})\]?\*{0,2}(?P<rest>[^\n]{0,300})$",
    re.I,
)
_TITLE = re.compile(r"#{1,6}[ \t]+(?:\d{1,4}[.)][ \t]*)?([^\n]{1,300})$")
_SEPARATOR = re.compile(r"[ \t]{0,8}(?:[-=*_~#]{3,}|```\w{0,20})[ \t]*$")
_INLINE = re.compile(
    r"(?:^|(?<=[\n,;|\[])|(?<=[\n,;|]\s)|(?<=\s\|\s))[ \t*-]{0,4}"
    r"(?P<label>title|url|link|href|snippet|content|source|description|summary|text|body|date|score|id)"
    r"\*{0,2}[ \t]*:\*{0,2}[ \t]*(?=\S)",
    re.I,
)
_KNOWN = {
    "url",
    "title",
    "name",
    "content",
    "snippet",
    "summary",
    "id",
    "doc",
    "ids",
    "source",
    "score",
    "path",
}
_UNLABELLED = "body_text"  # what follows a title or a URL without a label
_TEXTS = {"content", "snippet", "summary"}
Record = dict[str, str]


def _role(label: str) -> str:
    """The field that a label names; "" if it is not one of a document."""
    name = label.strip(" '\"").casefold()
    known = LABELS.get(name)
    if known:
        return known
    role, _, normal_name, listed = field_of(name)
    return normal_name if role in _KNOWN or listed or role == "neutral" else ""


def read_labelled(text: str) -> list[dict[str, Any]]:
    """The documents in blocks of labelled lines."""
    if ":" not in text and "：" not in text:
        return []
    lines = text.split("\n")
    if _is_inline(lines):
        inline = _results(_inline_records(text))
        if inline:
            return inline
    results = _results(_records(lines))
    if len(results) == 1 and ":" not in text.replace("://", ""):
        return []  # settings: url=...
    return results


def _is_inline(lines: list[str]) -> bool:
    """Whether the first lines with labels have several of them each."""
    counts = [sum(1 for _ in _INLINE.finditer(line)) for line in lines[:200]]
    labelled = [count for count in counts if count]
    return bool(labelled) and 2 * sum(count >= 2 for count in labelled) > len(labelled)


def _records(lines: list[str]) -> list[Record]:
    """One record for each block: a label that is there already, or a separator, starts the next."""
    records: list[Record] = []
    current: Record = {}
    label = ""
    heading = ""
    first = ""
    for number, line in enumerate(lines):
        if _SEPARATOR.match(line[:200]):
            if current:
                records.append(current)
            current, label, heading = {}, "", ""
            continue
        match = _LINE.match(line) if ":" in line or "：" in line or "=" in line else None
        role = _role(match["label"]) if match else ""
        if match and role and role_of(role) != "neutral":
            if role in current or (match["mark"] and current and role == first):
                records.append(current)
                current = {}
            if not current and heading and role_of(role) != "title":
                current["title"] = heading
            heading = ""
            current[role] = match["value"].strip().strip("`*: ").rstrip(",]").strip("\"'").strip()
            first = first or role
            label = role
            continue
        if match and role:  # a date or an author: it ends the field before it
            if role in current and role == first:
                records.append(current)
                current = {}
            current.setdefault(role, match["value"].strip())
            first = first or role
            label = role
            continue
        title = _TITLE.match(line) if line[:1] == "#" and len(line) < 400 else None
        if title and _is_labelled(lines, number + 1):
            if current:
                records.append(current)
            current, label, heading = {}, "", title[1].strip()
            continue
        head = _HEAD.match(line) if len(line) < 400 else None
        if head:
            if current:
                records.append(current)
            current, label = {}, ""
            heading = head["rest"].strip(" :.)-*[]=")
            continue
        if label:
            _continue(current, label, line, bool(match))
    if current:
        records.append(current)
    return [{k: v.strip() for k, v in record.items()} for record in records]


def _is_labelled(lines: list[str], number: int) -> bool:
    """Whether the next line that is not blank has a label of a document."""
    following = next((x for x in lines[number : number + 3] if x.strip()), "")
    match = _LINE.match(following)
    return bool(match and _role(match["label"]))


def _continue(current: Record, label: str, line: str, labelled: bool) -> None:
    """Add a line without a label of its own: texts run on, after other fields it is the text."""
    address = line.strip()
    if "://" in address[:40] and "url" not in current and " " not in address:
        current["url"] = address
        return
    if role_of(label) not in _TEXTS and current[label]:
        if labelled and not current.get(_UNLABELLED):
            return  # a field that is not known
        label = _UNLABELLED
        current.setdefault(label, "")
    current[label] = f"{current[label]}\n{line}" if current[label] else line.strip()


def _inline_records(text: str) -> list[Record]:
    """snippet: ..., title: ..., link: ..., repeated on one line."""
    records: list[Record] = []
    current: Record = {}
    for mark, segment in segments(_INLINE, text):
        label = mark["label"].casefold()
        if label in current:
            records.append(current)
            current = {}
        current[label] = segment.strip().strip(",;|[] ")
    return [*records, current] if current else records


def _results(records: Iterable[Record]) -> list[dict[str, Any]]:
    """The records that are documents, if most of them are."""
    results, others = [], 0
    records = list(records)
    alone = len(records) == 1
    for record in records:
        if alone and _UNLABELLED in record and "url" not in record and "source" not in record:
            return []
        held = {k: _address(k, v) for k, v in record.items() if v}
        roles = {role_of(k) for k in held} & _KNOWN
        result, strength = read_object(dict(held))
        text = "content" in result or "snippet" in result
        identified = any(n in result for n in ("url", "ids", "title", "id")) or bool(
            {"path", "source"} & roles
        )
        if (
            len(roles) >= 2
            and strength >= 2
            and (text or "url" in result or "ids" in result)
            and identified
        ):
            results.append(result)
        elif roles:
            others += 1
    return results if len(results) >= others else []


def _address(label: str, value: str) -> str:
    """The value of a field; of one for a URL, only that."""
    if role_of(label) in ("url", "source") and "://" in value[:40]:
        return value.split(None, 1)[0].strip("<>()[]")
    return value
