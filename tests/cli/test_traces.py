"""The commands trace, dedup and convert, and Good Gain in `goodgain measures`."""

import csv
import io
import json

import pytest

import goodgain as gg
from goodgain.cli import run


def trace(conversation, system, *iterations):
    steps = [
        {"searches": [{"query": "q", "latency": 0.5, "tokens": 10, "results": r}]}
        for r in iterations
    ]
    return {"conversation": conversation, "system": system, "turns": [{"iterations": steps}]}


A, B, C = ({"id": i, "gain": g} for i, g in (("a", 3), ("b", 2), ("c", 4)))


@pytest.fixture
def traces(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [
        trace("c1", "one", [A, B], [C, A]),
        trace("c2", "one", [A]),
        trace("c1", "two", [A]),
        trace("c2", "two", [A, C]),
    ]
    path.write_text("".join(json.dumps(t) + "\n" for t in rows))
    return str(path)


def output(capsys, *arguments, status=0):
    assert run(list(arguments)) == status
    return capsys.readouterr()


def test_table_with_summary_pairs_and_plot(traces, capsys):
    text = output(capsys, "trace", traces).out
    verdict, _, text = text.partition("\n\n")
    assert verdict.startswith("verdict      not enough evidence: ")
    assert text.splitlines()[0].split() == [
        "system",
        "i",
        "n",
        "CG",
        "DCG",
        "RG",
        "DRG",
        "RAG",
        "DRAG",
        "SRE",
        "SRR",
        "marginal",
        "tokens",
        "seconds",
    ]
    assert "IterationsForAllGoodResults" in text
    assert "difference" in text
    assert "CG by iteration" in text
    assert "● one" in text
    assert "CG by iteration" not in output(capsys, "trace", traces, "--no-plot").out


def test_long_rows(traces, capsys):
    rows = list(csv.DictReader(io.StringIO(output(capsys, "trace", traces, "--format", "csv").out)))
    assert list(rows[0])[:5] == ["system", "iteration", "measure", "value", "n"]
    values = {
        (r["system"], r["iteration"], r["measure"]): (float(r["value"]), int(r["n"]))
        for r in rows
        if r["value"]
    }
    assert values["one", "1", "CG"] == (4, 2)
    assert values["one", "2", "CG"] == (9, 1)
    assert values["one", "", "CG"] == (6, 2)
    assert values["two", "", "SRE"] == (1, 2)


def test_rows_per_conversation(traces, capsys):
    lines = output(
        capsys, "trace", traces, "--per-conversation", "--format", "jsonl"
    ).out.splitlines()
    rows = [json.loads(line) for line in lines]
    assert list(rows[0])[:5] == ["system", "conversation", "iteration", "measure", "value"]
    assert [
        r["value"]
        for r in rows
        if (r["system"], r["conversation"], r["measure"]) == ("one", "c1", "CG")
    ] == [5, 9]
    assert "c2" in output(capsys, "trace", traces, "--per-conversation").out


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "tsv", "markdown", "latex"])
def test_every_format(traces, capsys, form):
    assert output(capsys, "trace", traces, "--format", form).out


def test_options(traces, capsys, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("query,doc,gain\nc1,a,0\nc1,b,0\nc1,c,0\nc2,a,4\nc2,c,4\n")
    saved = tmp_path / "saved.json"
    text = output(
        capsys,
        "trace",
        traces,
        "--labels",
        str(labels),
        "--threshold",
        "1",
        "--gain",
        "exp",
        "--discount",
        "none",
        "--align",
        "carry",
        "--turn",
        "all",
        "--unit",
        "passage",
        "--by",
        "system",
        "--save",
        str(saved),
        "--threads",
        "1",
        "-o",
        str(tmp_path / "out.txt"),
    ).out
    assert text == ""
    assert gg.GoodGain.load(saved).figure("CG", system="two").value == 15
    assert "CG" in (tmp_path / "out.txt").read_text()


def test_errors_have_no_traceback(tmp_path, capsys):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"conversation": "c1", "turns": 3}\n')
    printed = output(capsys, "trace", str(path), status=2)
    assert printed.err == (
        f"goodgain: field 'turns' must be a list, got a number ({path}:1)\n"
        "hint: correct it, or leave such conversations out: --skip-bad, skip_bad=True\n"
    )
    printed = output(capsys, "trace", str(path), "--skip-bad")
    assert "1 bad conversations were skipped" in printed.err
    assert output(capsys, "trace", str(path), "--turn", "first", status=2).err.startswith(
        "goodgain: invalid turn='first'"
    )


def test_dedup_shows_clusters_and_reasons(traces, capsys):
    text = output(capsys, "dedup", traces).out
    assert text.splitlines()[1].split() == ["one", "c1", "1", "2", "1.1.1", "2.1.2", "a"]
    rows = list(
        csv.DictReader(
            io.StringIO(output(capsys, "dedup", traces, "--audit", "--format", "csv").out)
        )
    )
    assert rows == [
        {
            "system": "one",
            "conversation": "c1",
            "result": "2.1.2",
            "other": "1.1.1",
            "key": "id",
            "rule": "generic",
            "verdict": "duplicate",
            "step": "4",
            "fields": "id",
            "merged": "yes",
            "title": "",
            "other title": "",
            "url": "",
            "other url": "",
        }
    ]


def test_convert(tmp_path, capsys):
    source, target = tmp_path / "chat.json", tmp_path / "out.jsonl"
    call = {"id": "1", "function": {"name": "lookup", "arguments": '{"query": "x"}'}}
    source.write_text(
        json.dumps(
            {
                "id": "c",
                "messages": [
                    {"role": "user", "content": "?"},
                    {"role": "assistant", "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": "1", "content": '["doc-1"]'},
                ],
            }
        )
    )
    printed = output(capsys, "convert", str(source), str(target), "--search-tool", "lookup")
    ledger, wrote = printed.err.splitlines()
    assert ledger.endswith("chat.json: 1 conversation, 1 search, 1 result")
    assert wrote == f"wrote 1 conversations to {target}"
    (read,) = gg.read_traces(target)
    assert read.turns[0].iterations[0].searches[0].results[0].id == "doc-1"
    assert output(capsys, "convert", str(source), str(target), "--from", "canonical", status=2).err


def test_measures_show_good_gain(capsys):
    assert "SRR@i" in output(capsys, "measures").out
    assert "lower is better" in output(capsys, "measures", "SRR").out
    assert "1 / log2(k + 1)" in output(capsys, "measures", "DCG@i").out
    assert "log2(i + 1)" in output(capsys, "measures", "DCG").out
