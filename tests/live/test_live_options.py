"""Options of a capture: rotation, sampling, redaction, lists of tools."""

from __future__ import annotations

import json
import logging

import pytest
from captured_traces import PAGES, only, queries, read

from goodgain.errors import UsageError
from goodgain.live import capture, search_tool
from goodgain.live.capturing import parse_rotation
from goodgain.traces.writer import Rotation


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.jsonl"


# --- rotation ---


@pytest.mark.parametrize(
    ("text", "rotation"),
    [
        ("100 MB", Rotation(size=100_000_000)),
        ("1.5KiB", Rotation(size=1536)),
        ("day", Rotation(age=86_400)),
        ("2 hours", Rotation(age=7200)),
        ("50 MB, 1 day", Rotation(size=50_000_000, age=86_400)),
        (4096, Rotation(size=4096)),
        (None, None),
    ],
)
def test_rotations(text, rotation):
    assert parse_rotation(text) == rotation


@pytest.mark.parametrize("text", ["", "soon", "10", "0 MB", -1, True, "5 parsecs"])
def test_invalid_rotations(text):
    with pytest.raises(UsageError, match="invalid rotation"):
        parse_rotation(text)


def test_rotation_by_age(path, monkeypatch):
    find = search_tool(lambda query: PAGES, name="find")
    with capture(path, rotate="1 hour") as live, live.conversation("c1"):
        find("a")
        find("b")
        later = __import__("time").time() + 3700
        monkeypatch.setattr("goodgain.traces.writer.time.time", lambda: later)
        find("c")
    rotated, current = sorted(path.parent.iterdir())
    assert current == path
    assert (queries(only(rotated)), queries(only(current))) == (["a", "b"], ["c"])
    assert queries(only(path.parent)) == ["a", "b", "c"]


def test_a_file_that_another_program_renames(path):
    find = search_tool(lambda query: PAGES, name="find")
    with capture(path, rotate="1 GB") as live, live.conversation("c1"):
        find("a")
        path.rename(path.with_name("old.jsonl"))
        find("b")
    assert queries(only(path.parent)) == ["a", "b"]


# --- sampling ---


def test_sampling_by_conversation(tmp_path):
    find = search_tool(lambda query: PAGES, name="find")
    chosen = []
    for part in ("a", "b"):  # two processes decide alike
        with capture(tmp_path / f"{part}.jsonl", sample=0.3) as live:
            for number in range(400):
                for turn in range(2):
                    with live.conversation(f"c{number}", user="u"):
                        find(f"{part}{turn}")
        traces = read(tmp_path / f"{part}.jsonl")
        assert all(queries(t) == [f"{part}0", f"{part}1"] for t in traces.values())
        chosen.append(set(traces))
    assert chosen[0] == chosen[1]
    assert 80 < len(chosen[0]) < 160


def test_samples_of_all_and_none(tmp_path):
    find = search_tool(lambda query: PAGES, name="find")
    for share, number in ((0, 0), (1, 5)):
        file = tmp_path / f"{share}.jsonl"
        with capture(file, sample=share) as live:
            for n in range(5):
                with live.conversation(f"c{n}"):
                    find("a")
        assert file.read_text().count('"span"') == number
    with pytest.raises(UsageError, match="sample must be a number from 0 to 1, got 2"):
        capture(tmp_path / "x.jsonl", sample=2)


# --- redaction ---

SECRETS = (
    "secret question",
    "secret query",
    "secret title",
    "secret text",
    "secret answer",
    "secret note",
)


def redacted(path, redact, fail=False):
    @search_tool
    def find(query):
        if fail:
            raise RuntimeError("secret note")
        return [
            {"url": "https://example.org/1", "title": "secret title", "content": "secret text"},
            {"content": "secret text", "metadata": {"note": "secret note"}},
        ]

    with capture(path, redact=redact) as live, live.conversation("c1", user="secret question") as t:
        for query in ("secret query", "secret query", "another secret query"):
            try:
                find(query)
            except RuntimeError as error:
                assert str(error) == "secret note"
        t.answer(
            "secret answer, see https://example.org/1 [2]",
            citations=[{"url": "https://example.org/9", "title": "secret title"}],
        )
    return live, only(path)


@pytest.mark.parametrize("fail", [False, True])
@pytest.mark.parametrize("redact", ["drop", "hash"])
def test_nothing_secret_is_written(path, redact, fail):
    live, trace = redacted(path, redact, fail)
    text = path.read_text()
    assert not [s for s in SECRETS if s in text]
    assert (live.errors, live.dropped) == (0, 0)
    searches = list(trace.searches())
    assert [s.tries or 1 for s in searches] == (
        [2, 1] if fail else [1, 1, 1]
    )  # a retry is known as one
    assert {bool(s.error) for s in searches} == {fail}
    (turn,) = trace.turns
    assert {c.url for c in turn.citations} == {
        "https://example.org/1",
        "https://example.org/9",
        None,
    }
    hashed = redact == "hash"
    assert (turn.user is not None, turn.answer is not None) == (hashed, hashed)
    names = [s.query for s in searches]
    assert len(set(names)) == 2 if hashed else set(names) == {None}
    assert not fail or hashed is False or names[0] != names[1]
    if not fail:
        first, second = searches[0].results
        assert first.url == "https://example.org/1"
        assert (first.title is not None) == hashed
        assert second.id == searches[2].results[1].id  # still the same document


def test_a_function_redacts(path):
    fields = []

    def redact(text, field):
        fields.append(field)
        return text.replace("secret", "***") if field != "answer" else None

    _, trace = redacted(path, redact)
    assert "secret" not in path.read_text()
    assert [s.query for s in trace.searches()] == ["*** query", "*** query", "another *** query"]
    assert trace.turns[0].user == "*** question" and trace.turns[0].answer is None
    assert set(fields) == {"user", "query", "url", "title", "content", "answer"}


@pytest.mark.parametrize("result", [RuntimeError("no"), 7])
def test_a_failing_function_drops_the_text(path, result, caplog):
    def redact(text, field):
        if isinstance(result, Exception):
            raise result
        return result

    with caplog.at_level(logging.WARNING, "goodgain"):
        live, trace = redacted(path, redact)
    assert not [s for s in SECRETS if s in path.read_text()]
    assert live.errors > 3 and live.dropped == 0
    assert caplog.text.count("capture:") == 1
    assert len(list(trace.searches())) == 3


def test_an_invalid_redaction_is_an_error(path):
    with pytest.raises(UsageError, match="invalid redact='shred'"):
        capture(path, redact="shred")


# --- lists of tools ---


def test_listed_tools(tmp_path):
    def spans(path):
        return [json.loads(line)["span"] for line in path.read_text().splitlines()]

    find = search_tool(lambda query: PAGES, name="hunt")
    other = search_tool(lambda query: PAGES, name="web_search")
    for number, (options, expected) in enumerate(
        (
            ({"not_search_tools": ["web_*"]}, ["a"]),
            ({"search_tools": ["hunt"]}, ["a"]),
            ({}, ["a", "b"]),
        )
    ):
        path = tmp_path / f"{number}.jsonl"
        with capture(path, **options) as live, live.conversation("c1"):
            find("a")
            other("b")
        assert queries(only(path)) == expected
        if len(expected) == 1:
            assert "query" not in spans(path)[1] and "returned" not in spans(path)[1]
