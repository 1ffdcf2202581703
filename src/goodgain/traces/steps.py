"""The steps of a turn that is recorded in spans.

A call belongs to the generation that made it: by its id, else by the time at which it began, among the
generations of the same level (a model inside a tool makes no calls of the agent outside). A retriever inside
a tool shares the step of the tool. Where there are no generations, each outer call is a step of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.traces.envelopes import unwrap_arguments, unwrap_output
from goodgain.traces.values import seconds_between

if TYPE_CHECKING:
    from goodgain.traces.builder import Builder
    from goodgain.traces.calls import CallRecord
    from goodgain.traces.messages import ToolCall
    from goodgain.traces.spans import Span


def sort_key(moment: Any) -> tuple[int, str]:
    """Times as they sort: nanoseconds by length and digits, ISO texts as they are."""
    text = "" if moment is None else str(moment)
    return (len(text), text) if text.isdigit() else (0, text)


@dataclass(slots=True, eq=False)
class _Step:
    """A generation, if there is one, and the calls that it made."""

    model: Span | None
    calls: list[Span] = field(default_factory=list)
    messages: list[ToolCall] = field(
        default_factory=list
    )  # calls that only the model's message has


def add_steps(spans: list[Span], builder: Builder) -> None:
    """Add the generations, calls, answer and usage of a turn; its spans are sorted by time."""
    turn = _Turn(spans)
    for step in turn.steps():
        turn.add_step(step, builder)
    turn.add_message_outputs(builder)
    turn.add_answer(builder)
    turn.add_rest_of_usage(builder)


class _Turn:
    """The spans of a turn, and how they lie inside one another."""

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self.by_id = {s.id: s for s in spans if s.id}
        self.parents = {s.parent for s in spans if s.parent}
        self.chains: dict[int, list[Span]] = {}
        self.calls = [s for s in spans if self._is_call(s)]
        self.records: dict[int, CallRecord] = {}  # by call span
        call_ids = {id(s) for s in self.calls}
        self.outer = {id(s): self._around(s, call_ids) for s in spans}
        models = [s for s in spans if s.kind == "model"]
        self.around_models = self._models_around(models)
        self.models = [m for m in models if id(m) not in self.around_models]
        own_cost = any(m.usage.cost is not None for m in self.models)
        self.has_cost = own_cost or any(s.usage.cost for s in spans)  # then no price is needed

    def _is_call(self, span: Span) -> bool:
        return span.is_call or (span.kind == "span" and span.id not in self.parents)

    def _ancestors(self, span: Span) -> list[Span]:
        """The spans around a span, the nearest first."""
        chain = self.chains.get(id(span))
        if chain is None:
            seen, chain = {id(span)}, []
            parent = self.by_id.get(span.parent or "")
            while parent is not None and id(parent) not in seen:
                seen.add(id(parent))
                chain.append(parent)
                parent = self.by_id.get(parent.parent or "")
            self.chains[id(span)] = chain
        return chain

    def _around(self, span: Span, call_ids: set[int]) -> Span | None:
        """The nearest call around a span."""
        return next((s for s in self._ancestors(span) if id(s) in call_ids), None)

    def _models_around(self, models: list[Span]) -> dict[int, Span]:
        """Model spans around others, as two instrumentations record one generation: the inner one.

        The inner span is completed with what only the outer one knows.
        """
        around: dict[int, Span] = {}
        for model in models:
            for outer in self._ancestors(model):
                if outer.kind == "model" and self.outer[id(outer)] is self.outer[id(model)]:
                    around[id(outer)] = model
                    model.inputs = model.inputs or outer.inputs
                    model.outputs = model.outputs or outer.outputs
                    model.model = model.model or outer.model
                    if not model.usage:
                        model.usage, outer.usage = outer.usage, model.usage
        return around

    # --- steps ---

    def steps(self) -> list[_Step]:
        """The steps in order of time, with their calls."""
        steps: dict[int, _Step] = {id(m): _Step(m) for m in self.models}
        step_by_call = {
            call.id: steps[id(m)]
            for m in self.models
            for message in m.outputs
            for call in message.calls
            if call.id
        }
        step_of: dict[int, _Step] = {}
        ordered: list[tuple[Any, _Step]] = [(_order(m), steps[id(m)]) for m in self.models]
        levels = self._levels()
        for number, span in enumerate(self.calls):
            outer = self.outer[id(span)]
            step = step_by_call.get(span.call or "") or self._by_time(span, levels, steps)
            if step is None and outer is not None:
                step = step_of.get(id(outer))
            if step is None and number and _is_retry(self.calls[number - 1], span):
                step = step_of[id(self.calls[number - 1])]
            if step is None and number:
                step = _running_step(step_of[id(self.calls[number - 1])], span)
            if step is None:
                step = _Step(None)
                ordered.append((_order(span), step))
            step_of[id(span)] = step
            step.calls.append(span)
        result = [step for _, step in sorted(ordered, key=lambda pair: pair[0])]
        self._add_message_calls(result)
        return result

    def _levels(self) -> dict[int, tuple[list[Any], list[Span]]]:
        """The models of each level, by the end of their spans."""
        levels: dict[int, list[Span]] = {}
        for model in self.models:
            levels.setdefault(id(self.outer[id(model)]), []).append(model)
        result = {}
        for level, models in levels.items():
            models.sort(key=lambda m: sort_key(m.end or m.start))
            result[level] = ([sort_key(m.end or m.start) for m in models], models)
        return result

    def _by_time(
        self, span: Span, levels: dict[int, tuple[list[Any], list[Span]]], steps: dict[int, _Step]
    ) -> _Step | None:
        """The step of the generation of the same level that ended last before a call began."""
        ends, models = levels.get(id(self.outer[id(span)]), ([], []))
        number = bisect_right(ends, sort_key(span.start))
        return steps[id(models[number - 1])] if number else None

    def _add_message_calls(self, steps: list[_Step]) -> None:
        """Calls that stand in a model's message and have no span of their own."""
        known = {s.call for s in self.calls if s.call}
        for step in steps:
            messages = step.model.outputs if step.model is not None else []
            calls = [c for m in messages for c in m.calls if c.id not in known]
            free = self._unnamed_calls(step)
            for call in calls:
                same = next((s for s in free if _same_name(s.name, call.name)), None)
                if same is not None:
                    free.remove(same)
                    same.call = call.id
                else:
                    step.messages.append(call)
                known.add(call.id or "")

    def _unnamed_calls(self, step: _Step) -> list[Span]:
        """Calls of a step, at the level of its model, that do not say which call they answer."""
        level = self.outer[id(step.model)] if step.model is not None else None
        return [s for s in step.calls if not s.call and self.outer[id(s)] is level]

    # --- to the builder ---

    def add_step(self, step: _Step, builder: Builder) -> None:
        """Report a generation, its usage and its calls."""
        model = step.model
        spent: dict[str, Any] = {}
        outer = self.records.get(id(self.outer[id(model)])) if model is not None else None
        if model is not None:
            spent = builder.context.spent(model.usage, None if self.has_cost else model.model)
            if outer is not None and not step.calls and not step.messages:
                outer.tokens = _sum(outer.tokens, spent["tokens"])  # a model that a tool uses
                outer.cost = _sum(outer.cost, spent["cost"])
                return
            spent["seconds"] = seconds_between(model.start, model.end)
        builder.start_iteration(**spent)
        records = [
            builder.add_call(
                call.id, call.name, call.arguments, where=_place(step.model), parent=outer
            )
            for call in step.messages
        ]
        free = self._unnamed_calls(step)
        for span in step.calls:
            parent = self.records.get(id(self.outer[id(span)]))
            if span in free and records:  # a retriever that runs the call of a message
                parent = records[min(free.index(span), len(records) - 1)]
            self.records[id(span)] = _add_call(span, parent, builder)

    def add_message_outputs(self, builder: Builder) -> None:
        """Outputs that stand in the input of a later generation, for calls without an output."""
        for model in self.models:
            for message in model.inputs:
                for output in message.outputs:
                    if builder.lacks_output(output.call):
                        builder.add_output(
                            output.call, output.value, where=model.where, error=output.error
                        )

    def add_answer(self, builder: Builder) -> None:
        """The text of the last generation of the agent itself, if it made no call."""
        models = [m for m in self.models if self.outer[id(m)] is None]
        if models:
            messages = models[-1].outputs
            builder.drop_answer()
            if not any(m.calls for m in messages):
                for message in messages:
                    if message.role == "assistant":
                        builder.add_answer(message.text, message.citations)

    def add_rest_of_usage(self, builder: Builder) -> None:
        """What only spans around the models know: the outermost ones, and the models' own first."""
        names = [n for n in ("tokens", "cost") if not any(getattr(m.usage, n) for m in self.models)]
        for name in names:
            spans = [s for s in self.spans if getattr(s.usage, name) and s not in self.models]
            known = {id(s) for s in spans}
            for span in spans:
                if not any(id(a) in known for a in self._ancestors(span)):
                    builder.add_usage(**{name: getattr(span.usage, name)})


