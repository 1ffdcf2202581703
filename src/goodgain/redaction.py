"""Command lines and settings without secrets: they are kept in results, which people send to each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
_SECRET = re.compile(
    r"(?:api|access|account|private|shared|secret|subscription|signing|encryption|master|admin|ssh|ssl)[-_.]?keys?$|"
    r"(?:^|[-_.])(?:key|auth|authorization|signature|sig|sas|hmac|bearer|cookie|session|ticket|pat|jwt|pin|pass|pw|"
    r"sid|dsn)s?$|"
    r"(?:token|secret|password|passwd|passphrase|passcode|userpass|pwd|credential)s?$|"
    r"sess(?:ion)?[-_.]?id$|conn(?:ection)?[-_.]?str(?:ing)?$|webhook(?:[-_.]?url)?$|"
    # Hadoop's settings end with the host that they are for.
    r"(?:account\.key|\bsas|secret|password|token)\.[\w-]+\.[\w.-]+$",
    re.I,
)
_COUNTED = re.compile(r"tokens?$", re.I)  # --max-tokens 500 is a number, and no secret
_KEY_LIKE = re.compile(
    r"\b(?:(?:sk|pk|rk|ghp|gho|ghs|ghu|ghr|hf|npm|dop_v1|github_pat|glpat|pypi|xox[abeprs])[-_][-_A-Za-z0-9]{12,}|"
    r"(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[-_A-Za-z0-9]{12,}|eyJ[-_A-Za-z0-9]{12,}[\w.-]*)"
)
# Each expression begins where a word does and looks only so far: long texts would take quadratic time.
# What stands before the @ in Azure's addresses is the name of a container.
_ACCOUNT = re.compile(
    r"(?<![a-z0-9+.-])(?!(?:abfs|wasb)s?://[a-z0-9$-]{1,63}@)"
    r"(?P<before>[a-z][a-z0-9+.-]*+(?:://|%3a%2f%2f))"
    r"(?:[^/\s?#]{1,2000}@|[^/\s:@]{1,500}:(?!\d+(?:[/?#]|$))\S{0,2000}@|[^/\s@&]{1,2000}?%40)|"
    r"(?P<oracle>\bjdbc:oracle:\w+:)[^\s@]{1,500}@",
    re.I,
)
_URL = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+://[^\s'\"<>]+", re.I)
_VARIABLE = re.compile(r"(?:Bearer )?\$\{\w+\}")
_PAIR = re.compile(r"(?P<name>[\w.-]+)(?P<sign>[=:]\s*)(?P<value>\S.*)", re.S)
_SCHEME = re.compile(
    r"\b(?P<name>(?i:Bearer)|Basic)(?:\s|%20|\+)\s*+(?!\$\{)[-\w+/=.~]{6,}|(?<!\S)(?P<user>-u\s+[^\s:]+:)\S+"
)
_BLOCK = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END|\Z)", re.S)
_HOOK = re.compile(r"\b(hooks\.slack\.com/\w+|discord(?:app)?\.com/api/webhooks)/[^\s\"'?]+")
_NAME = re.compile(
    r"""(?<![\w.-])(?P<name>[\w.-]++)(?:\\?["'])?+"""
    r"""(?:\s*+(?:[=:](?!//)|%3[ad])\s*+|(?<=\w)\s++(?=\S))""",
    re.I,
)  # in a URL, a connection string, JSON or a command
_VALUE = re.compile(
    r"""\\"(?:(?!\\").)+\\"|"(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+'|"""
    r"""(?:(?:Bearer|Basic|Token|ApiKey)\s+)?(?:(?!%26)[^\s"',;&#(){}\[\]])+(?:\{\w+\})?"""
)
_OPENED = re.compile(r"""[{"'\\]*(?P<name>[\w.-]+)["'\\]*\s*[:=]""")
_SCHEMES = ("bearer", "basic", "token", "apikey")
_SHORTEST = 6  # shorter values are words such as "true" or "x", which occur in any text
_remembered: set[str] = set()


def remember_secret(value: str) -> None:
    """Hide this value wherever it occurs from now on: services repeat keys in their errors.

    Of "Bearer ..." the last word is hidden on its own, too.
    """
    _remembered.update(v for v in (value, value.rpartition(" ")[2]) if len(v) >= _SHORTEST)


def hide_remembered(text: str) -> str:
    """A text without the values that are known to be secret."""
    for secret in sorted(_remembered, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def redacted(words: list[str]) -> list[str]:
    """The words of a command with the values of secret options, parameters and accounts hidden."""
    safe: list[str] = []
    hide_next = ""  # the secret option whose value comes next
    for word in words:
        option, equals, value = word.partition("=")
        opened = _OPENED.fullmatch(word)  # a value without quotes follows
        if hide_next and word.lower() in ("=", ":", *_SCHEMES):
            safe.append(word)
        elif hide_next and not word.startswith("--"):
            safe.append(HIDDEN if is_secret(hide_next, word) else word)
            hide_next = ""
        elif word.lower() in _SCHEMES or (opened and _SECRET.search(opened["name"])):
            safe.append(word)
            hide_next = "token"
        elif word.startswith("-") and _SECRET.search(option.lstrip("-")):
            hidden = equals and is_secret(option, value)
            safe.append(f"{option}={HIDDEN}" if hidden else word)
            hide_next = "" if equals else option
        else:
            hide_next = ""
            safe.append(hide_secrets(word))
    return safe


def hide_secrets(text: str) -> str:
    """A text without accounts in URLs, secret parameters and settings, and what is or looks like a key."""
    text = hide_remembered(text)
    pair = _PAIR.fullmatch(text)
    if pair and not pair["value"].startswith("//") and is_secret(pair["name"], pair["value"]):
        return f"{pair['name']}{pair['sign']}{HIDDEN}"
    text = _BLOCK.sub(rf"\g<1>{HIDDEN}\g<2>", text)
    text = _ACCOUNT.sub(lambda match: f"{match['before'] or match['oracle']}{HIDDEN}@", text)
    text = _HOOK.sub(rf"\g<1>/{HIDDEN}", _without_values(text))
    text = _SCHEME.sub(lambda m: f"{m['name']} {HIDDEN}" if m["name"] else m["user"] + HIDDEN, text)
    return _KEY_LIKE.sub(HIDDEN, text)


def hide_in_urls(text: str) -> str:
    """A text without known secrets and those in its URLs: the rest may name anything."""
    text = hide_remembered(text)
    return _URL.sub(lambda match: hide_secrets(match[0]), text) if "://" in text else text


def _without_values(text: str) -> str:
    """A text with the values behind secret names hidden, wherever they stand in it."""
    pieces: list[str] = []
    end = 0
    for match in _NAME.finditer(text):
        name = match["name"]
        # Without a sign between them only an option has a value: `--token abc`.
        signed = match[0].rstrip()[-1:] in "=:" or match[0][-3:].lower() in ("%3a", "%3d")
        if match.start() < end or not _SECRET.search(name) or not (signed or name.startswith("--")):
            continue
        value = _VALUE.match(text, match.end())
        if value and is_secret(name, value[0]):
            pieces += text[end : match.end()], HIDDEN
            end = value.end()
    return "".join([*pieces, text[end:]])


def hide_in(value: Any, name: str = "") -> Any:
    """Settings without secrets, at any depth; `${NAME}`, which is read from the environment, stays."""
    if isinstance(value, Mapping):
        return {key: hide_in(each, str(key)) for key, each in value.items()}
    if isinstance(value, list | tuple):
        # The words of a command: what follows `--token` is one.
        names = (w.lstrip("-") if str(w).startswith("-") else name for w in (name, *value))
        return [hide_in(each, before) for each, before in zip(value, names, strict=False)]
    if isinstance(value, str):
        return HIDDEN if value and is_secret(name, value) else hide_secrets(value)
    return value


def is_secret(name: str, value: str) -> bool:
    """Whether a value is to be hidden because of its name."""
    if not _SECRET.search(name) or _VARIABLE.fullmatch(value) or value == HIDDEN:
        return False
    return not (_COUNTED.search(name) and value.replace(".", "", 1).isdigit())
