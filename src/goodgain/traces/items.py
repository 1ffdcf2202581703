"""The items of a list in a source: each is entered into the ledger as it is met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.traces.builder import Builder


def messages_in(
    items: Any, builder: Builder, where: str, name: str = "messages"
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, message) of each object in a list; what is no object is unusable."""
    for number, item in enumerate(items if isinstance(items, list) else ()):
        place = f"{where} {name}[{number}]"
        if isinstance(item, dict):
            builder.add_item("message", place)
            yield place, item
        else:
            builder.add_item("message", place, "unusable", "not an object")


def text_name(facts: Any, *names: str) -> str | int | None:
    """The first of these fields that can name a conversation."""
    values = (facts.get(name) for name in names) if isinstance(facts, dict) else ()
    return next(
        (v for v in values if isinstance(v, str | int) and v not in ("", True, False)), None
    )
