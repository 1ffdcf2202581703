"""Run the code blocks of README.md and docs/, and update their output: python scripts/examples.py [PAGE ...].

Python blocks of a page share one namespace; an `output` block after one is what it printed. In console
blocks, lines that start with "$ " are run, and the lines below are their output; a comment such as
<!-- exit 1 --> before the block says which status the last one ends with (and that its errors are shown). A
block with a title is a file of that name. "..." in an output stands for anything. The tests run the same
blocks and fail if the output differs.

--check changes nothing and fails if a page would change; --fresh also runs what sets up an environment (pip,
make) and blocks below <!-- fresh -->, as scripts/paths.py does in new ones.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
FOLDERS = ("", "cookbook", "guidance", "tutorials")
PAGES = sorted(
    [
        ROOT / "README.md",
        *(ROOT / "examples").glob("*/README.md"),
        *(page for name in FOLDERS for page in (ROOT / "docs" / name).glob("*.md")),
    ]
)
BLOCK = re.compile(
    r"^(?P<fresh><!-- fresh -->\n)?(?:<!-- exit (?P<status>\d+) -->\n)?"
    r'```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# In an environment that is set up already, its own programs are used and nothing is installed.
PROGRAMS = """
python() { "$GOODGAIN_PYTHON" "$@"; }
goodgain() { "$GOODGAIN_PYTHON" -m goodgain "$@"; }
pytest() { "$GOODGAIN_PYTHON" -m pytest -p no:cacheprovider "$@"; }
pip() { :; }
make() { :; }
"""


def enter(page: Path, folder: Path) -> None:
    """Go to the folder in which the blocks of a page run: an empty one, or a copy of its example."""
    os.chdir(folder)
    if page.is_relative_to(ROOT / "examples"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=ignored)
        os.chdir(folder / "examples" / page.parent.name)


def has_blocks(page: Path) -> bool:
    """Whether a page has anything to run."""
    blocks = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return any(block["kind"] in ("python", "console") for block in blocks)


def page_id(page: Path) -> str:
    """The name of a page in the tests: docs/cookbook/data.md is cookbook/data.md."""
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


def matches(expected: str, actual: str) -> bool:
    """Whether an output is the expected one, in which "..." stands for anything."""
    pattern = ".*".join(map(re.escape, expected.split("...")))
    return re.fullmatch(pattern, actual, re.DOTALL) is not None


class Shell:
    """Runs commands in the current folder, and ends what they left running."""

    def __init__(self, fresh: bool = False) -> None:
        """With `fresh`, pip and make do what they say."""
        self.programs = "" if fresh else PROGRAMS
        self.sessions: list[int] = []

    def run(self, command: str, status: int = 0) -> str:
        """What a command prints; a command that is expected to fail also prints its errors."""
        if move := re.fullmatch(r"cd (\S+)", command):
            os.chdir(move[1])  # every other command runs in a shell of its own
            return ""
        folder = Path(sys.executable).parent
        with subprocess.Popen(
            ["bash", "-c", f"{self.programs}\n{command}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if status else subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={
                **os.environ,
                "COLUMNS": "100",
                "GOODGAIN_PYTHON": sys.executable,
                "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
                # Whoever follows a page clones the repository; here it is this one.
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"url.{ROOT}.insteadOf",
                "GIT_CONFIG_VALUE_0": "https://github.com/goodgain/goodgain",
            },
        ) as process:
            self.sessions.append(process.pid)
            output, errors = process.communicate()
        if process.returncode != status:
            raise RuntimeError(
                f"{command}\nexit status {process.returncode}\n{output}{errors or ''}"
            )
        return output.strip("\n")

    def close(self) -> None:
        """End the servers that a page started."""
        for session in self.sessions:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(session, signal.SIGTERM)


def run_page(page: Path, output: Callable[[str, str, str], str], fresh: bool = False) -> str:
    """Run the blocks of a page in the current folder; the page with the output that `output` returns.

    `output` is called with each command or Python block, what it printed, and the output on the page.
    """
    namespace: dict[str, object] = {"__name__": f"docs_{page.stem}"}
    shell = Shell(fresh)
    last = ("", "")  # Python block, and what it printed

    def run_block(match: re.Match[str]) -> str:
        nonlocal last
        text = match["text"]
        if match["fresh"] and not fresh:
            return match[0]
        if match["title"]:
            path = Path(match["title"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif match["kind"] == "python":
            importlib.invalidate_caches()  # a command may have installed something
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(text, str(page), "exec"), namespace)
            last = (text, printed.getvalue())
        elif match["kind"] == "output":
            lines = output(last[0], last[1].strip("\n"), text.strip("\n"))
            return f"```output\n{lines}\n```"
        elif match["kind"] == "console":
            commands = [command[0] for command in COMMAND.finditer(text)]
            lines = COMMAND.sub(
                lambda command: run_command(
                    command, int(match["status"] or 0) if command[0] == commands[-1] else 0
                ),
                text,
            )
            return match[0].removesuffix(f"{text}```") + f"{lines}```"
        return match[0]

    def run_command(match: re.Match[str], status: int) -> str:
        lines = output(match[1], shell.run(match[1], status), match[2].strip("\n"))
        return f"$ {match[1]}\n" + (f"{lines}\n" if lines else "")

    path, sys.path[:] = sys.path[:], ["", *sys.path]  # files of the page can be imported
    try:
        return BLOCK.sub(run_block, page.read_text(encoding="utf-8"))
    finally:
        sys.path[:] = path
        shell.close()


def main() -> int:
    """Update or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    changed = 0
    for page in [page.resolve() for page in options.pages] or PAGES:
        if not has_blocks(page):
            continue
        before = page.read_text(encoding="utf-8")  # it may be edited while it is run
        with tempfile.TemporaryDirectory() as folder:
            enter(page, Path(folder))
            text = run_page(
                page,
                lambda _, actual, expected: expected if matches(expected, actual) else actual,
                options.fresh,
            )
            os.chdir(ROOT)
        if text != before:
            changed += 1
            if options.check:
                sys.stdout.writelines(difference(page, before, text))
            else:
                page.write_text(text, encoding="utf-8")
                print(f"updated {page.relative_to(ROOT)}")
    return int(options.check and changed > 0)


def difference(page: Path, before: str, text: str) -> list[str]:
    """The lines of a page that would change."""
    import difflib

    lines = before.splitlines(keepends=True), text.splitlines(keepends=True)
    return list(difflib.unified_diff(*lines, str(page), "now"))


if __name__ == "__main__":
    raise SystemExit(main())
