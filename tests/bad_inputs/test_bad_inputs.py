"""Every file slot of every command with every damage: one sentence, place, hint, status 2, nothing written.

The slots come from the parsers and the damages from a table, so that a new command or option is covered
as soon as it exists. Run in one process: thousands of cases take seconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import re
import shutil
import socketserver
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from damages import DAMAGES, HARMLESS, damaged_file
from good_files import GOOD, build, lines_of
from legal import LEGAL, is_legal
from slots import all_slots, kind_of, text_arguments

from goodgain.cli import COMMANDS, run
from goodgain.errors import plain

SLOTS = {slot.name: slot for slot in all_slots()}
STATUSES = {
    "trec-eval": (2, 4, 7)
}  # trec_eval's own: unreadable, not to be calculated, nothing to do


class Case(NamedTuple):
    """A command line with a damaged file, and what came of it."""

    line: str
    damage: str
    typed: str
    target: str  # where a link leads
    status: object
    out: str
    err: str
    written: list[str]

    def problems(self) -> list[str]:
        """What is wrong with how the command refused the file."""
        lines = self.err.rstrip("\n").split("\n")
        names = {Path(plain(path)).name[:60] for path in (self.typed, self.target)}
        if self.damage == "invalid UTF-8 in the middle":
            names.add("\\udc")  # the id that is wrong is shown itself
        allowed = STATUSES.get(self.line.split()[0], (2,))
        tests = {
            f"status {self.status}": self.status not in allowed,
            "traceback": "Traceback" in self.err,
            "output": self.out != "",
            "no sentence": not lines[0].startswith("goodgain: "),
            "more than one sentence": bool(re.search(r"\.\s+[A-Z]", lines[0])),
            "no hint": len(lines) < 2 or not lines[1].startswith("hint: ") or len(lines[1]) < 10,
            "more than two lines": len(lines) > 2,
            "no place": not any(name in lines[0] for name in names),
            "endless": len(self.err) > 1200,
            "unprintable": not all(c.isprintable() for line in lines for c in line),
            f"written: {self.written}": bool(self.written),
        }
        return [problem for problem, is_there in tests.items() if is_there]


class Folder:
    """The good files; every case begins with them as they were."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with contextlib.redirect_stdout(io.StringIO()):
            build(path)
        self.good = self.facts()
        self.copies = {
            name: (path / name).read_bytes() for name in self.good if (path / name).is_file()
        }

    def facts(self) -> dict[str, tuple[int, int]]:
        """Size and modification time of every file."""
        return {
            entry.name: (stat.st_size, stat.st_mtime_ns)
            for entry in os.scandir(self.path)
            if not entry.name.endswith(("-wal", "-shm"))  # SQLite's own, also while it reads
            for stat in [entry.stat(follow_symlinks=False)]
        }

    def changed(self, before: dict[str, tuple[int, int]]) -> list[str]:
        """What a command has written."""
        after = self.facts()
        return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))

    def clean(self) -> None:
        """Remove what is new and restore what has changed."""
        for name in self.changed(self.good):
            path = self.path / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            if name in self.copies:
                path.write_bytes(self.copies[name])
        self.good = self.facts()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bad_inputs")
    before = Path.cwd()
    os.chdir(path)
    yield Folder(path)
    os.chdir(before)


@pytest.fixture(autouse=True)
def _no_servers(monkeypatch):
    """A page that is served would be served for ever."""
    monkeypatch.setattr(socketserver.BaseServer, "serve_forever", lambda self, *a, **k: None)


@contextlib.contextmanager
def obeying_permissions():
    """Root obeys the permissions of files while it lacks two capabilities."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, data) == 0
    effective = data[0]
    data[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, data) == 0
    try:
        yield
    finally:
        data[0] = effective
        assert libc.capset(header, data) == 0


def attempt(folder: Folder, line: str, good: str, damage: str) -> Case:
    """Run a command line with a damaged file."""
    typed = damaged_file(damage, good)
    words = [
        typed if word == "@" else f"@{typed}" if word == "@@" else word for word in line.split()
    ]
    before = folder.facts()
    out, err = io.StringIO(), io.StringIO()
    out.buffer = io.BytesIO()
    guard = obeying_permissions() if damage == "unreadable" else contextlib.nullcontext()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), guard:
        try:
            status = run(words)
        except SystemExit as stopped:  # argparse's way out
            status = stopped.code
        except BaseException as error:
            status = f"{type(error).__name__}: {error}"
    text = out.getvalue() + out.buffer.getvalue().decode("utf-8", "replace")
    target = os.path.realpath(typed)
    case = Case(line, damage, typed, target, status, text, err.getvalue(), folder.changed(before))
    folder.clean()
    return case


@pytest.mark.parametrize("name", SLOTS)
def test_bad_inputs(folder, name):
    failures = []
    for line, kind in lines_of(SLOTS[name]):
        for damage in DAMAGES:
            case = attempt(folder, line, GOOD[kind], damage)
            if case.status in (0, 1, 3) and is_legal(kind, damage, line):
                wrong = ["a warning about nothing"] if "Traceback" in case.err else []
            else:
                wrong = case.problems()
            if wrong:
                failures.append(f"{line} | {damage} | {', '.join(wrong)} | {case.err[:300]}")
    assert not failures, f"{len(failures)} failures\n" + "\n".join(failures)


@pytest.mark.parametrize("name", SLOTS)
def test_good_files_are_read(folder, name):
    """The lines of the table are right: with a good file they succeed."""
    for line, kind in lines_of(SLOTS[name]):
        case = attempt(folder, line, GOOD[kind], "blank lines at the end")
        assert case.status in (0, 1, 3), case


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_is_classified(command):
    for action in text_arguments(command):
        try:
            kind = kind_of(command, action)
        except KeyError:
            pytest.fail(f"is {action.option_strings or action.dest} a file? say so in slots.py")
        assert kind is None or kind in GOOD


def test_the_table_is_large_and_its_exceptions_are_few():
    cases = sum(len(lines_of(slot)) for slot in SLOTS.values()) * len(DAMAGES)
    assert cases >= 2_000
    assert set(HARMLESS) <= set(DAMAGES)
    unknown = {damage for damages in LEGAL.values() for damage in damages} - set(DAMAGES)
    assert not unknown
