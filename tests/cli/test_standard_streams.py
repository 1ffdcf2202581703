"""Standard streams that are closed, full, without a reader, or of an encoding that lacks a character."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes the streams")

PROGRAM = f"{sys.executable} -m goodgain"


@pytest.fixture
def shell(tmp_path):
    """Runs a command line in a folder with judgments and two runs, one of which matches nothing."""
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 a\nq1 Q0 d2 2 1 a\n")
    (tmp_path / "b.run").write_text("q1 Q0 doc:d1 1 2 b\nq1 Q0 doc:d2 2 1 b\n")
    (tmp_path / "accents.run").write_text("q1 Q0 caf\u00e9 1 2 b\n", encoding="utf-8")

    def run(command, **variables):
        return subprocess.run(
            ["bash", "-c", command.replace("goodgain", PROGRAM)], cwd=tmp_path, text=True,
            capture_output=True, check=False, env={**os.environ, **variables}, encoding="utf-8",
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    "command", ["evaluate qrels.txt a.run", "--version", "--help", "gate --help", "measures"]
)
@pytest.mark.parametrize(
    ("stream", "reason"),
    [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")],
)
def test_a_result_that_cannot_be_written(shell, command, stream, reason):
    done = shell(f"goodgain {command} {stream}")
    assert done.returncode == 2
    assert done.stderr.count(reason) == 1 and done.stderr.startswith("goodgain: ")


def test_a_result_that_goes_to_a_file_needs_no_standard_output(shell, tmp_path):
    assert shell("goodgain fuse a.run a.run -o fused.run <&- >&- 2>&-").returncode == 0
    assert len((tmp_path / "fused.run").read_text().splitlines()) == 2


def test_warnings_never_go_into_the_result(shell):
    """print() writes to standard output where standard error is closed."""
    done = shell("goodgain fuse a.run b.run 2>&-")
    assert done.returncode == 0 and "warning" not in done.stdout
    done = shell("goodgain evaluate qrels.txt none.run 2>&-")
    assert (done.returncode, done.stdout) == (2, "")


def test_messages_that_cannot_be_written_fail_no_gate(shell):
    """Status 1 would mean that the candidate is worse."""
    for command in ("evaluate qrels.txt b.run", "evaluate qrels.txt none.run"):
        assert shell(f"goodgain {command} 2>/dev/full").returncode == 2


def test_a_closed_standard_input_is_empty(shell):
    done = shell("goodgain evaluate qrels.txt - <&-")
    assert done.returncode == 2 and done.stderr.startswith("goodgain: the file is empty (<stdin>)")


@pytest.mark.parametrize(
    "command", ["--help", "evaluate qrels.txt a.run", "gate qrels.txt a.run a.run"]
)
def test_no_success_without_a_reader(shell, command):
    """With `pipefail`, a gate whose output nobody read must not pass."""
    done = shell(f"(goodgain {command}; echo status $? >&2) | exec 0<&-")
    assert done.stderr in ("status 141\n", "status 1\n")


def test_an_encoding_without_a_character(shell):
    done = shell("goodgain fuse accents.run accents.run", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "goodgain: cannot write '\\xe9' to standard output, whose encoding is ascii",
        "hint: set PYTHONIOENCODING=utf-8, or write to a file with -o FILE",
    ]
