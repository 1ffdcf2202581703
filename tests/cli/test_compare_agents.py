"""Agents compared and gated from the command line: traces, saved results, per-conversation CSV."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goodgain.cli import run


def conversation(name, repeats, gain):
    results = [
        {"ids": {"file_id": f"{name}-{i}"}, "type": "file", "title": f"t{i}"}
        | ({} if gain is None else {"gain": gain if i < 3 else 0})
        for i in range(6)
    ]
    second = [*results[:repeats], *results[3 : 6 - repeats]]
    searches = [{"query": "a", "results": results[:3]}, {"query": "b", "results": second}]
    return {
        "conversation": name,
        "turns": [{"user": "x", "iterations": [{"searches": [s]} for s in searches]}],
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, repeats, gain in (("before", 0, 3), ("after", 2, 3), ("bare", 0, None)):
        lines = [json.dumps(conversation(f"c{i}", repeats, gain)) for i in range(8)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def rows(capsys):
    return {r["measure"]: r for r in json.loads(capsys.readouterr().out)}


def test_from_traces(folder, capsys):
    files = ["--traces", "before.jsonl", "--traces", "after.jsonl"]
    assert run(["compare", *files, "-m", "CG SRR", "--format", "json", "-q"]) == 0
    compared = rows(capsys)
    assert (compared["SRR"]["system"], compared["SRR"]["baseline"]) == ("after", "before")
    assert compared["SRR"]["losses"] == 8 and compared["SRR"]["lower_is_better"] is True
    assert compared["CG"]["difference"] == 0
    assert run(["gate", *files, "-m", "SRR", "-q"]) == 1
    assert "FAILED: after against before: SRR is worse" in capsys.readouterr().out
    assert run(["gate", *files, "-m", "CG", "-q"]) == 0


def test_from_saved_results(folder, capsys):
    for name in ("before", "after"):
        assert run(["trace", f"{name}.jsonl", "--save", f"{name}.json", "-q"]) == 0
    capsys.readouterr()
    assert run(["compare", "before.json", "after.json", "-m", "SRR", "--format", "json", "-q"]) == 0
    assert rows(capsys)["SRR"]["losses"] == 8
    assert run(["gate", "before.json", "after.json", "-m", "DupR@i", "-q"]) == 1


def test_from_rows_per_conversation(folder, capsys):
    command = ["trace", "before.jsonl", "after.jsonl", "--by", "file", "--per-conversation"]
    assert run([*command, "--format", "csv", "-o", "rows.csv", "-q"]) == 0
    assert run(["compare", "--scores", "rows.csv", "--format", "json", "-q"]) == 0
    compared = rows(capsys)
    assert compared["SRR"]["losses"] == 8 and compared["SRR"]["queries"] == 8
    assert "Cost" not in compared
    assert run(["gate", "--scores", "rows.csv", "-m", "SRR", "-q"]) == 1
    assert (
        run(["gate", "--scores", "rows.csv", "-m", "SRR", "--higher-is-better", "SRR", "-q"]) == 0
    )


def test_without_labels_nothing_passes(folder, capsys):
    (folder / "again.jsonl").write_text((folder / "bare.jsonl").read_text())
    files = ["--traces", "bare.jsonl", "--traces", "again.jsonl"]
    assert run(["gate", *files, "-m", "CG", "-q"]) == 1
    assert "no result of bare and again is labelled" in capsys.readouterr().out
    assert run(["gate", *files, "-q"]) == 1
    assert run(["gate", *files, "-m", "SRR", "-q"]) == 0


def test_bad_use(folder, capsys):
    for arguments, message in (
        (["compare", "--traces", "a.jsonl", "--scores", "b.csv"], "--scores cannot be combined"),
        (["compare", "q.txt", "--traces", "a.jsonl"], "--traces cannot be combined"),
        (["compare", "--traces", "none.jsonl"], "file not found: 'none.jsonl'"),
        (["gate", "--traces", "before.jsonl"], "one baseline with one candidate"),
        (
            ["compare", "--traces", "before.jsonl", "--traces", "after.jsonl", "-m", "nope"],
            "measure 'nope'",
        ),
    ):
        assert run(arguments) == 2, arguments
        assert message in capsys.readouterr().err, arguments


@pytest.mark.parametrize("command", ["compare", "gate"])
def test_systems_of_one_file_are_not_taken_for_repeats(tmp_path, monkeypatch, capsys, command):
    """Two systems in one of several files would be averaged as repeats of one."""
    monkeypatch.chdir(tmp_path)
    results = {"query": "q", "results": [{"id": "d", "gain": 2}]}
    turns = [{"user": "u", "iterations": [{"searches": [results]}]}]
    line = '{{"conversation": "c{}", "system": "{}", "turns": {}}}\n'
    lines = [line.format(i, system, json.dumps(turns)) for system in "AB" for i in range(3)]
    Path("both.jsonl").write_text("".join(lines))
    Path("one.jsonl").write_text("".join(lines[:3]))
    assert run([command, "--traces", "both.jsonl", "--traces", "one.jsonl", "-m", "CG"]) == 2
    message = capsys.readouterr().err
    assert "'both' holds 2 systems, such as 'A' and 'B' (both.jsonl)" in message
    assert run([command, "--traces", "both.jsonl", "-m", "CG", "-q"]) in (0, 1)
    assert "conversations" in capsys.readouterr().out
