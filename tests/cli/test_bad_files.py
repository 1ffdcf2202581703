"""Files that cannot be used as a whole, and two that do not fit together."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import sys

import pytest
from refusals import RUN, put, refused

from goodgain.cli import run

# --- whole files ---


@pytest.mark.parametrize(
    "name", ["empty.txt", "empty.csv", "empty.jsonl", "empty.json", "empty.tsv"]
)
def test_empty_file(folder, capsys, name):
    put(folder, name, "")
    for arguments in ((name, "run.txt"), ("qrels.txt", name)):
        err = refused(*arguments, capsys=capsys)
        assert name in err and re.search(r"empty|no results|no judgements|invalid JSON", err)


@pytest.mark.parametrize("text", ["\n\n", "# only a comment\n", "   \n"])
def test_file_without_a_row(folder, capsys, text):
    put(folder, "bare.txt", text)
    for arguments in (("bare.txt", "run.txt"), ("qrels.txt", "bare.txt")):
        assert "bare.txt" in refused(*arguments, capsys=capsys)


def test_header_without_a_row(folder, capsys):
    put(folder, "bare.csv", "query,doc,score\n")
    refused("qrels.txt", "bare.csv", capsys=capsys, says="the run is empty", where="bare.csv")


def test_no_such_file(folder, capsys):
    for name in ("nowhere.txt", "nowhere.parquet", "nowhere.txt.gz", "nowhere.json"):
        for arguments in ((name, "run.txt"), ("qrels.txt", name)):
            refused(*arguments, capsys=capsys, says="file not found: 'nowhere", hint="spelling")


@pytest.mark.parametrize(
    "name", ["folder", "folder.csv", "folder.json", "folder.gz", "folder.arrow"]
)
def test_directory(folder, capsys, name):
    (folder / name).mkdir()
    for arguments in ((name, "run.txt"), ("qrels.txt", name)):
        refused(*arguments, capsys=capsys, says=(f"'{name}'", "directory"))


def test_file_that_may_not_be_read(folder, capsys):
    (folder / "run.txt").chmod(0)
    if os.access("run.txt", os.R_OK):
        pytest.skip("the tests run as a user who may read everything")
    refused("qrels.txt", "run.txt", capsys=capsys, says="may not be read")


@pytest.mark.parametrize("name", ["run.txt.gz", "run.csv.gz", "run.json.gz", "run.jsonl.gz"])
def test_truncated_gzip(folder, capsys, name):
    put(folder, name, gzip.compress((RUN * 500).encode())[:-30])
    refused("qrels.txt", name, capsys=capsys, says="cannot decompress", where=name, hint="complete")


def test_damaged_gzip(folder, capsys):
    data = bytearray(gzip.compress(NOISE * 3))
    data[len(data) // 2] ^= 0xFF
    put(folder, "run.txt.gz", bytes(data))
    refused("qrels.txt", "run.txt.gz", capsys=capsys, says="cannot decompress", where="run.txt.gz")


@pytest.mark.parametrize("name", ["run.txt.gz", "run.txt.bz2", "run.txt.xz", "run.txt.zst"])
def test_what_is_not_compressed_at_all(folder, capsys, name):
    put(folder, name, RUN)
    refused("qrels.txt", name, capsys=capsys, says="cannot decompress", where=name, hint="")


@pytest.mark.parametrize("ending", ["bz2", "xz", "zst"])
def test_other_truncated_files(folder, capsys, ending):
    import bz2
    import lzma

    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    pack = {"bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}[ending]
    put(folder, f"run.txt.{ending}", pack(NOISE)[:-2000])
    refused("qrels.txt", f"run.txt.{ending}", capsys=capsys, says="cannot decompress", hint="")


NOISE = random.Random(5).randbytes(5000)
BINARY = {
    "elf.txt": b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 20,
    "zeros.txt": bytes(5000),
    "random.txt": NOISE,
    "gzip without its ending": gzip.compress(RUN.encode() * 100),
    "parquet.txt": b"PAR1" + NOISE[:100] + b"PAR1",
    "utf16.txt": RUN.encode("utf-16"),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_file(folder, capsys, name):
    put(folder, name, BINARY[name])
    for arguments in ((name, "run.txt"), ("qrels.txt", name)):
        err = refused(*arguments, capsys=capsys)
        assert name in err
        assert all(c.isprintable() for line in err.splitlines() for c in line), repr(err)


@pytest.mark.parametrize("name", ["run.parquet", "run.arrow", "run.feather"])
def test_what_is_no_arrow_file(folder, capsys, name):
    put(folder, name, RUN)
    err = refused("qrels.txt", name, capsys=capsys)
    assert name in err


def test_a_long_line_is_not_shown_whole(folder, capsys):
    put(folder, "long.txt", "x" * 100_000 + "\n")
    assert len(refused("qrels.txt", "long.txt", capsys=capsys)) < 1000


# --- the two together ---


def test_no_query_in_common(folder, capsys):
    put(folder, "other.txt", "topic-7 Q0 a 1 1 t\n")
    refused(
        "qrels.txt",
        "other.txt",
        capsys=capsys,
        says=("'topic-7'", "'q1'"),
        where="other.txt",
        hint="same query ids",
    )


def test_swapped_files(folder, capsys):
    refused(
        "run.txt",
        "qrels.txt",
        capsys=capsys,
        says="6 columns",
        where="run.txt:1",
        hint="looks like a run",
    )


@pytest.mark.parametrize("role", ["query", "doc"])
def test_ids_that_differ_only_by_type(folder, capsys, role):
    """In a JSON file 1 and "1" are different ids."""
    put(folder, "q.json", json.dumps([{"query": "1", "doc": "1", "gain": 1}]))
    put(folder, "r.json", json.dumps([{"query": "1", "doc": "1", "score": 2.5} | {role: 1}]))
    refused(
        "q.json",
        "r.json",
        capsys=capsys,
        says=("text", "integers"),
        where="r.json",
        hint="convert one side",
    )


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("none.txt", "file not found: 'none.txt'"),
        ("folder", "'folder' is a directory"),
        ("run.txt.gz", "cannot decompress the file"),
    ],
)
def test_convert_refuses_unreadable_files_too(folder, capsys, source, says):
    (folder / "folder").mkdir()
    put(folder, "run.txt.gz", gzip.compress(RUN.encode())[:-12])
    assert run(["convert", source, "out.txt"]) == 2
    assert capsys.readouterr().err.startswith(f"goodgain: {says}")
    assert not (folder / "out.txt").exists()
