"""What a system is: its settings, and an address made of code, parameters, data and depth.

Calls are kept under the address of their system. A system that was edited has another address, so that
its earlier calls are never taken for its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from goodgain.experiment.retrievers.base import Retriever, to_json
from goodgain.fingerprint import fingerprint
from goodgain.redaction import hide_in

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the calls of a system are kept.

    `unknown` names what could not be read, such as the state of a client: whether it is still the same
    system is then for its user to say, by a `version`.
    """

    digest: str
    settings: dict[str, Any]
    unknown: tuple[str, ...] = ()


def address_of(
    search: Any,
    *,
    data: str,
    depth: int,
    versions: Mapping[int, str] | None = None,
    answers: Any = None,
) -> Address:
    """The address of a system over these documents and queries.

    `versions` are by the identity of a system or a component, and `answers` is how answers are read.
    """
    settings, unknown = describe(search, versions or {})
    # What cannot be known to be the same has an address of its own in every run.
    nonce = uuid4().hex if unknown else ""
    text = json.dumps([settings, data, depth, answers, nonce], sort_keys=True)
    return Address(
        digest=sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:20],
        settings=hide_in(settings),
        unknown=tuple(unknown),
    )


def describe(search: Any, versions: Mapping[int, str]) -> tuple[dict[str, Any], list[str]]:
    """The settings of a system with those of the systems it is built on, and what is not known.

    A version stands for what cannot be read of the system itself and of components without a name.
    """
    settings: dict[str, Any]
    if isinstance(search, Retriever):
        settings, unknown = search.settings(), search.unknown_state()
        components = [describe(component, versions) for component in search.components()]
        if components:
            settings["components"] = [own for own, _ in components]
            unknown += [what for _, others in components for what in others]
    else:
        settings, unknown = {"retriever": to_json(search)}, list(fingerprint(search).unknown)
    if id(search) in versions:
        settings, unknown = {**settings, "version": versions[id(search)]}, []
    return settings, unknown
