"""Builds a conversation in the canonical form, and its ledger, from what a format's reader reports.

A reader reports turns, generations, calls, outputs and answers in order and decides nothing. What a call
is, and what its output holds, is decided here once the whole conversation is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.traces.batches import split_batch
from goodgain.traces.calls import CallRecord, Output, settle
from goodgain.traces.citations import text_citations
from goodgain.traces.opens import opened_documents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from goodgain.traces.context import Context
    from goodgain.traces.ledger import Account, Kind
    from goodgain.traces.results import Finding


@dataclass(slots=True)
class _Step:
    """One generation of the model: its usage and its calls."""

    usage: dict[str, float] = field(default_factory=dict)
    records: list[CallRecord] = field(default_factory=list)


@dataclass(slots=True)
class _Turn:
    user: str | None
    steps: list[_Step] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    is_unanswered: bool = False
    usage: dict[str, float] = field(default_factory=dict)


class Builder:
    """One conversation as it unfolds. An iteration is one generation of the model that searched."""

    def __init__(self, conversation: Any, system: Any, context: Context) -> None:
        self.conversation = str(conversation)
        self.system = None if system in (None, "") else str(system)
        self.context = context
        self._turns: list[_Turn] = []
        self._records: list[CallRecord] = []
        self._by_id: dict[str, CallRecord] = {}
        self._items: list[tuple[Kind, str, Account, str, int]] = []
        context.ledger.meet("conversation")

    # --- what readers report ---

    def start_turn(self, user: str | None) -> None:
        """Start a turn with a message of the user."""
        self._turns.append(_Turn(user or None))

    def start_iteration(
        self,
        *,
        tokens: float | None = None,
        cost: float | None = None,
        seconds: float | None = None,
    ) -> None:
        """The model generates again: the calls that follow belong together."""
        self._turn().steps.append(_Step(_usage(tokens, cost, seconds)))

    def update_iteration(
        self,
        *,
        tokens: float | None = None,
        cost: float | None = None,
        seconds: float | None = None,
    ) -> None:
        """The same generation again, as streams report it: its latest usage counts, once."""
        turn = self._turn()
        if not turn.steps:
            turn.steps.append(_Step())
        for name, value in _usage(tokens, cost, seconds).items():
            turn.steps[-1].usage[name] = max(value, turn.steps[-1].usage.get(name, 0))

    def add_call(
        self,
        call_id: Any,
        tool: Any,
        arguments: Any,
        *,
        where: str,
        kind: str | None = None,
        description: str | None = None,
        seconds: float | None = None,
        cost: float | None = None,
        tokens: float | None = None,
        parent: CallRecord | None = None,
    ) -> CallRecord:
        """Add a call to the current iteration; `kind` where the source itself says it is a search.

        `parent` is the call inside which this one ran. `add_output` takes the call's id, or the record
        that this returns.
        """
        turn = self._turn()
        if not turn.steps:
            turn.steps.append(_Step())
        record = CallRecord(
            tool=None if tool is None else str(tool),
            arguments=arguments,
            where=where,
            place=(len(self._turns) - 1, len(turn.steps) - 1),
            call_id=str(call_id) if isinstance(call_id, str | int) and call_id != "" else None,
            kind=kind,
            description=description,
            parent=parent,
            seconds=seconds,
            cost=cost,
            tokens=tokens,
        )
        turn.steps[-1].records.append(record)
        self._records.append(record)
        if record.call_id:
            self._by_id[record.call_id] = record
        self.context.ledger.meet("call")
        return record

    def add_output(
        self,
        call: CallRecord | str | int | None,
        value: Any,
        *,
        where: str,
        error: Any = None,
        seconds: float | None = None,
        results: list[dict[str, Any]] | None = None,
        finding: Finding | None = None,
    ) -> None:
        """Add what a call returned, or its error; `results` or a `finding` where the format holds them."""
        output = Output(
            value=value,
            where=where,
            error=None if error in (None, "", False) else str(error),
            seconds=seconds,
            results=results,
            finding=finding,
        )
        self.context.ledger.meet("output")
        record = call if isinstance(call, CallRecord) else self._by_id.get(str(call))
        if record is None:
            has_results = output.find().account == "result"
            rule = "no call has the id that it answers"
            self._items.append(("output", where, "unread" if has_results else "unusable", rule, 1))
            return
        record.outputs.append(output)
        if record.seconds is None:
            record.seconds = seconds

    def add_item(
        self, kind: Kind, where: str, account: Account = "read", rule: str = "", number: int = 1
    ) -> None:
        """Account for messages, spans or events whose content, if any, is reported apart."""
        self.context.ledger.meet(kind, number)
        self._items.append((kind, where, account, rule, number))

    def add_answer(self, text: str | None, citations: Iterable[dict[str, Any]] = ()) -> None:
        """Add a block of the final answer; blocks before the last generation are replaced.

        Without a text, which a capture may have left out, its citations still count.
        """
        cited = list(citations)
        if text and isinstance(text, str):
            self._turn().answer.append(text)
        elif not cited:
            return
        self._turn().citations.extend(cited)

    def end_without_answer(self) -> None:
        """The source says that the turn ended without an answer, rather than not recording one."""
        self._turn().is_unanswered = True

    def drop_answer(self) -> None:
        """What was said so far is not the answer: the model goes on."""
        if self._turns:
            self._turns[-1].answer = []
            self._turns[-1].citations = []

    def add_usage(
        self,
        *,
        tokens: float | None = None,
        cost: float | None = None,
        seconds: float | None = None,
    ) -> None:
        """Add what the source knows only of the whole turn."""
        _add(self._turn().usage, _usage(tokens, cost, seconds))

    @property
    def has_turns(self) -> bool:
        """Whether a turn has begun."""
        return bool(self._turns)

    @property
    def calls(self) -> list[CallRecord]:
        """The calls reported so far, in order."""
        return list(self._records)

    def lacks_output(self, call: str | None) -> bool:
        """Whether this is a call of which no output is known so far."""
        record = self._by_id.get(call or "")
        return record is not None and not record.outputs

    def _turn(self) -> _Turn:
        if not self._turns:
            self.start_turn(None)
        return self._turns[-1]

    # --- the conversation ---

    def build(self) -> dict[str, Any]:
        """The canonical form; the ledger is written as well."""
        settle(self._records, self.context.rules)
        names = {name for record in self._records for name in _ids(record)}
        turns = [_turn(turn, names) for turn in self._turns]
        self._write_ledger()
        head = {"conversation": self.conversation}
        if self.system:
            head["system"] = self.system
        return {**head, "turns": turns}

    def _write_ledger(self) -> None:
        ledger, name = self.context.ledger, self.conversation
        ledger.enter("conversation", "read", conversation=name)
        for kind, where, account, rule, number in self._items:
            ledger.enter(kind, account, rule, where=where, number=number, conversation=name)
        for record in self._records:
            rule = record.rule
            if record.account == "unread" and record.finding is not None:
                rule = record.finding.reason  # why it is not read, not why it is a search
            ledger.enter(
                "call",
                record.account,
                rule,
                where=record.where,
                tool=record.tool,
                conversation=name,
                call=record.call_id,
                tries=record.tries if record.tries > 1 else None,
                queries=record.queries if record.queries > 1 else None,
            )
            ledger.batched += record.queries - 1
            for output in record.outputs:
                self._write_output(record, output)

    def _write_output(self, record: CallRecord, output: Output) -> None:
        ledger, name = self.context.ledger, self.conversation
        finding = output.find()
        reason = record.rule
        if output.account in ("result", "empty", "unread"):
            reason = finding.reason
        elif output.account == "failed":
            reason = "the call ended in an error"
        where, tool = output.where, record.tool
        ledger.enter("output", output.account, reason, where=where, tool=tool, conversation=name)
        if output.account in ("result", "wrapped", "duplicate"):
            account: Account = "result" if output.account == "result" else "wrapped"
            number = len(finding.results)
            ledger.meet("result", number)
            ledger.enter("result", account, "", where=where, number=number, conversation=name)


def _usage(tokens: Any, cost: Any, seconds: Any) -> dict[str, float]:
    usage = {"tokens": tokens, "cost": cost, "seconds": seconds}
    return {k: v for k, v in usage.items() if v is not None}


def _add(usage: dict[str, float], more: dict[str, float]) -> None:
    for name, value in more.items():
        usage[name] = usage.get(name, 0) + value


def _ids(record: CallRecord) -> Iterator[str]:
    """The ids of what a call returned or opened: in brackets, an answer cites them."""
    results = record.finding.results if record.finding is not None else []
    if record.account == "open":
        results = [*results, *opened_documents(record)]
    for result in results:
        for name in (result.get("id"), *(result.get("ids") or {}).values()):
            if name is not None:
                yield str(name)


def _turn(turn: _Turn, names: Collection[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {"user": turn.user} if turn.user else {}
    iterations = [_iteration(step) for step in turn.steps]
    fields["iterations"] = [i for i in iterations if len(i) > 1 or i["searches"]]
    if turn.answer or turn.is_unanswered:
        fields["answer"] = "\n".join(turn.answer)
    if citations := _citations(turn, names):
        fields["citations"] = citations
    return {**fields, **turn.usage}


def _citations(turn: _Turn, names: Collection[str]) -> list[dict[str, Any]]:
    """The provider's own citations, and those in the text that they do not cover."""
    urls = {c.get("url") for c in turn.citations}
    markers = {c.get("marker") for c in turn.citations}
    others = [
        c
        for c in text_citations("\n".join(turn.answer), names)
        if (c["url"] not in urls if "url" in c else c["marker"] not in markers)
    ]
    return turn.citations + others


