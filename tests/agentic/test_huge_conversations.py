"""A conversation above 4 MB is not held parsed: its results are read in pieces. The numbers are the same."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import goodgain as gg
from goodgain._core import CoreError
from goodgain.agentic.settings import GainSettings

BIG = 45_000  # results; more than 4 MB


def conversation(seed):
    """Duplicates, labels, aspects, opens, citations by id and marker, and an earlier turn."""
    rng = random.Random(seed)

    def result(number):
        item = {"id": f"r{number}", "title": f'Title "{number}", [part] {{{number % 7}}} \\ of é'}
        if number % 3 == 0:
            item = {
                "url": f"https://example.com/page/{number}?utm_source=x",
                "snippet": "text " * 12,
            }
        if number % 5 == 0:
            item["ids"] = {"doi": f"10.1/{number}"}
        if number % 4 == 0:
            item["gain"] = rng.randrange(5)
        if number % 1000 == 0:
            item["aspects"] = {"a": 2, f"b{number % 3}": 1}
        if number % 11 == 0:
            item["id"] = number
        return item

    def search(count):
        return {"query": f"q{count}", "results": [result(rng.randrange(BIG)) for _ in range(count)]}

    steps = [
        {"searches": [search(n), search(3)], "opens": [result(12), {"id": "r7"}]}
        for n in (5, BIG, 0)
    ]
    return {
        "conversation": "c",
        "metadata": {"results": [1, {"results": [2]}]},
        "turns": [
            {"user": "u", "iterations": [{"searches": [search(40)]}], "answer": "first"},
            {
                "user": "v",
                "iterations": steps,
                "answer": "as [r7], [r8] and (r10) say",
                "citations": [{"marker": "r7"}, {"id": "r10"}, {"marker": "nothing"}, result(15)],
            },
        ],
    }


def outcome(lines, **options):
    """Everything that the core says about some lines."""
    scores = gg.Identity(unit=options.pop("unit", "document")).core.score(
        [(line.encode(), f"{i}.jsonl") for i, line in enumerate(lines)],
        None,
        GainSettings(**options).for_core(skip_bad=False),
        2,
    )
    return [
        (
            *(np.array(s.matrix(which)).tobytes() for which in ("value", "lower", "upper")),
            s.counts, s.evidence, s.funnel.tolist(), s.totals, s.calls, s.read,
        )
        for s in scores
    ]  # fmt: skip


def whole(line):
    """The same conversation with the names of its lists escaped, so that it is parsed as a whole."""
    return line.replace('"results"', r'"res\u0075lts"')


@pytest.mark.parametrize(
    "options", [{}, {"turn": "all", "opens": "content"}, {"unit": "passage"}], ids=str
)
def test_the_same_numbers(options):
    line = json.dumps(conversation(1), ensure_ascii=False)
    assert len(line) > 4 << 20
    assert outcome([line], **options) == outcome([whole(line)], **options)


def test_the_pool_of_two_systems():
    lines = [json.dumps({**conversation(seed), "system": str(seed)}) for seed in (1, 2)]
    assert outcome(lines) == outcome(map(whole, lines))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (('{"a": 2', '{"a": "x"'), "turns[1].iterations[1].searches[0].results["),
        (('"gain": 3', '"gain": 33'), "must be between 0 and 4, got 33"),
        (('"id": "r7",', '"id": "r7",,'), "is not valid JSON"),
        (('"id": "r7",', '"id": "r7" "x",'), "is not valid JSON"),
        (('"results"', '"results": 0, "results"'), "must be a list, got a number"),
    ],
)
def test_the_same_errors(damage, says):
    line = json.dumps(conversation(1)).replace(*damage)
    with pytest.raises(CoreError) as cut:
        outcome([line])
    with pytest.raises(CoreError) as expected:
        outcome([whole(line)])
    assert cut.value.args == expected.value.args
    assert says in cut.value.args[1]
