"""Bad input: one sentence, where, a hint, exit status 2, no traceback, nothing written."""

from __future__ import annotations

import subprocess
import sys

import pytest
from refusals import QRELS, RUN, put, refused

from goodgain.cli import run

# --- lines of a run ---


@pytest.mark.parametrize(
    "line, says, hint",
    [
        ("q1 Q0 c 3 0.5", ("5 columns", "not 6"), "query Q0 document rank score tag"),
        ("q1 Q0 c 3 0.5 t more", ("7 columns", "not 6"), "query Q0 document rank score tag"),
        ("q1 0 c 1", ("4 columns",), "looks like qrels"),
        ("q1", ("1 column,",), "query Q0"),
        ("q1 Q0 c 3 high t", ("'high'", "not a number"), "query Q0"),
        ("q1 Q0 c 3 1,5 t", ("'1,5'", "not a number"), "query Q0"),
        ("q1 Q0 c 3 0x1F t", ("'0x1F'", "not a number"), "query Q0"),
        ("q1 Q0 c 3 1.5.2 t", ("'1.5.2'",), "query Q0"),
        ("q1 Q0 c 3 nan t", ("'nan'", "finite"), "remove the line"),
        ("q1 Q0 c 3 NaN t", ("'NaN'", "finite"), "remove the line"),
        ("q1 Q0 c 3 inf t", ("'inf'", "finite"), "remove the line"),
        ("q1 Q0 c 3 -Infinity t", ("'-Infinity'", "finite"), "remove the line"),
        ("q1 Q0 c 3 1e999 t", ("'1e999'",), ""),
        ("q1 Q0 a 3 0.5 t", ("'a'", "duplicate document", "'q1'"), "duplicates="),
    ],
)
def test_line_of_a_run(folder, capsys, line, says, hint):
    put(folder, "bad.txt", f"# comment\n{RUN}{line}\nq1 Q0 z 9 0.1 t\n")
    refused("qrels.txt", "bad.txt", capsys=capsys, says=says, where="bad.txt:4", hint=hint)


@pytest.mark.parametrize(
    "line, says, hint",
    [
        ("q1 0 c", ("3 columns", "not 4"), "query 0 document gain"),
        ("q1 Q0 c 1 2.5 t", ("6 columns",), "looks like a run"),
        ("q1 0 c good", ("'good'", "not a number"), "query 0 document gain"),
        ("q1 0 c nan", ("'nan'", "finite"), ""),
        ("q1 0 a 1", ("'a'", "duplicate judgment", "'q1'"), "line 1"),
    ],
)
def test_line_of_qrels(folder, capsys, line, says, hint):
    put(folder, "bad.txt", f"{QRELS}{line}\n")
    refused("bad.txt", "run.txt", capsys=capsys, says=says, where="bad.txt:3", hint=hint)


@pytest.mark.parametrize(
    "name, text, where, says",
    [
        ("r.csv", "query,doc,score\nq1,a,1\nq1,b\n", "r.csv:3", "2 columns"),
        ("r.csv", "query,doc,score\nq1,a,x\n", "r.csv:2", "'x'"),
        ("r.csv", 'query,doc,score\nq1,"a,1\n', "r.csv:2", "quote"),
        ("r.csv", 'query,doc,score\nq1,"a"b,1\n', "r.csv:2", "quote"),
        ("r.csv", "query,doc,score\nq1,,1\n", "r.csv:2", "empty"),
        ("r.csv", "query,document,doc,score\nq1,a,a,1\n", "r.csv:1", "'document' or 'doc'"),
        ("r.csv", "query,doc,gain\nq1,a,1\n", "r.csv:1", "score"),
        ("r.tsv", "query\tdoc\tscore\nq1\ta\tnan\n", "r.tsv:2", "'nan'"),
        (
            "r.jsonl",
            '{"query": "q1", "doc": "a", "score": 1}\n{"query": "q1"\n',
            "r.jsonl:2",
            "JSON",
        ),
        ("r.jsonl", '{"query": "q1", "doc": "a", "score": 1}\n[1]\n', "r.jsonl:2", "JSON object"),
        (
            "r.jsonl",
            '{"query": "q1", "doc": "a", "score": 1}\n{"query": "q1", "doc": "b"}\n',
            "r.jsonl:2",
            "'score'",
        ),
        ("r.jsonl", '{"query": "q1", "doc": "a", "score": "x"}\n', "r.jsonl:1", "'x'"),
        ("r.jsonl", "no json\n", "r.jsonl:1", "JSON object"),
        ("r.json", '{"q1": {"a": 1}', "r.json:1", "JSON"),
    ],
)
def test_line_of_other_formats(folder, capsys, name, text, where, says):
    put(folder, name, text)
    refused("qrels.txt", name, capsys=capsys, says=says, where=where)


