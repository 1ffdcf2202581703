"""Calls as a source records them, and what becomes of each: searches are counted once.

A source may hold a call several times: in a model's message and in a span, as a tool around a retriever,
as a failed attempt and its repetition. One of these records counts, the others are accounted for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.traces.results import Finding, find_results
from goodgain.traces.searching import Call, SearchRules, Verdict
from goodgain.traces.values import decode_json, query_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.traces.ledger import Account

_OUTCOMES: dict[str, Account] = {
    "result": "search", "empty": "empty", "failed": "failed", "unread": "unread",
}  # fmt: skip
_NO_OUTPUT = "no output is recorded"
_NOT_RETURNED = "the provider did not return the results"


@dataclass(slots=True, kw_only=True)
class Output:
    """What a call returned, or its error."""

    value: Any
    where: str
    error: str | None = None
    seconds: float | None = None
    results: list[dict[str, Any]] | None = None  # where the format itself holds results
    account: Account = "read"
    finding: Finding | None = None

    def find(self) -> Finding:
        """What the output holds."""
        if self.finding is None:
            if self.error is not None:
                self.finding = Finding([], "failed", self.error)
            elif self.results is not None:
                account = "result" if self.results else "empty"
                self.finding = Finding(self.results, account, "")  # type: ignore[arg-type]
            else:
                self.finding = find_results(self.value)
        return self.finding


@dataclass(slots=True, kw_only=True, eq=False)
class CallRecord:
    """One record of a call. The first fields are the source's, the last what was decided."""

    tool: str | None
    arguments: Any
    where: str
    place: tuple[int, int]  # turn and step
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None
    parent: CallRecord | None = None
    seconds: float | None = None
    cost: float | None = None
    tokens: float | None = None
    outputs: list[Output] = field(default_factory=list)
    account: Account = "read"
    rule: str = ""
    tries: int = 1
    finding: Finding | None = None
    _key: str | None = None

    @property
    def key(self) -> str:
        """Tool and arguments: what makes two calls the same question."""
        if self._key is None:
            arguments = decode_json(self.arguments)
            text = json.dumps(arguments, sort_keys=True, default=str)
            self._key = f"{(self.tool or '').casefold()} {text}"
        return self._key

    @property
    def query(self) -> str | None:
        """The query in the arguments."""
        return query_of(self.arguments)

    @property
    def is_search(self) -> bool:
        """Whether this record counts as a search."""
        return self.account in _OUTCOMES.values()

    @property
    def has_results(self) -> bool:
        """Whether its output holds results."""
        return self.finding is not None and self.finding.account == "result"

    def decide(self, rules: SearchRules) -> None:
        """Find what the outputs hold, and what the call therefore is."""
        chosen = self._choose_output()
        if chosen is not None:
            self.finding = chosen.find()
        elif self.kind == "hosted search":
            self.finding = Finding([], "unread", _NOT_RETURNED)
        else:
            self.finding = Finding([], "unread", _NO_OUTPUT)
        verdict: Verdict = rules.classify(
            Call(
                tool=self.tool,
                description=self.description,
                arguments=self.arguments,
                kind=self.kind,
            ),
            self.finding,
        )
        self.rule = verdict.rule
        self.account = (
            _OUTCOMES[self.finding.account] if verdict.account == "search" else verdict.account
        )
        for output in self.outputs:
            output.account = "duplicate"
        if chosen is not None:
            chosen.account = self.finding.account if self.is_search else verdict.account

    def _choose_output(self) -> Output | None:
        """The output that counts: a later one replaces a failed one, which was another try."""
        chosen: Output | None = None
        for output in self.outputs:
            if chosen is None:
                chosen = output
            elif chosen.find().account == "failed":
                self.tries += 1
                chosen = output
            elif chosen.find().account != "result" and output.find().account == "result":
                chosen = output
        return chosen

    def set_aside(self, account: Account, rule: str) -> None:
        """Count another record of the same search, not this one."""
        self.account, self.rule = account, rule
        for output in self.outputs:
            output.account = account


def settle(records: list[CallRecord], rules: SearchRules) -> None:
    """Decide what each record is, so that a search counts once."""
    _merge_same_ids(records)
    for record in records:
        if record.account == "read":
            record.decide(rules)
    _settle_nested(records)
    _settle_retries(records)


def _merge_same_ids(records: Iterable[CallRecord]) -> None:
    """The same call recorded twice, as in a model's message and in a span."""
    by_id: dict[str, CallRecord] = {}
    for record in records:
        if not record.call_id:
            continue
        first = by_id.get(record.call_id)
        if first is None or not _same_call(first, record):
            by_id[record.call_id] = record
            continue
        if _ancestors(record, first):
            continue  # nested: the one with results counts
        outputs = first.outputs + record.outputs
        for name in ("arguments", "description", "kind", "seconds", "cost", "tokens"):
            if getattr(first, name) is None:
                setattr(first, name, getattr(record, name))
        record.outputs = []
        record.set_aside("duplicate", f"call '{record.call_id}' is recorded before")
        first.outputs = outputs


def _same_call(first: CallRecord, other: CallRecord) -> bool:
    if first.tool and other.tool and first.tool.casefold() != other.tool.casefold():
        return False
    return not first.arguments or not other.arguments or first.key == other.key


def _ancestors(record: CallRecord, other: CallRecord) -> bool:
    parent = record.parent
    while parent is not None:
        if parent is other:
            return True
        parent = parent.parent
    return False


def _settle_nested(records: list[CallRecord]) -> None:
    """Of searches inside one another one counts: the inner one that has results, else the outer."""
    inner: dict[int, list[CallRecord]] = {}
    for record in records:
        if record.is_search:
            parent = record.parent
            while parent is not None and parent.account == "duplicate":
                parent = parent.parent
            if parent is not None:
                inner.setdefault(id(parent), []).append(record)
    for record in reversed(records):  # the innermost first
        children = [c for c in inner.get(id(record), ()) if c.is_search]
        if not children or record.account == "duplicate":
            continue
        queries = {(c.query or "").casefold() for c in children}
        outer_counts = record.is_search and (
            not any(c.has_results for c in children)
            if len(queries) == len(children)
            else record.has_results
        )
        if outer_counts and (record.has_results or len(children) == 1):
            for child in children:
                child.set_aside("wrapped", "inside a search that counts")
        else:
            record.set_aside("wrapped", "around a search that counts")
            if record.parent is not None:
                inner.setdefault(id(record.parent), []).extend(children)


def _settle_retries(records: list[CallRecord]) -> None:
    """A call repeated after it failed, with no generation between, is one search; its last try counts."""
    failed: dict[str, CallRecord] = {}
    for record in records:
        if not record.is_search:
            continue
        earlier = failed.pop(record.key, None)
        if earlier is not None and earlier.place == record.place:
            record.tries += earlier.tries
            if earlier.seconds is not None:
                record.seconds = round(earlier.seconds + (record.seconds or 0), 9)
            earlier.set_aside("duplicate", "failed and was tried again")
        if record.account == "failed":
            failed[record.key] = record
