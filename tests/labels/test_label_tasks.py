"""Tasks of the command line: nuggets, assignment, preferences, examples."""

import json
from pathlib import Path
from typing import Any

import pytest
from server import Server

from goodgain.cli import run
from goodgain.judging.items import store_pairs
from goodgain.judging.scales import grades
from goodgain.labels import Store, Vote, draw_sample, label
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
    assert (
        server.bodies[0]["max_completion_tokens"] == 1000
    )  # a list of 30 facts needs more than 300


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


def votes(path: str, gains: dict[str, int]) -> None:
    with Store(path) as store:
        store.add_votes(
            Vote(annotator="ann", query=query, doc=f"d{gain}", gain=gain, low=0, high=4)
            for query, gain in gains.items()
        )


def test_examples_come_from_the_votes_of_a_store_or_of_a_sample(
    server: Server, folder: Path, capsys: Any
) -> None:
    """Labels of a model are never shown as if people had given them."""
    shown = ["label", "pairs.jsonl", *common(server), "--shots", "2", "--examples", "s.db"]
    assert run(["label", "pairs.jsonl", *common(server)]) == 0
    assert run(shown) == 2
    assert "human labels are needed, but these are from the model 'm'" in capsys.readouterr().err
    votes("s.db", {f"q{i}": i % 3 for i in range(6)})
    server.bodies.clear()
    assert run(shown) == 0
    assert server.bodies[0]["messages"][-1]["content"].count("Gain: ") == 2
    with Store("s.db") as store:
        plain = next(own for _, own in store.settings() if "examples" not in own.parameters)
        sample = draw_sample(store, 4, name="first", unit="queries", prompt=plain.prompt, seed=3)
    drawn = {query for query, _ in sample.pairs()}
    server.bodies.clear()
    assert run([*shown, "--sample", "first", "--seed", "8"]) == 0
    with Store("s.db", read_only=True) as store:
        last = store.settings()[-1][1]
        assert {query for query, _ in last.parameters["examples"]} <= drawn
    assert run([*shown, "--sample", "other"]) == 2
    assert "unknown sample 'other'" in capsys.readouterr().err


def test_comparisons_that_failed_are_status_3_and_said(
    server: Server, folder: Path, capsys: Any
) -> None:
    server.reply = '{"gain": 1, "reason": "same"}'
    rows = [*ROWS[:2], {**ROWS[2], "text": "FAULT=refusal"}, *ROWS[3:6]]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    args = ["label", "pairs.jsonl", "--task", "preferences", "--store", "s.db", "--model", "m"]
    args += ["--base-url", server.openai_url, "--format", "csv"]
    assert run(args) == 3
    out, err = capsys.readouterr()
    assert "4 labels failed and have no gain (4 refused)" in err
    assert len(out.splitlines()) == 1 + 5  # without the document of which nothing is known
    rows = [{**row, "text": f"FAULT=refusal {row['doc_id']}"} for row in ROWS[:3]]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(args) == 3
    out, err = capsys.readouterr()
    assert "all 6 labels failed" in err and out == ""


@pytest.mark.parametrize("task", ["nuggets", "assignment", "preferences"])
def test_a_task_that_reaches_the_budget_is_status_1(
    server: Server, folder: Path, capsys: Any, task: str
) -> None:
    source = "pairs.jsonl"
    if task == "assignment":
        source = "agent.jsonl"
        Path("nuggets.jsonl").write_text('{"query": "q0", "text": "GAIN=2 a", "vital": true}\n')
        Path(source).write_text('{"query_id": "q0", "question": "what?", "answer": "this"}\n')
        run(["labels", "nuggets", "s.db", "nuggets.jsonl", "--annotator", "ann"])
    args = ["label", source, "--task", task, "--store", "s.db", "--model", "m"]
    args += ["--base-url", server.openai_url, "--price", "1000/1000", "--budget", "0.01"]
    assert run(args) == 1
    assert "stopped at the budget of 0.01" in capsys.readouterr().err
    assert server.bodies == []


def test_the_seed_decides_which_documents_are_compared(server: Server, folder: Path) -> None:
    server.reply = '{"gain": 1, "reason": "same"}'
    rows = [{**ROWS[0], "doc_id": f"d{i}", "text": f"number {i}"} for i in range(9)]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    args = ["label", "pairs.jsonl", "--task", "preferences", *common(server), "--per-document", "2"]
    assert run(args) == run(args) == 0
    first = len(server.bodies)
    assert first == 18  # a cycle through nine documents, in both orders
    assert run([*args, "--seed", "1"]) == 0
    assert len(server.bodies) > first


