"""Compressed files of several streams, members or frames, and what may follow them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys

import pytest

import goodgain as gg
from goodgain.errors import InputError

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}
PARTS = (b"q1 Q0 a 1 2 t\n", b"q2 Q0 b 1 2 t\nq2 Q0 a 2 1 t\n")


@pytest.fixture(params=PACK)
def packed(request, tmp_path):
    """A file of pieces, each compressed by itself unless it is what follows."""

    def write(*pieces, after=b""):
        path = tmp_path / f"run.txt.{request.param}"
        path.write_bytes(b"".join(map(PACK[request.param], pieces)) + after)
        return path

    return write


def test_streams_are_read_in_turn(packed):
    for pieces in (PARTS, (b"", *PARTS), (PARTS[0], b"", PARTS[1], b"")):
        assert gg.evaluate(QRELS, packed(*pieces), "RR")["RR"] == 0.75
    many = b"".join(f"q3 Q0 d{i} 1 {i} t\n".encode() for i in range(60_000))
    result = gg.evaluate(QRELS, packed(PARTS[0], many, PARTS[1]), "RR")
    assert result["RR"] == 0.75


def test_a_second_stream_that_is_damaged_is_not_left_out(packed):
    """Python's readers of bz2 and xz end before it, as if the first half were the whole."""
    path = packed(*PARTS)
    size = len(packed(PARTS[0]).read_bytes())
    content = bytearray(packed(*PARTS).read_bytes())
    content[size] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot decompress the file"):
        gg.evaluate(QRELS, path, "RR")
    for end in range(size + 1, len(content)):
        path.write_bytes(packed(*PARTS).read_bytes()[:end])
        with pytest.raises(InputError, match="cannot decompress the file"):
            gg.evaluate(QRELS, path, "RR")


def test_what_follows(packed):
    with pytest.raises(InputError, match="cannot decompress the file"):
        gg.evaluate(QRELS, packed(*PARTS, after=b"garbage!"), "RR")
    path = packed(*PARTS, after=bytes(512))  # tapes pad with zeros; xz allows it
    if path.suffix == ".bz2":
        with pytest.raises(InputError, match="cannot decompress the file"):
            gg.evaluate(QRELS, path, "RR")
    else:
        assert gg.evaluate(QRELS, path, "RR")["RR"] == 0.75


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are POSIX")
def test_no_temporary_folder(tmp_path):
    """Nothing may be written at all, as in a container that is read-only."""
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"
        "from goodgain.cli import run; sys.exit(run(['evaluate', 'qrels.txt', '-']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=PARTS[0], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"goodgain: there is no temporary folder that can be written to")