def _iteration(step: _Step) -> dict[str, Any]:
    searches = [s for record in step.records if record.is_search for s in _searches(record)]
    opens = [o for r in step.records if r.account == "open" for o in opened_documents(r)]
    usage = dict(step.usage)
    for record in step.records:
        if not record.is_search and record.account != "duplicate":
            _add(usage, _usage(record.tokens, record.cost, None))  # spent, though not by a search
    return {"searches": searches, **({"opens": opens} if opens else {}), **usage}


def _searches(record: CallRecord) -> list[dict[str, Any]]:
    """The search of a call; several if it ran a batch of queries."""
    finding = record.finding
    assert finding is not None
    fields = {
        "query": record.query,
        "tool": record.tool,
        "latency": record.seconds,
        "cost": record.cost,
        "tokens": record.tokens,
        "tries": record.tries if record.tries > 1 else None,
        "error": finding.reason or "error" if finding.account == "failed" else None,
        "unread": finding.reason or "unread" if finding.account == "unread" else None,
    }
    search = {k: v for k, v in fields.items() if v is not None}
    if batch := split_batch(record):
        record.queries = len(batch)
        shared = {k: v for k, v in search.items() if k not in ("latency", "cost", "tokens")}
        first, *others = [{"query": query, "results": results} for query, results in batch]
        return [{**search, **first}, *({**shared, **other} for other in others)]
    return [{**search, "results": finding.results}]
