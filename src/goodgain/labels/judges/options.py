"""Options of a provider beyond the usual ones: extra fields of the request, headers, effort, seed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What goodgain sets itself, and must know in order to store, read and pay for a reply.
_OWN = ("model", "messages", "system", "stream", "n", "max_tokens", "max_completion_tokens")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_SHORTEST_SECRET = 6  # shorter values are words such as "true" or "x", which occur in any text


def option_parameters(
    seed: int | None,
    reasoning_effort: str | None,
    extra_body: Mapping[str, Any],
    headers: Mapping[str, str],
) -> dict[str, Any]:
    """The options as parameters of a label: any of them may change a reply.

    Values of headers may be secret, so only their hashes are stored.
    """
    parameters: dict[str, Any] = {
        "seed": seed,
        "reasoning_effort": reasoning_effort,
        "extra_body": dict(extra_body) or None,
        "headers": {n.lower(): _hash(v) for n, v in headers.items()} or None,
    }
    return {name: value for name, value in parameters.items() if value is not None}


def check_extra_body(extra_body: Mapping[str, Any], where: str = "") -> None:
    """Refuse fields that would replace the prompt, and values that are not JSON."""
    for name in _OWN:
        if name in extra_body:
            raise UsageError(
                f"extra_body must not set '{name}', which goodgain sets itself",
                where=where,
                hint="see --model, --prompt, --template and --max-tokens",
            )
    try:
        json.dumps(extra_body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"extra_body is not JSON: {error}", where=where, hint="JSON has no NaN or infinity"
        ) from None


def secret_values(key: str | None, headers: Mapping[str, str]) -> list[str]:
    """What must not be stored: the key, and values of headers, also the last word of "Bearer ..."."""
    values = [v for value in headers.values() for v in (value, value.rpartition(" ")[2])]
    return [value for value in (key or "", *values) if len(value) >= _SHORTEST_SECRET]


def parse_extra_body(text: str | None) -> dict[str, Any]:
    """A JSON object, or the file that @FILE names."""
    if text is None:
        return {}
    source = text
    if text.startswith("@"):
        from goodgain.io.files import read_json

        data = read_json(text[1:])
        if isinstance(data, dict):
            check_extra_body(data, text[1:])
    else:
        try:
            data = json.loads(source)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"--extra-body is not JSON: {error}",
                hint="for example --extra-body '{\"top_p\": 0.9}', or @FILE",
            ) from None
    if not isinstance(data, dict):
        raise UsageError(
            f"--extra-body must be a JSON object, got '{text:.60}'",
            hint="for example --extra-body '{\"top_p\": 0.9}', or @FILE",
        )
    return data


def parse_headers(texts: Iterable[str]) -> dict[str, str]:
    """Headers from texts such as `NAME: VALUE`; $VARIABLE in a value is read from the environment."""
    headers: dict[str, str] = {}
    for text in texts:
        name, colon, value = text.partition(":")
        name, value = name.strip(), _VARIABLE.sub(_variable, value.strip())
        if not colon or not _HEADER.fullmatch(name) or not value:
            raise UsageError(f"invalid --header '{name}'", hint="expected 'NAME: VALUE'")
        if not value.isprintable():  # the value may be secret, so it is not shown
            raise UsageError(
                f"header '{name}' contains a line break or another invisible character"
            )
        if any(name.lower() == other.lower() for other in headers):
            raise UsageError(f"duplicate --header '{name}'", hint="names do not depend on case")
        headers[name] = value
    return headers


def _variable(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    if name not in os.environ:
        raise UsageError(f"environment variable '{name}' is not set", hint=f"export {name}=...")
    return os.environ[name]


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:12]
