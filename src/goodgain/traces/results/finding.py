"""What an output holds: the type that all readers of outputs return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """What an output holds; there are results only where the account is "result"."""

    results: list[dict[str, Any]]
    account: Literal["result", "empty", "failed", "unread"]
    reason: str


def result(results: list[dict[str, Any]], reason: str) -> Finding:
    """Results, and by which reader."""
    return Finding(results, "result", reason)


def empty(reason: str) -> Finding:
    """The output says that nothing matched."""
    return Finding([], "empty", reason)


def failed(reason: str) -> Finding:
    """The output is an error; the reason is its text."""
    return Finding([], "failed", reason[:500])


def unread(reason: str) -> Finding:
    """The output holds something else."""
    return Finding([], "unread", reason)
