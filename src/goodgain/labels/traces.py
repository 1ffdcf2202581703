"""Traces as pairs: identity first, so that each unique result is labelled once per question."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from goodgain.data.trace import Trace
from goodgain.errors import InputError
from goodgain.identity import Identity
from goodgain.labels.pairs import Pair
from goodgain.traces import read_traces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from goodgain.data.trace import Result


def trace_pairs(
    source: Any,
    identity: Any = None,
    format: str | None = None,  # noqa: A002 - the command line's word
) -> Iterator[Pair]:
    """A pair for each unique result of each conversation's last turn, the one that is scored.

    The query is the conversation; the document is named by an id or URL that only this result has,
    which is how `good_gain(..., labels=...)` finds its gain.
    """
    rules = Identity.of(identity)
    for trace in read_traces(source, format=format):
        question = _question(trace)
        results = _results(trace)
        for name, group in _named(results, rules):
            texts = (_text(results[number]) for number in group)
            yield Pair(trace.conversation, name, question, max(texts, key=len))


def with_gains(
    source: Any,
    gains: Mapping[str, Mapping[str, float]],
    identity: Any = None,
    format: str | None = None,  # noqa: A002
) -> Iterator[Trace]:
    """The traces with the gain of each labelled result written into them, duplicates included."""
    rules = Identity.of(identity)
    for trace in read_traces(source, format=format):
        known = gains.get(trace.conversation, {})
        named = _named(_results(trace), rules)
        of_number = {n: known[name] for name, group in named for n in group if name in known}
        data = trace.to_dict()
        found = (
            result
            for turn in data["turns"][-1:]
            for iteration in turn["iterations"]
            for search in iteration["searches"]
            for result in search["results"]
        )
        for number, result in enumerate(found):
            if number in of_number:
                result["gain"] = of_number[number]
        yield Trace.from_dict(data)


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
    """Each cluster of equal results, by a name that no other cluster has."""
    groups = rules.cluster(results).groups() if results else []
    carried = Counter(
        name
        for group in groups
        for name in {name for number in group for name in _names(results[number])}
    )
    return [
        (next((n for n in _names(results[group[0]]) if carried[n] == 1), f"#{group[0] + 1}"), group)
        for group in groups
    ]


def _names(result: Result) -> Iterable[str]:
    """What a label may call a result, in the order in which labels are looked up."""
    return [name for name in (result.id, *result.ids.values(), result.url) if name]


def _text(result: Result) -> str:
    facts = [f"{name}: {value}" for name, value in result.fields.items() if value]
    parts = [result.title, *facts, result.content or result.snippet]
    return "\n".join(part for part in parts if part)


def _question(trace: Trace) -> str:
    """The user's last message, after the earlier ones it may refer to."""
    turns = trace.turns
    last = turns[-1].user if turns else None
    if not last:
        queries = [s.query for t in turns[-1:] for i in t.iterations for s in i.searches if s.query]
        if not queries:
            raise InputError(
                f"conversation '{trace.conversation}' has neither a user's message nor a query",
                hint="without a question nothing can be labelled",
            )
        last = queries[0]
    earlier = [turn.user for turn in turns[:-1] if turn.user]
    if not earlier:
        return last
    return (
        "Earlier in the conversation:\n" + "".join(f"- {e}\n" for e in earlier) + f"\nNow:\n{last}"
    )
