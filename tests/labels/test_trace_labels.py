"""Traces: each unique result is labelled once per question, and Good Gain uses its gain."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from server import Server

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.labels import Request, label, with_gains
from goodgain.labels.traces import trace_pairs

LONG = "A text that is long enough to be a key of its own, about "


def result(name: str, **more: Any) -> dict[str, Any]:
    return {"url": f"https://example.org/{name}", "snippet": f"{LONG}{name}.", **more}


def trace(
    *searches: list[dict[str, Any]], user: str | None = "what?", conversation: str = "c1"
) -> dict[str, Any]:
    iterations = [{"searches": [{"query": "words", "results": results}]} for results in searches]
    return {
        "conversation": conversation,
        "system": "a",
        "turns": [{"user": user, "iterations": iterations}],
    }


# "1" is the id of the first result of every list, so it names none of them
TRACE = trace(
    [result("a", id="1"), result("b", id="2")],
    [result("b", id="1"), result("c", id="2")],
    [result("a", id="1"), {"title": "", "id": "empty"}],
)


def test_each_unique_result_is_labelled_once_under_a_unique_name() -> None:
    unique = list(trace_pairs([TRACE]))
    assert [p.doc for p in unique] == [*(f"https://example.org/{n}" for n in "abc"), "empty"]
    assert {p.query for p in unique} == {"c1"}
    assert {p.question for p in unique} == {"what?"}
    assert unique[0].text == f"{LONG}a."


def test_labels_of_traces_are_the_gains_of_good_gain() -> None:
    requests: list[Request] = []

    def judge(request: Request) -> int:
        requests.append(request)
        return {"a": 4, "b": 1, "c": 3}[request.document[-2]]

    labels = label([TRACE], judge)
    assert len(requests) == 3
    assert labels.statuses == {"ok": 3, "no_text": 1}
    by_labels = gg.good_gain([TRACE], labels=labels.to_qrels())
    (written,) = with_gains([TRACE], labels.to_dict())
    gains = [r.gain for s in written.searches() for r in s.results]
    assert gains == [4, 1, 1, 3, 4, None]
    by_gains = gg.good_gain([written])
    for gained in (by_labels, by_gains):
        assert gained.figure("CG").value == 4 + 3  # below the threshold a gain earns nothing


def test_the_question_includes_earlier_messages() -> None:
    data = trace([result("a")], user="and in France?")
    data["turns"].insert(0, {"user": "who rules in Spain?", "iterations": []})
    (pair,) = trace_pairs([data])
    assert "who rules in Spain?" in pair.question
    assert pair.question.endswith("and in France?")
    (pair,) = trace_pairs([trace([result("a")], user=None)])
    assert pair.question == "words"
    with pytest.raises(GoodgainError, match="neither"):
        list(trace_pairs([{"conversation": "c", "turns": [{"iterations": []}]}]))


def test_the_command_takes_traces_and_writes_their_gains(server: Server, tmp_path: Path) -> None:
    path, out = tmp_path / "traces.jsonl", tmp_path / "labelled.jsonl"
    path.write_text("".join(json.dumps(dict(TRACE, conversation=c)) + "\n" for c in ("c1", "c2")))
    argv = [
        sys.executable, "-m", "goodgain", "label", str(path), "--model", "m", "--base-url", server.openai_url,
        "--store", str(tmp_path / "l.db"), "--labelled-traces", str(out), "-q",
    ]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sum(server.requests.values()) == 3  # both conversations have the same question
    gains = [r.gain for t in gg.read_traces(str(out)) for s in t.searches() for r in s.results]
    assert len(gains) == 12
    assert gains.count(None) == 2
