"""One object as a canonical result, and how much it looks like a document."""

from __future__ import annotations

import json
import re
from typing import Any

from goodgain.traces.results.itemised import read_line
from goodgain.traces.results.names import ROLES, TYPES, WRAPPERS, field_of, role_of

SCHEME = re.compile(r"[A-Za-z][\w+.-]*:(?://|[^\s/])")
_SPEAKERS = {"user", "assistant", "system", "tool", "function", "model", "developer"}
_TEXTS = (
    "text", "content", "snippet", "plain_text", "value", "markdown", "html", "body", "name", "#text",
    "extract", "plain",
)  # fmt: skip
_SHORT = 15  # a text below this many characters is a word or two, not a passage
_DEPTH = 4
_FILE_NAMES = frozenset(ROLES["name"].index(n) for n in ("filename", "file_name", "document_name"))
_SPECIAL = frozenset({"source", "type", "speaker", "ids"})
_PLAIN = frozenset(
    {"title", "name", "content", "snippet", "summary", "id", "doc"}
)  # any string will do


def text_of(value: Any, depth: int = _DEPTH) -> str:
    """The text of a field: a string, a list of texts or blocks, or an object that holds the text."""
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list | tuple):
        texts = (text_of(v, depth - 1) for v in value[:10_000])
        return "\n".join(t for t in texts if t)
    if depth and isinstance(value, dict):
        for name in _TEXTS:
            if value.get(name) and (text := text_of(value[name], depth - 1)):
                return text
    return ""


def _scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _address(value: Any) -> str:
    """The URL or path in a field; "" if it holds neither."""
    if isinstance(value, list | tuple):
        value = value[0] if value else None
    if isinstance(value, dict):
        names = ("url", "href", "@href", "uri", "webui", "raw")
        value = next((value[n] for n in names if value.get(n)), None)
    address = value.strip() if isinstance(value, str) else ""
    if len(address) < 3 or len(address) > 20_000:
        return ""
    if SCHEME.match(address) or address.startswith(("/", "www.")):
        return address
    plain = not any(c.isspace() for c in address)
    return address if plain and ("/" in address or "." in address) else ""


class _Reading:
    """What an object and the objects in it hold, by role; the first and the most usual name wins."""

    __slots__ = ("best", "fields", "foreign", "ids", "inner", "speaker", "type")

    def __init__(self) -> None:
        self.best: dict[str, tuple[int, Any]] = {}
        self.fields: dict[str, Any] = {}
        self.ids: dict[str, str] = {}
        self.inner: list[tuple[int, int, str, Any]] = []
        self.foreign = 0
        self.speaker = False
        self.type = ""

    def add(self, item: dict[Any, Any], level: int) -> None:
        """Add the fields of an object; `level` 0 is the result itself."""
        best = self.best
        base = 1000 * level
        for key, value in item.items():
            if value is None or value == "":
                continue
            role, rank, name, listed = field_of(key if type(key) is str else str(key))
            kind = type(value)
            if kind is dict:
                self._add_object(name, value, role, rank + base)
                if role not in ("content", "snippet", "summary", "url", "title"):
                    continue
            elif kind is str and value[0] == "{" and name in WRAPPERS:
                self.inner.append((level, WRAPPERS[name], name, value))
            if listed and _scalar(value):
                self.fields.setdefault(name, value)
            if role == "neutral":
                continue
            if role == "foreign":
                if kind is not list and not level:
                    self.foreign += 1
            elif role in _SPECIAL:
                self._add_special(role, name, value)
            else:
                old = best.get(role)
                if old is None or old[0] > rank + base:
                    usable = value if kind is str and role in _PLAIN else _usable(role, value)
                    if usable is not None:
                        best[role] = (rank + base, usable)

    def _add_object(self, name: str, value: dict[Any, Any], role: str, rank: int) -> None:
        """An object inside: it may hold the fields of the result, or an id in parts."""
        level = rank // 1000
        if name in WRAPPERS:
            self.inner.append((level, WRAPPERS[name], name, value))
        elif role == "foreign":
            self.inner.append((level, 999, name, value))
        elif role == "id" and "id" not in self.best:
            ids = [v for k, v in value.items() if _scalar(v) and str(k).casefold().endswith("id")]
            if ids:
                self.best["id"] = (rank, str(ids[0]))

    def _add_special(self, role: str, name: str, value: Any) -> None:
        if role == "ids":
            if _scalar(value):
                self.ids.setdefault(name, str(value))
        elif role == "type":
            if isinstance(value, str):
                kind = value.casefold()
                if not self.type and (kind in TYPES or kind == "web_search_result"):
                    self.type = "web" if kind == "web_search_result" else kind
        elif role == "speaker":
            self.speaker = isinstance(value, str) and value.casefold() in _SPEAKERS
        elif isinstance(value, str):  # source: a URL, or the name of a file or a site
            if "://" in value[:40] and SCHEME.match(value):
                self.best.setdefault("url", (5000, value.strip()))
            else:
                self.fields.setdefault("source", value)


def _usable(role: str, value: Any) -> Any:
    """The value of a field as the canonical form has it; None if it cannot be used."""
    kind = type(value)
    if role in ("score", "gain"):
        if kind is str:
            try:
                value = float(value)
            except ValueError:
                return None
            kind = float
        return value if kind in (int, float) and abs(value) < 1e300 else None
    if role in ("id", "doc"):
        if kind is list and len(value) == 1:
            value = value[0]
        return str(value) if _scalar(value) else None
    if role in ("url", "path"):
        return _address(value) or None
    if kind is list and _holds_documents(value):
        return None
    text = value if kind is str else text_of(value)
    return text if text and not text.isspace() else None


