"""The suffix of an output chooses its format and its compression, unless --format does."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.io.compression import open_decompressed


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("out.csv", "run,measure,value,queries\n"), ("out.TSV", "run\tmeasure\tvalue\tqueries\n"),
        ("out.json", "[\n"), ("out.jsonl", '{"run": '), ("out.ndjson", '{"run": '),
        ("out.md", "| run |"), ("out.tex", "\\begin{tabular}"), ("out.txt", "run "), ("out", "run "),
    ],
)  # fmt: skip
def test_the_suffix_is_the_format(folder, name, beginning):
    assert run(["evaluate", "qrels.txt", "run.txt", "-q", "-o", name]) == 0
    assert Path(name).read_text().startswith(beginning)
    assert run(["evaluate", "qrels.txt", "run.txt", "-q", "-o", name, "--format", "table"]) == 0
    assert Path(name).read_text().startswith("run ")


@pytest.mark.parametrize(
    ("suffix", "opened"),
    [("gz", gzip.open), ("bz2", bz2.open), ("xz", lzma.open), ("zst", None)],
)
def test_compressed(folder, suffix, opened):
    name = f"out.csv.{suffix}"
    for words in (["-m", "AP"], ["-m", "AP", "--per-query"]):
        assert run(["evaluate", "qrels.txt", "run.txt", "-q", *words, "-o", name]) == 0
        assert run(["evaluate", "qrels.txt", "run.txt", "-q", *words, "-o", "out.csv"]) == 0
        stream = open_decompressed(name) if opened is None else opened(name)
        with stream:
            assert stream.read() == Path("out.csv").read_bytes()


def test_a_fused_run(folder):
    values = set()
    for name in ("fused.csv", "fused.tsv", "fused.jsonl", "fused.txt", "fused.run.gz"):
        assert run(["fuse", "run.txt", "run.txt", "-q", "-o", name]) == 0
        values.add(gg.evaluate("qrels.txt", name, "nDCG")["nDCG"])
    assert values == {gg.evaluate("qrels.txt", "run.txt", "nDCG")["nDCG"]}


@pytest.mark.parametrize("command", ["fuse run.txt run.txt", "compare qrels.txt run.txt other.txt"])
def test_what_cannot_be_written_is_refused(folder, capsys, command):
    (folder / "other.txt").write_text((folder / "run.txt").read_text())
    for name in ("out.parquet", "out.arrow"):
        assert run([*command.split(), "-q", "-o", name]) == 2
        assert f"'{name}'" in capsys.readouterr().err
        assert not Path(name).exists()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("fuse run.txt run.txt", "out.json"),
        ("explain qrels.txt run.txt -m AP", "out.csv"),
        ("labels export labels.db --annotator ann", "out.tsv"),
    ],
)
def test_formats_that_a_command_does_not_have(folder, capsys, line, name):
    assert run(["labels", "import", "labels.db", "qrels.txt", "--annotator", "ann"]) == 0
    assert run([*line.split(), "-o", name]) == 2
    assert f"'{name}'" in capsys.readouterr().err
    assert not Path(name).exists()


def test_side_files_keep_their_own_form(folder):
    for name in ("result.json", "result.json.gz"):
        assert run(["evaluate", "qrels.txt", "run.txt", "-q", "-o", "out.csv", "--save", name]) == 0
    assert json.loads(Path("result.json").read_text())["goodgain"]
    assert gg.load("result.json.gz").means == gg.load("result.json").means


def test_exported_labels(folder):
    assert run(["labels", "import", "labels.db", "qrels.txt", "--annotator", "ann"]) == 0
    export = ["labels", "export", "labels.db", "--annotator", "ann", "-o"]
    for name, beginning in (("out.qrels", "q"), ("out.csv", "query,doc"), ("out.jsonl", "{")):
        assert run([*export, name]) == 0
        assert Path(name).read_text().startswith(beginning)
    assert run([*export, "out.csv.gz"]) == 0
    assert gzip.decompress(Path("out.csv.gz").read_bytes()) == Path("out.csv").read_bytes()
    assert run([*export, "out.parquet"]) == 0
    assert Path("out.parquet").read_bytes().startswith(b"PAR1")


def test_lines_are_not_added_to_a_compressed_file(folder, capsys):
    (folder / "golden.yaml").write_text("cases:\n  - {id: a, query: x, relevant: [d1]}\n")
    for line in (
        "check golden.yaml --target run.txt --history out.jsonl.gz",
        "live mcp -o out.jsonl.gz -- python",
    ):
        assert run(line.split()) == 2
        assert "'out.jsonl.gz'" in capsys.readouterr().err
        assert not Path("out.jsonl.gz").exists()
