"""On a terminal: the verdict first, everything within the width, colours only where they are allowed."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import subprocess
import sys

import pytest

from goodgain.agentic.tables import some_iterations
from goodgain.io.naming import without_shared_prefix
from goodgain.results.screen import Screen, leave, of_stream, use
from goodgain.results.text import latex_row, no_formula, render, width

WIDTHS = (60, 80, 120, 200)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    chance = random.Random(2)
    qrels = {f"q{i}": {f"d{d}": chance.choice((0, 0, 1, 2)) for d in range(30)} for i in range(30)}
    (folder / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items())
    )
    for i in range(4):
        name = f"experiments-of-november-system-number-{i}"
        lines = (
            f"{q} Q0 {d} 0 {0.4 * i * g + chance.random()} x\n"
            for q, docs in qrels.items()
            for d, g in docs.items()
        )
        (folder / f"{name}.run").write_text("".join(lines))
    iterations = [
        {"searches": [{"query": f"x {i}", "results": [{"id": f"{i}", "gain": 1}]}]}
        for i in range(30)
    ]
    conversation = {"conversation": "c", "turns": [{"user": "u", "iterations": iterations}]}
    (folder / "traces.jsonl").write_text(json.dumps(conversation) + "\n")
    return folder


def on_terminal(folder, columns: int, *arguments: str, **environment: str) -> str:
    """What a command writes to a terminal of this width."""
    primary, secondary = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    variables |= {"COLUMNS": str(columns), "TERM": "xterm", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "goodgain", *arguments], stdout=secondary, stderr=subprocess.PIPE,
        cwd=folder, env=variables,
    )  # fmt: skip
    os.close(secondary)
    pieces = []
    while True:
        try:
            piece = os.read(primary, 65536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    with process:
        assert process.wait(60) == 0, process.stderr.read().decode()
    os.close(primary)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def runs(folder) -> list[str]:
    return sorted(path.name for path in folder.glob("*.run"))


def plain_lines(text: str) -> list[str]:
    return re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()


@pytest.mark.parametrize("columns", WIDTHS)
def test_everything_fits_the_width(files, columns):
    commands = [
        ("compare", "qrels.txt", *runs(files), "-m", "nDCG@10 AP RR P@5 Recall@10"),
        ("compare", "qrels.txt", *runs(files), "-m", "nDCG@10", "--baseline", "all"),
        ("evaluate", "qrels.txt", *runs(files), "-m", "nDCG@10 AP RR P@5 Recall@10 P@1"),
        ("trace", "traces.jsonl"),
    ]
    for command in commands:
        lines = plain_lines(on_terminal(files, columns, *command))
        assert lines
        wide = [line for line in lines if width(line) > columns]
        assert wide == [], (command, columns)


def test_the_verdict_comes_first_and_the_best_is_marked(files):
    text = on_terminal(files, 100, "compare", "qrels.txt", *runs(files), "-m", "nDCG@10")
    lines = plain_lines(text)
    assert lines[0].startswith("verdict      better: ")
    assert "\x1b[1;34mbetter\x1b[0m" in text
    (best,) = [line for line in lines if "▸" in line]
    assert best.startswith("…3 ") and re.search(r"\x1b\[1m▸[01]\.\d+", text)
    assert lines.index(best) < 12


def test_colours_are_left_out_where_nobody_wants_them(files):
    command = ("compare", "qrels.txt", *runs(files), "-m", "nDCG@10")
    assert "\x1b[" not in on_terminal(files, 100, *command, NO_COLOR="1")
    assert "\x1b[" not in on_terminal(files, 100, *command, TERM="dumb")
    piped = subprocess.run(
        [sys.executable, "-m", "goodgain", *command], cwd=files, capture_output=True, text=True,
        check=True, env={**os.environ, "COLUMNS": "60"},
    ).stdout  # fmt: skip
    assert "\x1b[" not in piped and "▸" not in piped
    assert max(map(len, piped.splitlines())) > 60  # a file has no width


def test_at_most_ten_iterations_with_their_counts(files):
    lines = plain_lines(on_terminal(files, 100, "trace", "traces.jsonl"))
    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["i", "n"])
    rows = [line.split()[:2] for line in lines[head + 1 : head + 11]]
    assert [int(n) for _, n in rows] == [1] * 10
    assert [int(i) for i, _ in rows] == some_iterations(30, 10)
    assert lines[head + 11] == "10 of 30 iterations; all of them: --format csv"


@pytest.mark.parametrize("count", [1, 9, 10, 11, 13, 88, 1000])
def test_chosen_iterations_are_first_last_and_some_between(count):
    chosen = some_iterations(count, 10)
    assert chosen == sorted(set(chosen)) and len(chosen) == min(count, 10)
    assert (chosen[0], chosen[-1]) == (1, count)


def test_a_wide_table_is_cut_in_pieces_that_repeat_their_key():
    token = use(Screen(60, False))
    try:
        columns = ["run", *(f"measure {i}" for i in range(12))]
        text = render("table", columns, [["a" * 50, *12 * [0.1234]], ["b", *12 * [0.5]]])
    finally:
        leave(token)
    pieces = text.split("\n\n")
    assert len(pieces) > 1
    assert all(piece.splitlines()[0].startswith("run") for piece in pieces)
    assert sum(piece.count("measure") for piece in pieces) == 12
    assert max(map(len, text.splitlines())) <= 60 and "aaa…aaa" in text


def test_a_stream_that_is_no_terminal_has_no_width(tmp_path):
    with (tmp_path / "x").open("w") as stream:
        assert of_stream(stream) == Screen(None, False)


def test_progress_never_wraps():
    from goodgain.experiment.progress import Progress

    primary, secondary = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
    with os.fdopen(secondary, "w") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        bar = Progress("a system with a name that is longer than the terminal is wide", 3, True)
        for _ in range(3):
            bar.advance()
        bar.close()
    shown = os.read(primary, 65536).decode()
    os.close(primary)
    drawn = [line.replace("\x1b[K", "") for line in shown.split("\r") if line.strip()]
    assert any("3/3" in line for line in drawn)
    assert max(map(len, drawn)) < 50


def test_shared_beginnings_of_names_are_left_out():
    names = ["runs/2024/bm25-k1=0.9", "runs/2024/bm25-k1=1.2", "runs/2024/dense"]
    assert [*without_shared_prefix(names).values()] == ["…bm25-k1=0.9", "…bm25-k1=1.2", "…dense"]
    assert [*without_shared_prefix(["bm25", "bm25f"]).values()] == ["bm25", "bm25f"]
    assert without_shared_prefix(["alone/in/here"]) == {"alone/in/here": "alone/in/here"}
    assert without_shared_prefix(["experiment-", "experiment-2"])["experiment-"] == "experiment-"


@pytest.mark.parametrize("text", ["[0.1, 0.2]", "*x"])
def test_a_latex_row_is_no_option_of_the_row_before(text):
    assert latex_row([text, "b"]) == f"  {{}}{text} & b \\\\\n"
    latex = render("latex", ["name"], [["a"], [text]])
    assert f"{{}}{text}" in latex
    assert latex_row(["a", text]) == f"  a & {text} \\\\\n"


def test_no_cell_is_a_formula_to_a_spreadsheet():
    cells = ["=1+1", "+cmd", "-x", "@sum", "\tx", "-", "-0.5", "+3", "a=b", ""]
    expected = ["'=1+1", "'+cmd", "'-x", "'@sum", "'\tx", "-", "-0.5", "+3", "a=b", ""]
    assert [no_formula(cell) for cell in cells] == expected
    assert no_formula(-0.5) == -0.5
    for delimiter in ("csv", "tsv"):
        text = render(delimiter, ["=name", "value"], [["=HYPERLINK(1)", -1.5]])
        assert text.startswith("'=name") and "\n'=HYPERLINK(1)" in text and "-1.5" in text
