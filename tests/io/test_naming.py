"""One way to name a system after its file, and one way to number equal names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.io.naming import COMPRESSIONS, FORMATS, format_of, system_name, unique_names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("gpt-4.1.jsonl", "gpt-4.1"),
        ("gpt-4.5.jsonl", "gpt-4.5"),
        ("runs/bm25.run.gz", "bm25"),
        ("bm25.gz", "bm25"),
        ("run.v2", "run.v2"),
        ("run.v2.txt", "run.v2"),
        ("run.txt.txt", "run.txt"),
        ("BM25.TXT.GZ", "BM25"),
        ("bm25", "bm25"),
        (".run", ".run"),
        (".gz", ".gz"),
        ("-", "stdin"),
        ("<stdin>", "stdin"),
        ("s3://bucket/runs/dense.parquet", "dense"),
        ("s3://bucket/runs/dense.v1.parquet/", "dense.v1"),
        (Path("some.folder") / "agent.json", "agent"),
    ],
)
def test_system_name(path, name):
    assert system_name(path) == name


@pytest.mark.parametrize("compression", ["", *COMPRESSIONS])
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_suffix_is_cut_off(suffix, compression):
    assert system_name(f"x/a.b{suffix}{compression}") == "a.b"
    assert format_of(f"x/a.b{suffix}{compression}") == FORMATS[suffix]


def test_unknown_suffixes_have_no_format():
    assert format_of("run.v2") is None
    assert format_of("run") is None
    assert format_of("-") is None


@pytest.mark.parametrize(
    ("names", "unique"),
    [
        (["a", "b"], ["a", "b"]),
        (["run", "run"], ["run#1", "run#2"]),
        (["run", "other", "run", "run"], ["run#1", "other", "run#2", "run#3"]),
        (["run", "run#2", "run"], ["run#1", "run#2", "run#3"]),
        (["run#1", "run", "run"], ["run#1", "run#2", "run#3"]),
        ([], []),
    ],
)
def test_unique_names(names, unique):
    assert unique_names(names) == unique


@given(st.lists(st.sampled_from(["a", "b", "a#1", "a#2", "a#1#1"])))
def test_unique_names_are_unique(names):
    unique = unique_names(names)
    assert len(set(unique)) == len(names)
    assert unique_names(unique) == unique
    assert all(new == old for new, old in zip(unique, names, strict=True) if names.count(old) == 1)
