"""Type checkers accept a right program, and find every mistake of a wrong one: mypy --strict and pyright."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
MISTAKES = HERE / "mistakes.py"
EXPECTED = {
    number
    for number, line in enumerate(MISTAKES.read_text().splitlines(), 1)
    if line.endswith("# error")
}


def errors(command: list[str], folder: Path) -> dict[str, set[int]]:
    """The lines with an error, by file; a checker that fails itself fails the test."""
    for name in ("user_program.py", "mistakes.py"):
        (folder / name).write_text((HERE / name).read_text())
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 1, done.stdout + done.stderr
    lines: dict[str, set[int]] = {}
    for name, number in re.findall(r"(\w+\.py):(\d+)(?::\d+)?(?: -)?:? error", done.stdout):
        lines.setdefault(name, set()).add(int(number))
    return lines


@pytest.mark.slow
def test_mypy(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental"]
    found_lines = errors([*command, "user_program.py", "mistakes.py"], tmp_path)
    assert found_lines == {"mistakes.py": EXPECTED}


@pytest.mark.slow
def test_pyright(tmp_path):
    pytest.importorskip("pyright")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    found_lines = errors([*command, "user_program.py", "mistakes.py"], tmp_path)
    assert found_lines == {"mistakes.py": EXPECTED}


def test_a_right_program_runs():
    namespace: dict[str, object] = {}
    exec(compile((HERE / "user_program.py").read_text(), "user_program.py", "exec"), namespace)
    assert namespace["better"] is True


def test_names_are_those_of_the_tables():
    """In a process of its own: other tests register measures in this one."""
    script = Path(__file__).parents[2] / "scripts" / "typed_names.py"
    ended = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
