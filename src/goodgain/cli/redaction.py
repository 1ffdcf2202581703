"""Command lines without secrets: they are kept in reports and results, which people send to each other."""

from __future__ import annotations

import re

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
        lambda m: f"{m['name']}={HIDDEN}" if _SECRET.search(m["name"].lstrip("?&;")) else m[0], text
    )
    pair = _PAIR.fullmatch(text)
    if pair and "://" not in pair["name"] and _SECRET.search(pair["name"]):
        text = f"{pair['name']}{pair['sign']}{HIDDEN}"
    return _KEY_LIKE.sub(HIDDEN, text)
