"""Messages of a source: each is entered into the ledger as it is met, and once if it is repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.threads import Item, Piece, key_of, threads
from goodgain.traces.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents


def read_threads(
    documents: Documents,
    piece_of: Callable[[str, Any], Piece],
    context: Context,
    start: Callable[[Builder], Callable[[Item], None]],
) -> Conversations:
    """One conversation per document, or per thread of documents that repeat and continue one another.

    `start` gives the function that adds a message to a new conversation.
    """
    for thread in threads(documents, piece_of, context):
        builder = Builder(thread.name, thread.system, context)
        if thread.repeated:
            rule = "repeated from an earlier line"
            builder.add_item("message", thread.where, "duplicate", rule, thread.repeated)
        add = start(builder)
        for item in thread.items:
            if isinstance(item.value, dict):
                builder.add_item("message", item.where)
                add(item)
            else:
                builder.add_item("message", item.where, "unusable", "not an object")
        yield builder.build()


def piece_of_messages(
    where: str,
    document: Any,
    messages: Any,
    *,
    reply: Any = None,
    usage: Usage | None = None,
    name: str | int | None = None,
    system: Any = None,
) -> Piece:
    """The messages of a document, and the reply to them with what it used."""
    listed = messages if isinstance(messages, list) else []
    items = [Item(value=m, where=f"{where} messages[{n}]") for n, m in enumerate(listed)]
    if isinstance(reply, dict):
        items.append(
            Item(value=reply, where=f"{where} reply", usage=usage or Usage(), is_reply=True)
        )
    return Piece(
        where=where,
        items=items,
        key=key_of(document),
        name=None if name is None else str(name),
        system=system if isinstance(system, str) else None,
    )


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
