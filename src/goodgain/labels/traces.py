"""Traces as pairs: each unique result is labelled once per question."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goodgain._core import content_names
from goodgain.data.trace import Trace
from goodgain.errors import InputError
from goodgain.identity import Identity
from goodgain.labels.pairs import Excerpt
from goodgain.labels.result import gains_of
from goodgain.traces import read_traces

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from goodgain.data.trace import Result


def trace_pairs(
    source: Any,
    identity: Any = None,
    format: str | None = None,  # noqa: A002 - the command line's word
) -> Iterator[Excerpt]:
    """A pair for each unique result of each conversation's last turn, which is the one scored.

    The query is the conversation; the document is an id or URL that no other result has in any of its
    traces, or else a name made of its text: `good_gain(..., labels=...)` looks up its gain by each.
    Traces are read twice, because two systems may use one id for different results.
    """
    rules = Identity.of(identity)
    if source == "-" or not isinstance(source, str | os.PathLike | list | tuple | Mapping | Trace):
        source, format = list(all_traces(source, format)), None  # noqa: A001
    shared = _shared_ids(all_traces(source, format))
    for trace in all_traces(source, format):
        question = question_of(trace)
        results = _results(trace)
        for name, group in _named(results, rules, shared.get(trace.conversation, frozenset())):
            texts = (_text(results[number]) for number in group)
            yield Excerpt(trace.conversation, name, question, max(texts, key=len))


def _shared_ids(traces: Iterable[Trace]) -> dict[str, set[str]]:
    """{conversation: bare ids that stand for different texts in its traces}."""
    texts: dict[tuple[str, str], str] = {}
    shared: dict[str, set[str]] = {}
    for trace in traces:
        results = [r for r in _results(trace) if r.id and not r.url and not r.ids]
        for result, text in zip(results, _content_names(results), strict=True):
            known = texts.setdefault((trace.conversation, str(result.id)), text)
            if known != text:
                shared.setdefault(trace.conversation, set()).add(str(result.id))
    return shared


def _content_names(results: list[Result]) -> list[str]:
    """The names of results by their texts; empty for those without a text."""
    listed = json.dumps([r.to_dict() for r in results], ensure_ascii=False)
    return content_names(listed.encode("utf-8", "surrogatepass"))


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
        originals = _results(trace)
        by_key: dict[str, float] = {}
        for label, own in gains.items():
            for key in rules.core.label_keys(label):
                by_key[key] = max(own, by_key.get(key, own))
        by_number = {
            number: gain
            for name, group in _named(originals, rules)
            if (gain := _gain(name, [originals[n] for n in group], gains, by_key, rules))
            is not None
            for number in group
        }
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


def _named(
    results: list[Result], rules: Identity, shared: Collection[str] = ()
) -> list[tuple[str, list[int]]]:
    """Each cluster of equal results, under a name that no other cluster has in any form.

    `shared` are ids that other traces use for other results.
    """
    groups = rules.cluster(results).groups() if results else []
    keys = rules.core.label_keys
    clusters = Counter(
        key
        for group in groups
        for key in {k for number in group for name in _names(results[number]) for k in keys(name)}
    )
    contents = _content_names(results)
    by_content = Counter(contents[group[0]] for group in groups)
    named = []
    for group in groups:
        first, content = results[group[0]], contents[group[0]]
        own = (
            n for n in _names(first) if n not in shared and all(clusters[k] == 1 for k in keys(n))
        )
        # Equal texts that are different results, by their ids, are numbered.
        number = "" if by_content[content] == 1 else f"#{group[0] + 1}"
        named.append((next(own, f"{content}{number}"), group))
    return named


def _gain(
    name: str,
    results: list[Result],
    gains: Mapping[str, float],
    by_key: Mapping[str, float],
    rules: Identity,
) -> float | None:
    """The gain of a cluster, found as `good_gain` finds it: exactly, otherwise the highest of any form."""
    names = [name, *_content_names(results), *(n for result in results for n in _names(result))]
    exact = next((gains[n] for n in names if n in gains), None)
    if exact is not None or not gains:
        return exact
    keys = (key for n in names for key in rules.core.label_keys(n))
    return max((by_key[key] for key in keys if key in by_key), default=None)


def _names(result: Result) -> Iterable[str]:
    """The names that a label may use for a result, in the order in which they are looked up."""
    return [name for name in (result.id, *result.ids.values(), result.url) if name]


def _text(result: Result) -> str:
    facts = [f"{name}: {value}" for name, value in result.fields.items() if value]
    return "\n".join(filter(None, [result.title, *facts, result.content or result.snippet]))


def question_of(trace: Trace) -> str:
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
