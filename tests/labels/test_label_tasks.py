"""Tasks of the command line: nuggets, assignment, preferences, examples."""

import json
from pathlib import Path
from typing import Any

import pytest
from server import Server

from goodgain.cli import run
from goodgain.labels import Store
from goodgain.labels.nuggets import NuggetScores

ROWS = [
    {"query_id": f"q{i}", "doc_id": f"d{j}", "question": f"what {i}?", "text": f"GAIN={j} of {i}"}
    for i in range(6)
    for j in range(3)
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    Path("human.txt").write_text("".join(f"q{i} 0 d{i % 3} {i % 3}\n" for i in range(6)))
    return tmp_path


def common(server: Server) -> list[str]:
    return ["--store", "s.db", "--model", "m", "--base-url", server.openai_url, "-q"]


def test_nuggets_are_imported_shown_and_assigned(server: Server, folder: Path, capsys: Any) -> None:
    Path("nuggets.jsonl").write_text(
        '{"query": "q0", "text": "GAIN=2 a", "vital": true}\n'
        '{"query": "q0", "text": "GAIN=1 b", "vital": false}\n'
    )
    Path("agent.jsonl").write_text('{"query_id": "q0", "question": "what?", "answer": "this"}\n')
    assert run(["labels", "nuggets", "s.db", "nuggets.jsonl", "--annotator", "ann"]) == 0
    assert "2 new nuggets" in capsys.readouterr().out
    assert run(["labels", "nuggets", "s.db", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "q0,vital,GAIN=2 a"
    args = ["label", "agent.jsonl", "--task", "assignment", *common(server), "--save", "n.json"]
    assert run([*args, "--format", "csv"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("agent,1,1,0.75,0.5,1")
    assert NuggetScores.load("n.json").systems == ("agent",)
    Path("agent.jsonl").write_text('{"query_id": "q0", "question": "FAULT=400", "answer": "x"}\n')


def test_a_failed_assignment_is_status_3(server: Server, folder: Path, capsys: Any) -> None:
    Path("nuggets.jsonl").write_text('{"query": "q0", "text": "FAULT=notjson", "vital": true}\n')
    Path("agent.jsonl").write_text('{"query_id": "q0", "question": "what?", "answer": "this"}\n')
    run(["labels", "nuggets", "s.db", "nuggets.jsonl", "--annotator", "ann"])
    args = ["label", "agent.jsonl", "--task", "assignment", "--store", "s.db", "--model", "m"]
    assert run([*args, "--base-url", server.openai_url]) == 3
    assert "1 nugget of 1 answer without an assignment" in capsys.readouterr().err


def test_nuggets_are_made(server: Server, folder: Path, capsys: Any) -> None:
    server.reply = json.dumps({"nuggets": ["a fact"], "gain": 1, "reason": ""})
    assert (
        run(["label", "pairs.jsonl", "--task", "nuggets", *common(server), "--format", "csv"]) == 0
    )
    assert capsys.readouterr().out.splitlines()[1] == "q0,vital,a fact"


def test_preferences_become_grades(server: Server, folder: Path, capsys: Any) -> None:
    server.reply = '{"gain": 2, "reason": "the first"}'
    args = ["label", "pairs.jsonl", "--task", "preferences", "--store", "s.db", "--model", "m"]
    assert run([*args, "--base-url", server.openai_url]) == 0
    assert "position: being shown first multiplies the odds by" in capsys.readouterr().err
    assert len(server.bodies) == 6 * 3 * 2
    assert run(["labels", "grades", "s.db", "--model", "m", "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 19


def test_examples_are_shown_and_left_out(server: Server, folder: Path, capsys: Any) -> None:
    args = ["label", "pairs.jsonl", *common(server), "--examples", "human.txt", "--shots", "3"]
    assert run(args) == 0
    text = server.bodies[0]["messages"][-1]["content"]
    assert text.startswith("How people judged other documents:") and text.count("Gain: ") == 3
    with Store("s.db", read_only=True) as store:
        ((_, setting),) = store.settings()
        assert len(setting.parameters["examples"]) == 4
    assert run(["calibrate", "human.txt", "s.db"]) == 0
    assert "left out 4 pairs that the judge was shown as examples" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", [["--dry-run"], ["--canaries", "2"], ["--prompt", "gain-0-4"], ["--batch-api"]]
)
def test_options_that_a_task_does_not_have_are_refused(
    server: Server, folder: Path, capsys: Any, option: list[str]
) -> None:
    assert run(["label", "pairs.jsonl", "--task", "preferences", *common(server), *option]) == 2
    assert option[0] in capsys.readouterr().err
    assert server.bodies == []  # nothing was paid for
