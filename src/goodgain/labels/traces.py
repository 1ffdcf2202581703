"""Traces as pairs: each unique result is labelled once per question."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goodgain.data.trace import Trace
from goodgain.errors import InputError
from goodgain.identity import Identity
from goodgain.labels.pairs import Pair
from goodgain.labels.result import gains_of
from goodgain.traces import read_traces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from goodgain.data.trace import Result


def trace_pairs(
    source: Any,
    identity: Any = None,
    format: str | None = None,  # noqa: A002 - the command line's word
) -> Iterator[Pair]:
    """A pair for each unique result of each conversation's last turn, which is the one scored.

    The query is the conversation; the document is an id or URL that no other result has, by which
    `good_gain(..., labels=...)` looks up its gain.
    """
    rules = Identity.of(identity)
    for trace in all_traces(source, format):
        question = _question(trace)
        results = _results(trace)
        for name, group in _named(results, rules):
            texts = (_text(results[number]) for number in group)
            yield Pair(trace.conversation, name, question, max(texts, key=len))


def with_gains(
    source: Any,
    labels: Any,
    identity: Any = None,
    format: str | None = None,  # noqa: A002
) -> Iterator[Trace]:
    """The traces with the gain of each labelled result written into them, duplicates included.

    `labels` are `Labels`, a `Store`, its path, or judgments in any form.
    """
    rules = Identity.of(identity)
    gains_by_conversation = gains_of(labels)
    for trace in all_traces(source, format):
        gains = gains_by_conversation.get(trace.conversation, {})
        named = _named(_results(trace), rules)
        by_number = {n: gains[name] for name, group in named for n in group if name in gains}
        data = trace.to_dict()
        results = (
            result
            for turn in data["turns"][-1:]
            for iteration in turn["iterations"]
            for search in iteration["searches"]
            for result in search["results"]
        )
        for number, result in enumerate(results):
            if number in by_number:
                result["gain"] = by_number[number]
        yield Trace.from_dict(data)


def all_traces(source: Any, format: str | None = None) -> Iterator[Trace]:  # noqa: A002
    """The traces of any source: a path or several, a trace or several, or {system: any of these}."""
    if isinstance(source, Mapping) and not is_trace(source):
        for traces in source.values():
            yield from all_traces(traces, format)
    elif isinstance(source, list | tuple) and any(isinstance(s, str | os.PathLike) for s in source):
        for path in source:
            yield from all_traces(path, format)
    else:
        yield from read_traces([source] if is_trace(source) else source, format=format)


def is_trace(item: Any) -> bool:
    """Whether this is a trace, as an object or as a dictionary."""
    return isinstance(item, Trace) or (isinstance(item, Mapping) and "turns" in item)


def _results(trace: Trace) -> list[Result]:
    turns = trace.turns[-1:]
    return [
        result
        for turn in turns
        for iteration in turn.iterations
        for search in iteration.searches
        for result in search.results
    ]


def _named(results: list[Result], rules: Identity) -> list[tuple[str, list[int]]]:
    """Each cluster of equal results, under a name that no other cluster has."""
    groups = rules.cluster(results).groups() if results else []
    clusters = Counter(
        name
        for group in groups
        for name in {name for number in group for name in _names(results[number])}
    )
    return [
        (
            next((n for n in _names(results[group[0]]) if clusters[n] == 1), f"#{group[0] + 1}"),
            group,
        )
        for group in groups
    ]


def _names(result: Result) -> Iterable[str]:
    """The names that a label may use for a result, in the order in which they are looked up."""
    return [name for name in (result.id, *result.ids.values(), result.url) if name]


def _text(result: Result) -> str:
    facts = [f"{name}: {value}" for name, value in result.fields.items() if value]
    return "\n".join(filter(None, [result.title, *facts, result.content or result.snippet]))


def _question(trace: Trace) -> str:
    """The user's last message, preceded by earlier ones that it may refer to."""
    turns = trace.turns
    last = turns[-1].user if turns else None
    if not last:
        queries = [s.query for t in turns[-1:] for i in t.iterations for s in i.searches if s.query]
        if not queries:
            raise InputError(
                f"conversation '{trace.conversation}' has neither a user message nor a query",
                hint="labelling needs a question",
            )
        last = queries[0]
    earlier = [turn.user for turn in turns[:-1] if turn.user]
    if not earlier:
        return last
    return (
        "Earlier in the conversation:\n" + "".join(f"- {e}\n" for e in earlier) + f"\nNow:\n{last}"
    )
