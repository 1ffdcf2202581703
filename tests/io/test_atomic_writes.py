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


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_is_appended_to_where_the_shell_says_so(collection, tmp_path, name):
    """`>> log` makes /dev/stdout a regular file, which must neither be replaced nor cut."""
    if name == "link":
        name = str(tmp_path / "link")
        Path(name).symlink_to("/dev/stdout")
    log = tmp_path / "log.txt"
    log.write_text("kept\n")
    before = log.stat().st_ino
    command = [sys.executable, "-m", "goodgain", "fuse", collection[1], collection[1], "-o", name]
    with log.open("a") as stream:
        subprocess.run(command, stdout=stream, check=True)
    lines = log.read_text().splitlines()
    assert lines[0] == "kept" and len(lines) == 2 and lines[1].startswith("q1 Q0 d1 1 ")
    assert log.stat().st_ino == before


def test_a_descriptor_that_is_not_open(tmp_path):
    with pytest.raises(InputError, match="cannot write '/dev/fd/999999': Bad file descriptor"):
        write_texts({"/dev/fd/999999": "x"})


def test_the_longest_name_that_a_folder_can_hold(tmp_path):
    for name in ("x" * 255, "\N{GREEK SMALL LETTER ALPHA}" * 127):
        write_texts({str(tmp_path / name): "y"})
        assert (tmp_path / name).read_text() == "y"
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(InputError, match="File name too long"):
        write_texts({str(tmp_path / ("x" * 256)): "y"})


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root changes owners")
def test_the_owner_is_kept(tmp_path):
    old = tmp_path / "old.txt"
    old.write_text("x")
    os.chown(old, 1234, 2345)
    old.chmod(0o2750)
    write_texts({str(old): "y"})
    status = old.stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)
    assert stat.S_IMODE(status.st_mode) == 0o2750


def test_a_new_content_is_never_open_to_others(tmp_path, monkeypatch):
    """Between its creation and chmod, too: who opened the file then could read what is written later."""
    old = tmp_path / "secret.txt"
    old.write_text("x")
    old.chmod(0o600)
    modes = []
    opened = os.open
    monkeypatch.setattr(os, "open", lambda *a, **k: (modes.append(a[2]), opened(*a, **k))[1])
    write_texts({str(old): "y"})
    assert modes == [0o600]


def test_a_file_that_is_read_only_is_not_replaced(tmp_path, monkeypatch):
    old = tmp_path / "old.txt"
    old.write_text("x")
    old.chmod(0o444)
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda p, m: Path(p) != old and allowed(p, m)
    )  # tests may run as root
    with pytest.raises(InputError, match=r"cannot write '.*old.txt': Permission denied"):
        write_texts({str(old): "y"})
    assert old.read_text() == "x"


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
    for _ in range(600):  # CPython 3.14 may see a signal from before a sleep only after it
        time.sleep(0.1)
write_files({sys.argv[1]: pieces()})
"""


def start_slow(target):
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(target)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"started\n"
    return process


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_nothing_is_left_after_a_request_to_end(tmp_path, name):
    process = start_slow(tmp_path / "out.txt")
    process.send_signal(getattr(signal, name))
    assert process.wait(10) == 128 + getattr(signal, name)
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


@pytest.mark.parametrize("form", ["name=FILE", "folder", "glob", "hard link"])
def test_an_input_by_another_name_is_never_the_output(collection, capsys, form):
    qrels, run_file = collection
    folder = Path(run_file).parent
    if form == "hard link":
        os.link(run_file, folder / "other.run")
    argument = {"name=FILE": f"a={run_file}", "folder": str(folder), "glob": str(folder / "*.run"),
                "hard link": str(folder / "other.run")}[form]  # fmt: skip
    before = Path(run_file).read_text()
    assert run(["compare", qrels, argument, run_file + ".other", "-o", run_file]) == 2
    assert "is an input, so it cannot be the output too" in capsys.readouterr().err
    assert Path(run_file).read_text() == before


def test_the_files_of_an_experiment_are_never_the_output(tmp_path, capsys):
    (tmp_path / "docs.jsonl").write_text('{"id": "d", "text": "x"}\n')
    (tmp_path / "e.toml").write_text('corpus = "docs.jsonl"\n')
    assert run(["experiment", str(tmp_path / "e.toml"), "-o", str(tmp_path / "docs.jsonl")]) == 2
    assert "is an input, so it cannot be the output too" in capsys.readouterr().err


def test_traces_are_never_their_ledger(tmp_path, capsys):
    (tmp_path / "t.jsonl").write_text('{"conversation": "c", "turns": []}\n')
    assert run(["trace", str(tmp_path / "t.jsonl"), "--ledger", str(tmp_path / "t.jsonl")]) == 2
    assert "is an input, so it cannot be the output too" in capsys.readouterr().err


@pytest.mark.parametrize("other", ["out.txt", "./out.txt", "link.txt"])
def test_two_outputs_are_never_one_file(collection, capsys, monkeypatch, tmp_path, other):
    monkeypatch.chdir(tmp_path)
    Path("link.txt").symlink_to("out.txt")
    assert run(["evaluate", *collection, "-o", "out.txt", "--save", other]) == 2
    assert "is the output of two options" in capsys.readouterr().err
    assert not Path("out.txt").exists()
    assert run(["evaluate", *collection, "-o", "/dev/null", "--save", "/dev/null"]) == 0


def test_convert_does_not_overwrite_its_input(collection, capsys, tmp_path):
    _, run_file = collection
    link = tmp_path / "same.run"
    link.symlink_to(run_file)
    assert run(["convert", run_file, str(link)]) == 2
    assert Path(run_file).read_text() == "q1 Q0 d1 1 2.0 a\n"


@pytest.mark.parametrize("bad", ["a b", "a\nq1 Q0 forged 1 9 x", "#q", "\ufeffq", ""])
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


@pytest.mark.parametrize("bad", ["q\nmap\tall\t1.0", "q 1", "q\t1", "q\u2028", "q\x1b[2J", ""])
def test_ids_cannot_forge_values_of_trec_eval(bad, tmp_path, capsys):
    import json

    (tmp_path / "qrels.json").write_text(json.dumps({bad: {"d": 1}}))
    (tmp_path / "run.json").write_text(json.dumps({bad: {"d": 1.0}}))
    command = ["trec-eval", "-m", "map", str(tmp_path / "qrels.json"), str(tmp_path / "run.json")]
    assert run(command) == 0
    capsys.readouterr()
    assert run([*command, "-q"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and "the output of trec_eval cannot hold" in printed.err


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
