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
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from goodgain.errors import UsageError
from goodgain.fingerprint import Fingerprint, fingerprint

_SECRET = re.compile(
    r"key|token|secret|password|pwd|auth|credential|signature|\bsig\b", re.IGNORECASE
)
_PORTS = {"http": 80, "https": 443}


def model_of(judge: Any, name: str | None = None) -> str:
    """The name under which its labels are stored: `name`, its `model`, or its qualified name."""
    model = name or getattr(judge, "model", None)
    if model:
        return str(model)
    while isinstance(judge, functools.partial):
        judge = judge.func
    kind = judge if hasattr(judge, "__qualname__") else type(judge)
    return f"{kind.__module__}.{kind.__qualname__}"


def has_name(judge: Any) -> bool:
    """Whether its author has named it, so that its code need not be read."""
    return bool(getattr(judge, "model", None))


def parameters_of(judge: Any, name: str | None = None) -> dict[str, Any]:
    """What else tells it from other judges: its `parameters`, and a hash of its code if it has no name."""
    parameters = getattr(judge, "parameters", None)
    settings = dict(parameters) if isinstance(parameters, Mapping) else {}
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
    model = getattr(value, "model", None)
    return (model, parameters_of(value)) if isinstance(model, str) and callable(value) else None
