"""Every file slot of every command reads a pipe, as `<(zcat run.gz)` gives it, as it reads the file.

The slots come from the parsers. A pipe takes the place of the file, under its name, so that the outputs are
the same to the byte.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import signal
import socketserver
import threading
import time
from typing import TYPE_CHECKING

import pytest
from good_files import GOOD, build, lines_of
from slots import all_slots

from goodgain.cli import run

if TYPE_CHECKING:
    from pathlib import Path

SLOTS = {slot.name: slot for slot in all_slots()}
# A database is read at random places, and a folder is no stream.
NO_STREAMS = ("store",)
# What these print depends on the time, too.
TIMED = ("check", "experiment", "optimise")
OUTPUTS = ("out.txt", "out.csv", "out.jsonl", "out2.jsonl", "out.md", "new.yaml")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        build(folder)
    return folder


@pytest.fixture(autouse=True)
def _no_servers(monkeypatch):
    monkeypatch.setattr(socketserver.BaseServer, "serve_forever", lambda self, *a, **k: None)


def outcome(good: Path, folder: Path, line: str, name: str, piped: bool):
    """Status, what was said, and what was written."""
    shutil.copytree(good, folder)
    data = (folder / name).read_bytes()
    ended = threading.Event()

    def feed() -> None:
        """Write once, as a pipe does, when somebody reads."""
        while not ended.is_set():
            try:
                descriptor = os.open(folder / name, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads yet
                time.sleep(0.005)
                continue
            os.set_blocking(descriptor, True)
            with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
                pipe.write(data)
            return

    def stop(*_: object) -> None:
        raise TimeoutError("the command waits for a pipe")

    out, err = io.StringIO(), io.StringIO()
    out.buffer = io.BytesIO()
    words = [name if word == "@" else f"@{name}" if word == "@@" else word for word in line.split()]
    writer = threading.Thread(target=feed)
    before = signal.signal(signal.SIGALRM, stop)
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        if piped:
            (folder / name).unlink()
            os.mkfifo(folder / name)
            writer.start()
        signal.alarm(30)
        try:
            status = run(words)
        except SystemExit as stopped:
            status = stopped.code
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            ended.set()
            if piped:
                writer.join()
    text = out.getvalue() + out.buffer.getvalue().decode("utf-8", "replace")
    files = {
        name: (folder / name).read_text(errors="replace")
        for name in OUTPUTS
        if (folder / name).is_file()
    }
    said = re.sub(r"\b\d+(\.\d+)? ?m?s\b|http://\S+|\d{2}:\d{2}(:\d{2})?", "", text + repr(files))
    return status, said, err.getvalue()


@pytest.mark.parametrize("name", SLOTS)
def test_pipes(good, tmp_path, name):
    failures = []
    for number, (line, kind) in enumerate(lines_of(SLOTS[name])):
        if kind in NO_STREAMS or not (good / GOOD[kind]).is_file():
            continue
        expected = outcome(good, tmp_path / f"file{number}", line, GOOD[kind], piped=False)
        piped = outcome(good, tmp_path / f"pipe{number}", line, GOOD[kind], piped=True)
        same = piped[0] == expected[0] and (line.split()[0] in TIMED or piped[1] == expected[1])
        if not same:
            failures.append(f"{line}: {piped[0]} instead of {expected[0]}: {piped[2][:300]}")
    assert not failures, "\n".join(failures)
