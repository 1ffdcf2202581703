"""Python objects as `repr` writes them: literals, `Document(page_content='...')`, tuples, sets.

One pass over the text with an explicit stack, so that neither its length nor its depth matters.
"""

from __future__ import annotations

import re
from typing import Any

_STRING_TEXT = r"""[bBuUrRfF]{0,2}(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")"""
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<string>{_STRING_TEXT})
    | (?P<number>[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)
    | (?P<name>-?[A-Za-z_][\w.]*)
    | (?P<mark>[][(){{}},:=])
    | (?P<other><[^<>\n]{{0,500}}>|\.\.\.)
    )""",
    re.X | re.S,
)
_CONSTANTS = {
    "None": None, "True": True, "False": False, "null": None, "true": True, "false": False, "nan": None,
    "NaN": None, "inf": None, "-inf": None, "Infinity": None, "-Infinity": None, "undefined": None,
}  # fmt: skip
_DEPTH = 20_000
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\n)|(.))", re.S)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}


class _Frame:
    """An open bracket: what is in it so far."""

    __slots__ = ("bracket", "call", "items", "key", "pairs", "ready", "value")

    def __init__(self, bracket: str, call: str | None = None) -> None:
        self.bracket, self.call = bracket, call
        self.items: list[Any] = []
        self.pairs: dict[str, Any] = {}
        self.key: Any = None  # after `name=` or `key:`
        self.ready = False  # a value waits for its comma
        self.value: Any = None

    def end_value(self) -> None:
        """Store the value that a comma or the closing bracket ends."""
        if self.ready:
            if self.key is None:
                self.items.append(self.value)
            else:
                self.pairs[self.key] = self.value
        self.key, self.ready, self.value = None, False, None

    def build(self) -> Any:
        """The value that the bracket holds."""
        if (
            self.call is not None
        ):  # Document(page_content='...'), datetime(2024, 1, 1), OrderedDict([...])
            if self.pairs:
                return self.pairs
            return self.items[0] if len(self.items) == 1 else self.items or None
        if self.bracket == "{" and (self.pairs or not self.items):
            return self.pairs
        if self.bracket == "(" and len(self.items) == 1:
            return self.items[0]
        return self.items


def parse_literal(text: str) -> Any:
    """The list or object that a text is as a whole in Python's notation; None if it is not."""
    value, end = parse_prefix(text, 0)
    return value if end and not text[end:].strip() else None


def parse_prefix(text: str, start: int) -> tuple[Any, int]:
    """The list or object that begins at a position, and where it ends; (None, 0) if there is none."""
    stack: list[_Frame] = []
    position = start
    match = _TOKEN.match
    while token := match(text, position):
        position = token.end()
        kind = token.lastgroup
        if kind == "mark":
            mark = token["mark"]
            if mark in "[({":
                if len(stack) > _DEPTH or (stack and stack[-1].ready and mark != "("):
                    return None, 0
                top = stack[-1] if stack else None
                name = (
                    top.value.text if top and isinstance(top.value, _Name) and mark == "(" else None
                )
                stack.append(_Frame(mark, name))
                continue
            if not stack:
                return None, 0
            top = stack[-1]
            if mark == ",":
                top.value = _plain(top.value)
                top.end_value()
            elif mark in ":=":
                if not top.ready or top.key is not None:
                    return None, 0
                top.key = top.value.text if isinstance(top.value, _Name) else str(top.value)
                top.ready, top.value = False, None
            else:
                if mark != _CLOSING[top.bracket]:
                    return None, 0
                top.value = _plain(top.value)
                top.end_value()
                value = stack.pop().build()
                if not stack:
                    return (value, position) if isinstance(value, dict | list) else (None, 0)
                stack[-1].ready, stack[-1].value = True, value
            continue
        if not stack:
            if kind != "name":
                return None, 0
            stack.append(_Frame("(", ""))  # Document(...) as a whole: the name opens it
            bracket = match(text, position)
            if bracket is None or bracket["mark"] != "(":
                return None, 0
            position = bracket.end()
            continue
        top = stack[-1]
        if kind == "string":
            piece = _unquote(token["string"])
            if top.ready and not isinstance(top.value, str):
                return None, 0
            top.value = top.value + piece if top.ready else piece
        elif top.ready:
            return None, 0
        elif kind == "number":
            top.value = _number(token["number"])
        elif kind == "name":
            name = token["name"]
            top.value = _CONSTANTS[name] if name in _CONSTANTS else _Name(name)
        else:
            top.value = None
        top.ready = True
    return None, 0


class _Name:
    """A bare name: a keyword, the name of a call, or a value such as an enumeration's."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _plain(value: Any) -> Any:
    return value.text if isinstance(value, _Name) else value


def _number(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None


def _unquote(token: str) -> str:
    raw = "r" in token[:2].casefold().split("'")[0].split('"')[0]
    body = token[token.index(token[-1]) + 1 : -1]
    return body if raw or "\\" not in body else _ESCAPE.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        number = int(code, 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    if match[4]:
        return ""
    return _ESCAPES.get(match[5], match[5])


_STRING = re.compile(_STRING_TEXT, re.S)


def parse_string(text: str, start: int) -> tuple[str, int]:
    """The string literal that begins at a position, and where it ends; ("", 0) if there is none."""
    token = _STRING.match(text, start)
    return (_unquote(token[0]), token.end()) if token else ("", 0)
