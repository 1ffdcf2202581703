"""Command lines and settings without secrets: they are kept in results, which people send to each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
_SECRET = re.compile(
    r"(?:^|[-_.])(?:api[-_.]?key|access[-_.]?key|key|token|secret|password|passwd|pwd|auth|authorization|"
    r"credential|signature|sig|sas|bearer|cookie|session)s?$",
    re.I,
)
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|hf|AKIA|ASIA|AIza|eyJ)[-_A-Za-z0-9]{12,}[\w.-]*"
)
_ACCOUNT = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)[^/@\s]+@", re.I)
_PARAMETER = re.compile(r"(?P<name>[?&;][^=&;#\s]+)=(?P<value>[^&;#\s]+)")
_VARIABLE = re.compile(r"(?:Bearer )?\$\{\w+\}")
_PAIR = re.compile(r"(?P<name>[\w.-]+)(?P<sign>[=:]\s*)(?P<value>\S.*)", re.S)


def redacted(words: list[str]) -> list[str]:
    """The words of a command with the values of secret options, parameters and accounts hidden."""
    safe: list[str] = []
    hide_next = False
    for word in words:
        option, equals, _ = word.partition("=")
        if hide_next and not word.startswith("--"):
            safe.append(HIDDEN)
            hide_next = False
        elif word.startswith("-") and _SECRET.search(option.lstrip("-")):
            safe.append(f"{option}={HIDDEN}" if equals else word)
            hide_next = not equals
        else:
            hide_next = False
            safe.append(hide_secrets(word))
    return safe


def hide_secrets(text: str) -> str:
    """A text without accounts in URLs, secret parameters and settings, and what looks like a key."""
    text = _ACCOUNT.sub(rf"\g<scheme>{HIDDEN}@", text)
    text = _PARAMETER.sub(
        lambda m: f"{m['name']}={HIDDEN}" if _hides(m["name"].lstrip("?&;"), m["value"]) else m[0],
        text,
    )
    pair = _PAIR.fullmatch(text)
    if pair and "://" not in pair["name"] and _hides(pair["name"], pair["value"]):
        text = f"{pair['name']}{pair['sign']}{HIDDEN}"
    return _KEY_LIKE.sub(HIDDEN, text)


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
    return bool(_SECRET.search(name)) and not _VARIABLE.fullmatch(value)
