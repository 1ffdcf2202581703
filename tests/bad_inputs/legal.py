"""Damages that are legal for a kind of file, each with the reason."""

from __future__ import annotations

from damages import HARMLESS

LEGAL: dict[str, dict[str, str]] = {}


def is_legal(kind: str, damage: str, line: str) -> bool:
    """Whether a command may succeed with such a file."""
    return damage in HARMLESS or damage in LEGAL.get(kind, {})