def test_line_numbers_count_quoted_line_breaks(folder, capsys):
    put(folder, "r.csv", 'query,doc,score\nq1,"two\nlines",1\nq1,b,x\n')
    refused("qrels.txt", "r.csv", capsys=capsys, says="'x'", where="r.csv:4")


# --- use ---


@pytest.mark.parametrize(
    "options, says, hint",
    [
        (("-m", "nDGC@10"), "'nDGC@10'", "nDCG"),
        (("-m", "nDCG(gain=cubic)"), "gain='cubic'", "linear, exp"),
        (("-m", "nDCG(grain=exp)"), "'grain'", "goodgain measures nDCG"),
        (("-m", "R_cap"), "needs a cut-off", "R_cap@10"),
        (("-m", "P@0"), ("cut-off of P", "got 0"), "P@10"),
        (("-m", ""), "no measure", "nDCG@10"),
        (("--policy", "ties=random"), "ties='random'", "docid"),
        (("--policy", "tie=docid"), "'tie'", "ties"),
        (("--policy", "ties"), "'ties'", None),
        (("--preset", "trec"), "'trec'", "trec_eval"),
        (("--threads", "0"), "threads must be a positive integer, got 0", None),
        (("--threads", "many"), "many", "--help"),
        (("--format", "xml"), "xml", "--help"),
        (("--nonsense",), "--nonsense", "--help"),
        (("--columns", "doc=nope"), "", None),
        (("-m", "Accuracy", "--policy", "unjudged=bounds"), "Accuracy", "unjudged=remove"),
    ],
)
def test_use(folder, capsys, options, says, hint):
    arguments = ("qrels.txt", "run.txt")
    if "doc=nope" in options:
        put(folder, "run.csv", "query,doc,score\nq1,a,1\n")
        arguments = ("qrels.txt", "run.csv")
        says, hint = "'nope'", "query, doc, score"
    refused(*arguments, *options, "-o", "out.txt", capsys=capsys, says=says, hint=hint)


def test_unknown_command(capsys):
    assert run(["evalute", "q", "r"]) == 2
    err = capsys.readouterr().err
    assert "command 'evalute'" in err and "hint: did you mean 'evaluate'?" in err


def test_unknown_option_before_a_command(capsys):
    assert run(["--verison"]) == 2
    err = capsys.readouterr().err
    assert "option '--verison'" in err and "hint: did you mean '--version'?" in err


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("qrels.txt", "bad.txt"), "bad.txt:1"),
        (("qrels.txt", "nowhere"), "'nowhere'"),
        (("qrels.txt", "run.txt", "-m", "nDGC"), "'nDGC'"),
        (("qrels.txt",), "RUN"),
    ],
)
def test_as_a_program(folder, arguments, says):
    put(folder, "bad.txt", "q1 Q0 a\n")
    done = subprocess.run(
        [sys.executable, "-m", "goodgain", "evaluate", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr.startswith("goodgain: ")
        and says in done.stderr
        and "Traceback" not in done.stderr
    )
