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
    from collections.abc import Iterable, Iterator

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
    is_excluded: bool = False  # the user says that it is not a search
    tries: int = 1
    queries: int = 1  # of a call that ran a batch of them
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

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results in its output."""
        return self.finding.results if self.finding is not None else []

    def around(self) -> Iterator[CallRecord]:
        """The records that this one is inside of, the nearest first."""
        parent = self.parent
        while parent is not None:
            yield parent
            parent = parent.parent

    def take_from(self, outer: CallRecord) -> None:
        """Take what only the outer record of the same search knows; the agent waited for that one."""
        if self.query is None:
            self.arguments, self._key = outer.arguments, None
        if outer.seconds is not None:
            self.seconds = max(outer.seconds, self.seconds or 0)

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
        self.is_excluded = verdict.by_user and verdict.account != "search"
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
    """The same call recorded twice: again in a later message, or tried again under the same id."""
    by_id: dict[str, CallRecord] = {}
    for record in records:
        if not record.call_id:
            continue
        first = by_id.get(record.call_id)
        if first is None or not _same_call(first, record) or first in record.around():
            by_id[record.call_id] = record  # nested records are settled apart
            continue
        if first.outputs and record.outputs and first.seconds is not None:
            failed = first.outputs[-1].find().account == "failed"
            first.seconds += record.seconds if failed and record.seconds else 0
        for name in ("arguments", "description", "kind", "seconds", "cost", "tokens"):
            if getattr(first, name) is None:
                setattr(first, name, getattr(record, name))
        first.outputs = first.outputs + record.outputs
        record.outputs = []
        record.set_aside("duplicate", "a call with this id is recorded before")


def _same_call(first: CallRecord, other: CallRecord) -> bool:
    if first.tool and other.tool and first.tool.casefold() != other.tool.casefold():
        return False
    return not first.arguments or not other.arguments or first.key == other.key


def _settle_nested(records: list[CallRecord]) -> None:
    """Of records inside one another one counts: the one with results, the inner one if both have."""
    inside: dict[int, list[CallRecord]] = {}
    for record in reversed(records):  # the innermost first: an outer record starts before it
        held = inside.get(id(record), [])[::-1]
        within = [r for r in held if r.is_search]
        if record.account == "duplicate":
            counted = held
        elif record.is_excluded:
            for inner in within:
                inner.set_aside("not a search", f"inside a call that is none: {record.rule}")
            counted = []
        elif within:
            counted = _settle_pair(record, within)
        else:
            _take_results(record, held)
            counted = [record] if record.is_search or record.kind == "retriever" else held
        if record.parent is not None:
            inside.setdefault(id(record.parent), []).extend(reversed(counted))


def _take_results(outer: CallRecord, held: list[CallRecord]) -> None:
    """The documents of retrievers inside a search that has no results of its own.

    They are not counted themselves where the user lists the tools that are searches.
    """
    retrievers = [r for r in held if r.has_results]
    if outer.is_search and not outer.has_results and retrievers:
        results = [result for r in retrievers for result in r.results]
        outer.finding, outer.account = Finding(results, "result", ""), "search"
        for output in outer.outputs:
            output.account = "wrapped"
        for record in retrievers:
            record.account, record.rule = "wrapped", "inside a search that is counted"
            for output in record.outputs:
                output.account = "result"


def _settle_pair(outer: CallRecord, within: list[CallRecord]) -> list[CallRecord]:
    """The searches that count among an outer record and the searches inside it."""
    queries = {(r.query or "").casefold() for r in within}
    is_one = len(within) == 1 or len(queries) == 1  # one question, to one retriever or to several
    with_results = [r for r in within if r.has_results]
    if not outer.is_search:
        inner_count = True
    elif with_results:
        inner_count = not is_one or len(within) == 1 or not outer.has_results
    else:
        inner_count = not is_one or _RANK[within[0].account] < _RANK[outer.account]
    if not inner_count:
        for record in within:
            record.set_aside("wrapped", "inside a search that is counted")
        return [outer]
    outer_was_search = outer.is_search
    outer.set_aside("wrapped", "around a search that is counted")
    if not outer_was_search:
        return within
    if is_one and len(within) > 1:  # what several retrievers returned to one question
        first = (with_results or within)[0]
        results = [result for r in with_results for result in r.results]
        first.finding = Finding(results, "result", "") if results else first.finding
        for record in within:
            if record is not first:  # its results count, itself it does not
                record.account, record.rule = "wrapped", "part of a search that is counted"
        within = [first]
    if len(within) == 1:
        within[0].take_from(outer)
    return within


_RANK = {"search": 0, "empty": 1, "failed": 2, "unread": 3}


def _settle_retries(records: list[CallRecord]) -> None:
    """A call repeated after it failed, with no generation between, is one search: its last try."""
    failed: dict[tuple[tuple[int, int], str], CallRecord] = {}
    for record in records:
        if not record.is_search:
            continue
        earlier = failed.pop((record.place, record.key), None)
        if earlier is not None:
            record.tries += earlier.tries
            if earlier.seconds is not None:
                record.seconds = round(earlier.seconds + (record.seconds or 0), 9)
            earlier.set_aside("duplicate", "failed and was tried again")
        if record.account == "failed":
            failed[record.place, record.key] = record
