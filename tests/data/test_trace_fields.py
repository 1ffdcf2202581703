"""The optional fields of the canonical form: accepted, validated, and unchanged by a round trip."""

import json

import pytest

from goodgain._core import check_trace
from goodgain.data.trace import Trace
from goodgain.errors import GoodgainError, core_errors

FULL = {
    "conversation": "c1",
    "system": "agent",
    "repeat": "2",
    "turns": [
        {
            "user": "who?",
            "answer": "Ada [1]",
            "confidence": 0.75,
            "tokens": 900,
            "cost": 0.25,
            "seconds": 12.5,
            "citations": [{"url": "https://x.org/ada", "marker": "1", "quote": "Ada wrote"}],
            "iterations": [
                {"tokens": 100, "cost": 0.01, "seconds": 1.5, "searches": []},
                {
                    "tokens": 200,
                    "opens": [{"url": "https://x.org/ada", "tool": "fetch"}],
                    "searches": [
                        {"query": "ada", "tries": 3, "results": [{"id": "a", "gain": 2}]},
                        {"query": "lovelace", "error": "timed out", "results": []},
                        {
                            "query": "byron",
                            "unread": "the provider kept the results",
                            "results": [],
                        },
                    ],
                },
            ],
        }
    ],
}


def check(trace):
    with core_errors():
        check_trace(json.dumps(trace).encode(), 4.0)


def with_fields(level, **fields):
    """FULL with fields of its last search, iteration or turn, or of the conversation, replaced."""
    trace = json.loads(json.dumps(FULL))
    turn = trace["turns"][0]
    iteration = turn["iterations"][1]
    places = {"search": iteration["searches"][0], "iteration": iteration, "turn": turn}
    {**places, "trace": trace}[level].update(fields)
    return trace


def test_every_field_is_accepted_and_survives_a_round_trip():
    check(FULL)
    trace = Trace.from_dict(FULL)
    assert trace.to_dict() == FULL
    assert Trace.from_dict(json.loads(trace.to_json())) == trace
    assert trace.turns[0].iterations[1].opens[0].tool == "fetch"
    assert trace.turns[0].citations[0].quote == "Ada wrote"


def test_numbers_as_repeat_and_marker_become_text():
    trace = with_fields("trace", repeat=2)
    trace["turns"][0]["citations"][0]["marker"] = 1
    check(trace)
    assert Trace.from_dict(trace) == Trace.from_dict(FULL)


def test_null_is_absent():
    check(with_fields("search", tries=None, unread=None, error=None, results=None))
    check(with_fields("iteration", tokens=None, cost=None, seconds=None, opens=None))
    check(with_fields("turn", citations=None, confidence=None, tokens=None, answer=None))
    check(with_fields("trace", repeat=None, system=None))


SEARCH = "turns[0].iterations[1].searches[0]"


@pytest.mark.parametrize(
    ("level", "fields", "message"),
    [
        ("search", {"tries": 0}, f"field '{SEARCH}.tries' must be a positive integer"),
        ("search", {"tries": 1.5}, f"field '{SEARCH}.tries' must be a positive integer"),
        ("search", {"tries": "2"}, f"field '{SEARCH}.tries' must be a number, got text"),
        ("search", {"unread": True}, f"field '{SEARCH}.unread' must be text, got true or false"),
        ("search", {"seconds": 1}, f"unknown field '{SEARCH}.seconds' in a trace"),
        ("iteration", {"tokens": -1}, "field 'turns[0].iterations[1].tokens' must not be negative"),
        ("iteration", {"latency": 1}, "unknown field 'turns[0].iterations[1].latency' in a trace"),
        ("iteration", {"opens": {}}, "field 'turns[0].iterations[1].opens' must be a list"),
        (
            "iteration",
            {"opens": [{"marker": "1"}]},
            "unknown field 'turns[0].iterations[1].opens[0].marker' in a trace",
        ),
        ("turn", {"confidence": 75}, "field 'turns[0].confidence' must be between 0 and 1"),
        ("turn", {"citations": ["a"]}, "field 'turns[0].citations[0]' must be an object, got text"),
        ("turn", {"citations": [{"tool": "t"}]}, "unknown field 'turns[0].citations[0].tool'"),
        ("turn", {"opens": []}, "field 'turns[0].opens' is outside an iteration"),
        ("trace", {"repeat": [1]}, "field 'repeat' must be text or a number, got a list"),
    ],
)
def test_wrong_values_name_their_field(level, fields, message):
    with pytest.raises(GoodgainError) as error:
        check(with_fields(level, **fields))
    assert message in str(error.value)