def _running_step(step: _Step, span: Span) -> _Step | None:
    """The step before, if one of its calls still ran when this one began: nobody had seen its results."""
    if step.model is not None:
        return None
    start = sort_key(span.start)
    is_running = any(s.end is not None and sort_key(s.end) > start for s in step.calls)
    return step if is_running else None


def _order(span: Span) -> Any:
    return (span.order, sort_key(span.start))


def _sum(first: float | None, second: float | None) -> float | None:
    return second if first is None else first + (second or 0)


def _place(model: Span | None) -> str:
    return model.where if model is not None else ""


def _is_retry(earlier: Span, span: Span) -> bool:
    return bool(earlier.error) and (earlier.name, earlier.query) == (span.name, span.query)


def _same_name(first: Any, second: Any) -> bool:
    return bool(first) and bool(second) and str(first).casefold() == str(second).casefold()


def _add_call(span: Span, parent: CallRecord | None, builder: Builder) -> CallRecord:
    record = builder.add_call(
        span.call,
        span.name,
        unwrap_arguments(span.query),
        where=span.where,
        kind="retriever" if span.kind == "retriever" else span.said,
        description=span.description,
        seconds=seconds_between(span.start, span.end),
        parent=parent,
    )
    if span.finding is not None:
        builder.add_output(record, None, where=span.where, finding=span.finding)
    elif span.output is not None or span.error:
        output, error = unwrap_output(span.output)
        builder.add_output(record, output, where=span.where, error=span.error or error)
    return record
