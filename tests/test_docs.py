"""Every code block in README and docs/ runs; pages made by scripts are up to date."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(m[1], m[2]) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def pages() -> list[object]:
    """The pages that have blocks; the one about Spark is marked, and skipped without Java."""
    no_java = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
    marks = {"spark.md": (pytest.mark.spark, no_java)}
    return [pytest.param(p, marks=marks.get(p.name, ()), id=p.name) for p in PAGES if blocks(p)]


@pytest.mark.parametrize("page", pages())
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python blocks of a page share one namespace; `$ command` lines print what stands below them."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": f"docs_{page.stem}"}
    for kind, text in blocks(page):
        if kind == "python":
            exec(compile(text, str(page), "exec"), namespace)
        else:
            for command, expected in console(text):
                assert run(command) == expected, command


def console(text: str) -> list[tuple[str, str]]:
    """(command, output) for `$ goodgain ...` lines; other lines are not ours to run."""
    found = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        found.append((command, output.strip("\n")))
    return found


def run(command: str) -> str:
    words = shlex.split(command)
    assert words[0] == "goodgain"
    done = subprocess.run(
        [sys.executable, "-m", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip("\n")


def test_reference_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "reference.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