def _holds_documents(value: list[Any]) -> bool:
    """Whether a list is one of documents of its own, not the text of this one."""
    first = value[0] if value else None
    if type(first) is not dict:
        return False
    roles = {role_of(str(key)) for key in first}
    return "url" in roles or "doc" in roles or {"title", "content"} <= roles


def _follow(reading: _Reading) -> None:
    """Read the objects inside: the known wrappers always, others only if nothing else is there."""
    for _ in range(3):
        pending, reading.inner = sorted(reading.inner, key=lambda entry: entry[:2]), []
        if not pending:
            return
        for level, order, name, value in pending:
            if type(value) is str:
                value = _decoded(value)
                if value is None:
                    continue
            if order == 999 and not reading.best.keys().isdisjoint({"url", "content", "snippet"}):
                continue
            if name == "location":
                _add_location(reading, value)
            elif order != 999 or _is_document(value):
                reading.add(value, level + 1)


def _decoded(text: str) -> dict[str, Any] | None:
    if len(text) > 1_000_000:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _add_location(reading: _Reading, value: dict[str, Any]) -> None:
    """Where a document lies: {"s3Location": {"uri": ...}} and its like."""
    for inner in value.values():
        places = inner.values() if isinstance(inner, dict) else (inner,)
        for place in places:
            if isinstance(place, str) and SCHEME.match(place) and "://" in place:
                reading.best.setdefault("url", (6000, place))


def _is_document(value: dict[str, Any]) -> bool:
    roles = {role_of(str(k)) for k, v in value.items() if v not in (None, "", [], {})}
    return "url" in roles or "content" in roles or {"title", "summary"} <= roles or "doc" in roles


def read_object(item: dict[Any, Any]) -> tuple[dict[str, Any], float]:
    """The canonical result in an object, and how much it looks like a document (0 to about 8).

    3 for a URL, 2 for a document id or a text, 1.5 for a title, 1 for a summary or an id, 0.5 for a name,
    a path or a score; less where there are only such weak signs among fields of another kind.
    """
    reading = _Reading()
    reading.add(item, 0)
    if reading.inner:
        _follow(reading)
    best = {role: value for role, (_, value) in reading.best.items()}
    result: dict[str, Any] = {}
    if "id" in best or "doc" in best:
        result["id"] = best.get("id") or best["doc"]
    if "doc" in best:
        reading.ids.setdefault("doc_id", best["doc"])
    if reading.type:
        result["type"] = reading.type
    if reading.ids:
        result["ids"] = reading.ids
    if "url" in best:
        result["url"] = best["url"]
    if "title" in best or "name" in best:
        result["title"] = best.get("title") or best["name"]
    if "snippet" in best or "summary" in best:
        result["snippet"] = best.get("snippet") or best["summary"]
    for role in ("content", "score", "gain"):
        if role in best:
            result[role] = best[role]
    if "path" in best and "url" not in best:
        reading.fields.setdefault("path", best["path"])
    if reading.fields:
        result["fields"] = reading.fields
    return result, _strength(best, reading)


def _strength(best: dict[str, Any], reading: _Reading) -> float:
    if reading.speaker and "url" not in best:
        return 0.0
    strength = 3.0 if "url" in best else 0.0
    if reading.ids or "doc" in best:
        strength += 2
    named = strength > 0 or "title" in best or "id" in best or "path" in best
    text = best.get("content") or best.get("snippet")
    if text:
        alone = not reading.foreign and " " in text.strip()  # nothing but a phrase
        strength += 2 if len(text) >= _SHORT or named or alone else 1
    elif "summary" in best:
        strength += 1 if len(best["summary"]) >= _SHORT else 0.5
    if "title" in best:
        strength += 1.5
    if strength >= 3:
        return strength
    clean = not reading.foreign
    if "id" in best:
        strength += 1.5 if clean and not strength else 1
    strength += 0.5 * ("score" in best) + 0.5 * ("path" in best)
    if "name" in best:
        strength += 1 if reading.best["name"][0] % 1000 in _FILE_NAMES else 0.5
    described = len(best.get("summary", "")) >= _SHORT
    weak = not text and not described and not reading.ids and "doc" not in best
    if weak and "title" not in best and "score" not in best and "path" not in best:
        strength = min(strength, 1.5)
    if weak and not clean and "score" not in best:
        strength -= 1
    return strength


def result_of(item: dict[str, Any]) -> dict[str, Any]:
    """The canonical result in an object, by the usual names."""
    return read_object(item)[0]


# of an object in Python, such as <NodeWithScore(node=...)>
_REPRESENTATION = re.compile(r"<[\w.]+(?:\(.*\)| object at 0x[0-9a-fA-F]+)>$", re.S)
_SENTENCE = re.compile(r"\s")
_IDENTIFIER = re.compile(r"[\d_./:#-]")


def read_text_item(text: str) -> tuple[dict[str, Any], float]:
    """A string in a list as a result: a URL, a passage, or an id; a bare word is none."""
    text = text.strip()
    if not text or _REPRESENTATION.match(text):
        return {}, 0.0
    if "://" in text[:40] and not _SENTENCE.search(text):
        return {"url": text}, 3.0
    if _SENTENCE.search(text):
        link = read_line(text) if "://" in text and "\n" not in text else None
        if link is not None:
            return link, 3.0
        return {"content": text}, 2.0 if len(text) >= 25 else 1.0
    if len(text) <= 200 and _IDENTIFIER.search(text):
        return {"id": text}, 1.5
    if len(text) > 40 and not text.isascii():  # scripts without spaces
        return {"content": text}, 2.0
    return {"id": text}, 0.5
