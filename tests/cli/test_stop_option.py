"""`goodgain trace --stop`: rules on the command line, in every format, saved and on a page."""

from __future__ import annotations

import csv
import io
import json

import pytest

import goodgain as gg
from goodgain.cli import run


def trace(name, *steps):
    searches = [
        {
            "searches": [
                {"query": "q", "tokens": 10, "results": [{"id": i, "gain": g} for i, g in step]}
            ]
        }
        for step in steps
    ]
    return {"conversation": name, "system": "agent", "turns": [{"iterations": searches}]}


A, B, C = ("a", 4), ("b", 2), ("c", 1)


@pytest.fixture
def traces(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [trace(f"c{i}", [A], [B] if i % 2 else [A], [C], [C]) for i in range(10)]
    path.write_text("".join(json.dumps(t) + "\n" for t in rows))
    return str(path)


def test_the_first_lines_answer_the_question(traces, capsys):
    assert run(["trace", traces, "--stop", "after 1", "quiet 2", "tokens 20 or stale 1"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].startswith("'after 1' keeps 80.0 % [")
    assert lines[0].endswith("of the gain for 25.0 % of the tokens")
    assert lines[1].startswith(
        "'quiet 2' (an oracle: it needs labels) keeps 100.0 % of the gain for 87.5 %"
    )
    assert lines[4].split()[:3] == ["rule", "stopped", "early"]
    assert "'quiet 2' needs labels, which no agent has" in captured.err
    assert "10 conversations, 40 searches" in captured.err  # the ledger


def test_formats(traces, capsys):
    assert run(["trace", traces, "--stop", "after 1", "--format", "csv", "-q"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [r["measure"] for r in rows] == [
        "gain kept", "searches saved", "seconds saved", "tokens saved", "cost saved"
    ]  # fmt: skip
    assert (
        float(rows[0]["value"]) == 0.8 and rows[2]["value"] == "" and rows[0]["rule"] == "after 1"
    )
    assert run(["trace", traces, "--stop", "after 1", "--format", "json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)[3]["value"] == 0.75
    assert (
        run(["trace", traces, "--stop", "after 1", "--per-conversation", "--format", "tsv", "-q"])
        == 0
    )
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"))
    assert len(rows) == 10 and {r["stop"] for r in rows} == {"1"}


def test_without_a_rule_there_is_a_selection(traces, capsys):
    assert run(["trace", traces, "--stop", "-q"]) == 0
    out = capsys.readouterr().out
    assert all(
        f"\n{rule} " in out for rule in ("after 1", "after 3", "stale 2", "quiet 1 (oracle)")
    )
    assert "after 5" not in out  # nobody searches so often


def test_saved_and_on_a_page(traces, tmp_path, capsys):
    saved, page = tmp_path / "s.json", tmp_path / "p.html"
    command = [
        "trace",
        traces,
        "--stop",
        "after 1",
        "--save",
        str(saved),
        "--report",
        str(page),
        "-q",
    ]
    assert run([*command, "--confidence", "0.9", "--seed", "4"]) == 0
    result = gg.load(saved)
    assert isinstance(result, gg.Stopping) and result.rules == ("after 1",)
    assert (result.settings["confidence"], result.settings["seed"]) == (0.9, 4)
    text = page.read_text()
    assert (
        "Stopping rules" in text and "Good gain vs tokens" in text
    )  # both results are on the page
    assert run(["plot", "stopping", str(saved), "-o", str(tmp_path / "c.svg"), "-q"]) == 0
    assert (tmp_path / "c.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("quite 2", "unknown stopping rule 'quite'\nhint: did you mean 'quiet'?"),
        ("cost 3", "the traces do not record cost, so 'cost 3' cannot be replayed"),
        ("after", "'after' needs a positive number"),
    ],
)
def test_bad_rules(traces, capsys, rule, message):
    assert run(["trace", traces, "--stop", rule]) != 0
    captured = capsys.readouterr()
    assert message in captured.err and captured.out == ""
