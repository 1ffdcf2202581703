"""goodgain's own form: a conversation of turns, iterations, searches and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.traces.format import TraceFormat
from goodgain.traces.values import dicts

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents
    from goodgain.traces.ledger import Account, Ledger


def _mismatch(document: Any) -> str:
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, dict) or "conversation" not in first:
        return "no 'conversation'"
    return "" if "turns" in first else "no 'turns'"


def _read(documents: Documents, context: Context) -> Conversations:
    for where, document in documents:
        for trace in document if isinstance(document, list) else [document]:
            if not isinstance(trace, dict):
                context.skip(InputError("not a conversation", where=context.place(where)))
                continue
            account_for(trace, context.ledger, where)
            yield trace


def account_for(trace: Any, ledger: Ledger, where: str) -> None:
    """Enter a conversation that is canonical already: it says itself what its searches are."""
    ledger.meet("conversation")
    ledger.enter("conversation", "read", where=where)
    turns = trace.get("turns") if isinstance(trace, dict) else None
    for turn in dicts(turns):
        for iteration in dicts(turn.get("iterations")):
            for search in dicts(iteration.get("searches")):
                _account_for_search(search, ledger, where)
            opens = len(list(dicts(iteration.get("opens"))))
            ledger.meet("call", opens)
            ledger.enter("call", "open", where=where, number=opens)


def _account_for_search(search: dict[str, Any], ledger: Ledger, where: str) -> None:
    results = search.get("results")
    number = len(results) if isinstance(results, list) else 0
    account: Account = (
        "failed"
        if search.get("error") and not number
        else "unread"
        if search.get("unread")
        else "search"
        if number
        else "empty"
    )
    tool = search.get("tool")
    ledger.meet("call")
    ledger.enter("call", account, where=where, tool=tool if isinstance(tool, str) else None)
    ledger.meet("result", number)
    ledger.enter("result", "result", where=where, number=number)


FORMAT = TraceFormat("canonical", "goodgain's own JSON lines", _mismatch, _read)
