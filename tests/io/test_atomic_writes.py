"""Writing: whole files or none, devices and links as they are, nothing left behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from goodgain.cli import run
from goodgain.errors import InputError
from goodgain.io.atomic import write_files, write_texts


@pytest.fixture
def collection(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.0 a\n")
    return str(tmp_path / "qrels.txt"), str(tmp_path / "a.run")


def test_a_device_is_written_to_and_stays_a_device(collection):
    before = Path("/dev/null").stat()
    assert run(["evaluate", *collection, "-o", "/dev/null"]) == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert Path("/dev/null").stat().st_ino == before.st_ino


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_texts({str(pipe): "hello"})
    reader.join(10)
    assert received == [b"hello"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_a_link(tmp_path):
    real = tmp_path / "folder" / "real.txt"
    real.parent.mkdir()
    real.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    write_texts({str(link): "new"})
    assert link.is_symlink() and real.read_text() == "new"
    dangling = tmp_path / "dangling.txt"
    dangling.symlink_to(tmp_path / "folder" / "fresh.txt")
    write_texts({str(dangling): "new"})
    assert dangling.is_symlink() and (tmp_path / "folder" / "fresh.txt").read_text() == "new"


def test_permissions_are_kept_and_new_files_follow_the_umask(tmp_path):
    old = tmp_path / "old.txt"
    old.write_text("x")
    old.chmod(0o640)
    write_texts({str(old): "y"})
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    umask = os.umask(0o027)
    try:
        write_texts({str(tmp_path / "new.txt"): "y"})
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


def test_names_that_are_no_utf8(tmp_path):
    name = os.fsdecode(os.fsencode(str(tmp_path)) + b"/caf\xe9.txt")
    write_texts({name: "x"})
    assert Path(name).read_text() == "x"
    with pytest.raises(InputError, match="cannot write"):
        write_texts({name + "/below": "x"})


def test_all_or_none(tmp_path):
    def broken():
        yield b"half"
        raise OSError(28, "No space left on device")

    (tmp_path / "first").write_text("old")
    with pytest.raises(InputError, match="No space left on device"):
        write_files({str(tmp_path / "first"): b"new", str(tmp_path / "second"): broken()})
    assert (tmp_path / "first").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["first"]


SLOW = """
import sys, time
from goodgain.io.atomic import write_files
def pieces():
    yield b"half"
    print("started", flush=True)
    time.sleep(60)
write_files({sys.argv[1]: pieces()})
"""


def start_slow(target):
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(target)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"started\n"
    return process


def test_nothing_is_left_after_sigterm(tmp_path):
    process = start_slow(tmp_path / "out.txt")
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 143
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_kill_left_is_swept_by_the_next_write(tmp_path):
    process = start_slow(tmp_path / "out.txt")
    process.kill()
    process.wait(10)
    process.stdout.close()
    assert len(list(tmp_path.iterdir())) == 1
    living = start_slow(tmp_path / "out.txt")
    time.sleep(0.05)
    write_texts({str(tmp_path / "out.txt"): "done"})
    assert len(list(tmp_path.iterdir())) == 2  # what a living process writes is left alone
    living.kill()
    living.wait(10)
    living.stdout.close()
    write_texts({str(tmp_path / "out.txt"): "done"})
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize("option", ["-o", "--save", "--report"])
def test_an_input_is_never_the_output(collection, capsys, option):
    qrels, run_file = collection
    before = Path(run_file).read_text()
    assert run(["evaluate", qrels, run_file, option, run_file]) == 2
    assert "is an input, so it cannot be the output too" in capsys.readouterr().err
    assert Path(run_file).read_text() == before


def test_convert_does_not_overwrite_its_input(collection, capsys, tmp_path):
    _, run_file = collection
    link = tmp_path / "same.run"
    link.symlink_to(run_file)
    assert run(["convert", run_file, str(link)]) == 2
    assert Path(run_file).read_text() == "q1 Q0 d1 1 2.0 a\n"


@pytest.mark.parametrize("bad", ["a b", "a\nq1 Q0 forged 1 9 x", "#q", ""])
def test_ids_cannot_forge_lines(bad, tmp_path, capsys):
    """`fuse` and experiments write TREC lines by the same rules as `convert`."""
    import json

    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({bad: {"d": 1.0}}))
    status = run(
        [
            "fuse",
            str(tmp_path / "a.json"),
            str(tmp_path / "b.json"),
            "-o",
            str(tmp_path / "out.run"),
        ]
    )
    assert status == 2
    assert not (tmp_path / "out.run").exists()


def test_an_internal_error_is_one_sentence(monkeypatch, capsys, collection):
    import goodgain.cli.evaluate

    def broken(_args):
        raise ZeroDivisionError("division\nby zero " + "x" * 10_000)

    monkeypatch.setattr(goodgain.cli.evaluate, "run", broken)
    assert run(["evaluate", *collection, "--quiet"]) == 70
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("goodgain: internal error: ZeroDivisionError: division by zero")
    assert len(lines) == 2 and len(lines[0]) < 400
    path = lines[1].split("'")[1]
    text = Path(path).read_text()
    assert "Traceback" in text and "evaluate" in text
    Path(path).unlink()