def test_grades_are_judgments_and_may_be_anchored(
    server: Server, folder: Path, capsys: Any
) -> None:
    server.reply = '{"gain": 1, "reason": "same"}'
    run(["label", "pairs.jsonl", "--task", "preferences", *common(server)])
    capsys.readouterr()
    grades = ["labels", "grades", "s.db", "--model", "m", "-q"]
    assert run([*grades, "--to", "qrels", "-o", "grades.txt"]) == 0
    assert Path("grades.txt").read_text().splitlines()[0] == "q0 0 d1 2"
    Path("run.txt").write_text("q0 Q0 d0 1 3.0 r\nq0 Q0 d1 2 2.0 r\n")
    assert run(["evaluate", "grades.txt", "run.txt", "-m", "CG@2", "--format", "csv"]) == 0
    assert "run,CG@2,0.666" in capsys.readouterr().out  # two of 2, in one of six queries
    Path("anchors.txt").write_text("q0 0 d0 4\nq0 0 d1 1\n")
    assert run([*grades, "--human", "anchors.txt", "--format", "csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split(",")[5] == "grade" and rows[-1].split(",")[5] == ""  # no anchors in q5
    assert run([*grades, "--to", "quepid"]) == 2
    assert "grades are not written as quepid" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--save", "x.json"], ["--source", "ann"], ["--per-document", "3"], ["--threshold", "3"],
        ["--shots", "2"], ["--sample", "first"], ["--no-wait"],
        ["--task", "nuggets", "--text-limit", "5"], ["--task", "nuggets", "--batch", "5"],
        ["--task", "assignment", "--threshold", "3"], ["--task", "preferences", "--save", "x.json"],
    ],
)  # fmt: skip
def test_options_are_never_ignored(
    server: Server, folder: Path, capsys: Any, options: list[str]
) -> None:
    assert run(["label", "pairs.jsonl", *common(server), *options]) == 2
    refused = [option for option in options if option.startswith("--") and option != "--task"]
    assert refused[0] in capsys.readouterr().err
    assert server.bodies == []


def test_long_documents_are_cut_and_counted(server: Server, folder: Path, capsys: Any) -> None:
    rows = [*ROWS[:2], {**ROWS[2], "text": "GAIN=1 " + "long " * 6000}]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    args = ["label", "pairs.jsonl", "--store", "s.db", "--model", "m", "--base-url"]
    server.reply = '{"gain": 1, "reason": "same"}'
    assert run([*args, server.openai_url, "--task", "preferences"]) == 0
    assert "1 document was cut at 24,000 characters" in capsys.readouterr().err
    server.reply = json.dumps({"nuggets": ["a fact"], "gain": 1, "reason": ""})
    assert run([*args, server.openai_url, "--task", "nuggets"]) == 0
    assert "1 document was cut at 24,000 characters" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", [["--dry-run"], ["--canaries", "2"], ["--prompt", "gain-0-4"], ["--batch-api"]]
)
def test_options_that_a_task_does_not_have_are_refused(
    server: Server, folder: Path, capsys: Any, option: list[str]
) -> None:
    assert run(["label", "pairs.jsonl", "--task", "preferences", *common(server), *option]) == 2
    assert option[0] in capsys.readouterr().err
    assert server.bodies == []  # nothing was paid for


def test_labels_of_tasks_are_never_gains_of_documents(
    server: Server, folder: Path, capsys: Any
) -> None:
    """Neither as judgments, nor as what people should judge, nor as the scale of their page."""
    server.reply = '{"gain": 1, "reason": "same"}'
    assert run(["label", "pairs.jsonl", "--task", "preferences", *common(server)]) == 0
    Path("run.txt").write_text("q0 Q0 d0 1 3.0 r\n")
    capsys.readouterr()
    assert run(["evaluate", "s.db", "run.txt"]) == 2
    assert "no gains of documents, only labels of: preference" in capsys.readouterr().err
    assert run(["labels", "show", "s.db", "--prompt", "preference", "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 37
    assert run(["labels", "sample", "s.db", "--count", "1", "--runs", "run.txt"]) == 0
    with Store("s.db") as store:
        assert store_pairs(store) == []
        assert [gain for gain, _ in grades(None, store)] == [0, 1, 2, 3, 4]
        label([("q0", "d0", "what 0?", "text")], lambda request: 2, store, name="mine")
        assert store_pairs(store) == [("q0", "d0")]


def test_a_store_of_many_settings_names_what_tells_them_apart(
    server: Server, folder: Path, capsys: Any
) -> None:
    for seed in range(3):
        run(["label", "pairs.jsonl", *common(server), "--model-seed", str(seed)])
    capsys.readouterr()
    for command in (
        ["calibrate", "human.txt", "s.db"],
        ["labels", "show", "s.db"],
        ["labels", "sample", "s.db", "--count", "5"],
        ["labels", "next", "s.db", "--runs", "run.txt", "-m", "CG@1"],
    ):
        Path("run.txt").write_text("q0 Q0 d0 1 3.0 r\n")
        assert run(command) == 2
        err = capsys.readouterr().err
        assert "3 settings" in err and ", seed=1;" in err and "max_tokens" not in err
        digest = err.split("settings: ")[1][:8]
        assert run([*command, "--setting", digest]) == 0
        capsys.readouterr()
    assert run(["labels", "next", "s.db", "--runs", "run.txt", "-m", "CG@1 P@1"]) == 2
    assert "depends on one measure, got CG@1, P@1" in capsys.readouterr().err


def test_the_first_of_two_headers_is_not_lost(server: Server, folder: Path, capsys: Any) -> None:
    headers = ["--header", "X-Team: a", "--header", "x-team: b"]
    assert run(["label", "pairs.jsonl", *common(server), *headers]) == 2
    assert "duplicate --header 'x-team'" in capsys.readouterr().err


def test_grades_without_preferences_say_where_they_come_from(
    server: Server, folder: Path, capsys: Any
) -> None:
    run(["label", "pairs.jsonl", *common(server)])
    capsys.readouterr()
    assert run(["labels", "grades", "s.db"]) == 2
    out = capsys.readouterr().err
    assert "no preferences of people (s.db)" in out and "--task preferences" in out
