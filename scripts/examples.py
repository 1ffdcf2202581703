"""Run the code blocks of README.md and docs/, and update their output: python scripts/examples.py [PAGE ...].

Python blocks of a page share one namespace. In console blocks, lines that start with "$ " are run, and the
lines below are their output. The tests run the same blocks and fail if the output differs.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def has_blocks(page: Path) -> bool:
    """Whether a page has anything to run."""
    return BLOCK.search(page.read_text(encoding="utf-8")) is not None


def run_page(page: Path, output: Callable[[str, str], str]) -> str:
    """Run the blocks of a page in the current folder; the page with the output that `output` returns.

    `output` is called with each command and the output that the page shows for it.
    """
    namespace: dict[str, object] = {"__name__": f"docs_{page.stem}"}

    def run_block(match: re.Match[str]) -> str:
        kind, text = match.groups()
        if kind == "python":
            exec(compile(text, str(page), "exec"), namespace)
            return match[0]
        return f"```console\n{COMMAND.sub(run_command, text)}```"

    def run_command(match: re.Match[str]) -> str:
        lines = output(match[1], match[2].strip("\n"))
        return f"$ {match[1]}\n" + (f"{lines}\n" if lines else "")

    return BLOCK.sub(run_block, page.read_text(encoding="utf-8"))


def run(command: str) -> str:
    """What a `goodgain` command prints."""
    words = shlex.split(command)
    if words[0] != "goodgain":
        raise ValueError(f"not a goodgain command: {command}")
    done = subprocess.run(
        [sys.executable, "-m", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command}\n{done.stderr}")
    return done.stdout.strip("\n")


def main() -> None:
    """Update the pages."""
    for page in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        if not has_blocks(page):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = run_page(page, lambda command, _: run(command))
            os.chdir(ROOT)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"updated {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
