"""Who judged: what tells one judge from another, so that no two share labels.

A judge that has a `model` is identified by that name and its `parameters`. Any other is identified by a hash
of its code and of all that the code refers to: defaults, closure, globals, the state of the object it is
bound to. The hash is the same in every process of one version of Python. What cannot be known, such as the
state of a client, is refused: the user then has to name the judge.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import UUID

from goodgain.errors import UsageError
from goodgain.fingerprint import Fingerprint, fingerprint

_SECRET = re.compile(
    r"key|token|secret|password|pwd|auth|credential|signature|\bsig\b", re.IGNORECASE
)
_PORTS = {"http": 80, "https": 443}


def model_of(judge: Any, name: str | None = None) -> str:
    """The name under which its labels are stored: `name`, its `model`, or its qualified name."""
    if name or has_name(judge):
        return name or str(judge.model)
    while isinstance(judge, functools.partial):
        judge = judge.func
    kind = judge if hasattr(judge, "__qualname__") else type(judge)
    return f"{kind.__module__}.{kind.__qualname__}"


def has_name(judge: Any) -> bool:
    """Whether its author has named it, so that its code need not be read.

    Only a text is a name: `model` may also be a classifier, and two of these print alike.
    """
    model = getattr(judge, "model", None)
    return isinstance(model, str) and bool(model)


def parameters_of(judge: Any, name: str | None = None) -> dict[str, Any]:
    """What else tells it from other judges: its `parameters`, and a hash of its code if it has no name."""
    parameters = getattr(judge, "parameters", None)
    settings = (
        {str(key): _plain(value, str(key)) for key, value in parameters.items()}
        if isinstance(parameters, Mapping)
        else {}
    )
    if not (name or has_name(judge)):
        settings["code"] = code_digest(judge)
    return settings


def code_digest(judge: Any) -> str:
    """A hash of a callable's code and state; refuses one whose state cannot be known."""
    digest, unknown = fingerprint_of(judge)
    if not unknown:
        return digest
    raise UsageError(
        f"cannot tell the judge '{model_of(judge)}' from others: {unknown[0]}",
        hint="name it, and rename it whenever it changes: label(..., judge, name='my-judge-1')",
    )


def fingerprint_of(judge: Any) -> Fingerprint:
    """A hash of a callable's code and state, and what of it cannot be known."""
    return fingerprint(judge, _known_by)


def plain_url(url: str) -> str:
    """A URL in its usual form, without account and secrets: the same server has the same name."""
    address = urlsplit(url.strip())
    scheme, host = address.scheme.lower(), (address.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = address.port
    if port is not None and port != _PORTS.get(scheme):
        host = f"{host}:{port}"
    query = sorted((k, v) for k, v in parse_qsl(address.query) if not _SECRET.search(k))
    path = re.sub("/{2,}", "/", address.path).rstrip("/")
    return urlunsplit((scheme, host, path, urlencode(query), ""))


def _known_by(value: Any) -> Any:
    """A judge inside another is known by its model and parameters."""
    is_judge = callable(value) and has_name(value)
    return (value.model, parameters_of(value)) if is_judge else None


def _plain(value: Any, place: str) -> Any:
    """A parameter as JSON, in which the store keeps it; refuses what would not be the same next time."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{place}.{k}") for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, place) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(each, place) for each in value), key=repr)
    if hasattr(value, "item") and not getattr(value, "shape", ()):  # a number of numpy
        value = value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, PurePath | date | time | Decimal | UUID):
        return str(value)
    raise UsageError(
        f"the judge's parameter '{place}' is a {type(value).__name__}, which cannot be stored",
        hint="parameters are texts, numbers, and lists or dictionaries of them",
    )
