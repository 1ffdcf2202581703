"""Command lines and settings without secrets: they are kept in results, which people send to each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
_SECRET = re.compile(
    r"(?:api|access|account|private|shared|secret|subscription|signing|encryption|master|admin|ssh|ssl)[-_.]?keys?$|"
    r"(?:^|[-_.])(?:key|auth|authorization|signature|sig|sas|bearer|cookie|session|pat|jwt|pin)s?$|"
    r"(?:token|secret|password|passwd|passphrase|pwd|credential)s?$",
    re.I,
)
_COUNTED = re.compile(r"tokens?$", re.I)  # --max-tokens 500 is a number, and no secret
_KEY_LIKE = re.compile(
    r"\b(?:(?:sk|pk|rk|ghp|gho|ghs|ghu|ghr|hf|npm|dop_v1|github_pat|glpat|pypi|xox[abeprs])[-_][-_A-Za-z0-9]{12,}|"
    r"(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[-_A-Za-z0-9]{12,}|eyJ[-_A-Za-z0-9]{12,}[\w.-]*)"
)
_ACCOUNT = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*://)(?:[^/\s?#]+@|[^/\s:@]+:(?!\d+(?:[/?#]|$))\S*@)", re.I
)
_VARIABLE = re.compile(r"(?:Bearer )?\$\{\w+\}")
_PAIR = re.compile(r"(?P<name>[\w.-]+)(?P<sign>[=:]\s*)(?P<value>\S.*)", re.S)
_SCHEME = re.compile(r"\b(?P<name>Bearer|Basic)\s+(?!\$\{)[-\w+/=.~]{6,}")
_NAME = re.compile(
    r"""(?P<name>[\w.-]+)\\?["']?\s*[=:](?!//)\s*"""
)  # in a URL, a connection string or JSON
_VALUE = re.compile(
    r""""(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+'|(?:Bearer\s+)?[^\s"',;&#(){}\[\]]+(?:\{\w+\})?"""
)


def redacted(words: list[str]) -> list[str]:
    """The words of a command with the values of secret options, parameters and accounts hidden."""
    safe: list[str] = []
    hide_next = ""  # the secret option whose value comes next
    for word in words:
        option, equals, value = word.partition("=")
        if hide_next and not word.startswith("--"):
            safe.append(HIDDEN if _hides(hide_next, word) else word)
            hide_next = ""
        elif word.startswith("-") and _SECRET.search(option.lstrip("-")):
            hidden = equals and _hides(option, value)
            safe.append(f"{option}={HIDDEN}" if hidden else word)
            hide_next = "" if equals else option
        else:
            hide_next = ""
            safe.append(hide_secrets(word))
    return safe


def hide_secrets(text: str) -> str:
    """A text without accounts in URLs, secret parameters and settings, and what looks like a key."""
    pair = _PAIR.fullmatch(text)
    if pair and not pair["value"].startswith("//") and _hides(pair["name"], pair["value"]):
        return f"{pair['name']}{pair['sign']}{HIDDEN}"
    text = _ACCOUNT.sub(rf"\g<scheme>{HIDDEN}@", text)
    text = _SCHEME.sub(rf"\g<name> {HIDDEN}", _without_values(text))
    return _KEY_LIKE.sub(HIDDEN, text)


def _without_values(text: str) -> str:
    """A text with the values behind secret names hidden, wherever they stand in it."""
    pieces: list[str] = []
    end = 0
    for match in _NAME.finditer(text):
        value = _VALUE.match(text, match.end())
        if match.start() >= end and value and _hides(match["name"], value[0]):
            pieces += text[end : match.end()], HIDDEN
            end = value.end()
    return "".join([*pieces, text[end:]])


def hide_in(value: Any, name: str = "") -> Any:
    """Settings without secrets, at any depth; `${NAME}`, which is read from the environment, stays."""
    if isinstance(value, Mapping):
        return {key: hide_in(each, str(key)) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [hide_in(each, name) for each in value]
    if isinstance(value, str):
        return HIDDEN if value and _hides(name, value) else hide_secrets(value)
    return value


def _hides(name: str, value: str) -> bool:
    if not _SECRET.search(name) or _VARIABLE.fullmatch(value) or value == HIDDEN:
        return False
    return not (_COUNTED.search(name) and value.replace(".", "", 1).isdigit())
