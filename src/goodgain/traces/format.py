"""A trace format: how a document of it is recognised, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.traces.context import Context

    Documents = Iterator[
        tuple[str, Any]
    ]  # a name for the conversation, and the parsed JSON or text
    Conversations = Iterator[dict[str, Any]]  # in the canonical form
    Reader = Callable[[Documents, Context], Conversations]


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A format; `mismatch` says why a document is not in it, with an empty string where it is.

    A package adds its own with an entry point of the group `goodgain.trace_formats`.
    """

    name: str
    title: str
    mismatch: Callable[[Any], str]
    read: Reader
