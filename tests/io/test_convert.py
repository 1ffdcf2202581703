"""Every pair of formats gives the same table back; what a format cannot hold is refused or said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.errors import InputError, UsageError
from goodgain.io.convert import FORMATS, convert, converted_bytes, format_of
from goodgain.io.rows import rows_of
from goodgain.io.sources import resolve

ENDINGS = {
    "trec": ".txt", "csv": ".csv", "tsv": ".tsv", "jsonl": ".jsonl", "json": ".json", "beir": ".tsv",
    "parquet": ".parquet", "arrow": ".arrow",
}  # fmt: skip
IDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=6
).filter(lambda t: not t.startswith(("#", "{")) and not any(c.isspace() for c in t))
# With quotes, commas and blanks: what only some formats can hold.
ODD_IDS = st.text(st.sampled_from("ab é\"',;#{}[]文😀"), min_size=1, max_size=5).filter(
    lambda t: t.strip() == t and not t.startswith("#")
)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
GAINS = st.integers(-2, 4).map(float) | st.sampled_from([0.5, 1.25])


def tables(ids, numbers):
    """Rows without repeats; the rows of a query stand together."""
    docs = st.dictionaries(ids, numbers, min_size=1, max_size=4)
    return st.dictionaries(ids, docs, min_size=1, max_size=3).map(
        lambda t: [(q, d, v) for q, docs in t.items() for d, v in docs.items()]
    )


def read(path, kind):
    rows = rows_of(resolve(str(path), kind), kind)
    return list(zip(rows.query, rows.doc, rows.value, strict=True))


def round_trip(folder, rows, kind, first, second):
    one, other = folder / f"a{ENDINGS[first]}", folder / f"b{ENDINGS[second]}"
    convert(rows, str(one), to=first, kind=kind)
    assert read(one, kind) == rows
    done = convert(str(one), str(other), to=second, kind=kind)
    assert read(other, kind) == rows
    assert (done.rows, done.queries) == (len(rows), len({r[0] for r in rows}))


@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
def test_pairs(tmp_path, first, second):
    """All 64 pairs, each on a table with every trap that all formats can hold."""
    qrels = [
        ("q1", "d1", 2.0),
        ("q1", "é", -1.0),
        ("1", "007", 0.0),
        ("文", 'x,"y', 3.0),
        ("文", "a#b", 0.5),
    ]
    round_trip(tmp_path, qrels, "qrels", first, second)
    if "beir" not in (first, second):
        scores = [1e-310, -0.1, 1.0000000000000002, 123456789.123456789, 0.0]
        run = [(q, d, s) for (q, d, _), s in zip(qrels, scores, strict=True)]
        round_trip(tmp_path, run, "run", first, second)


@given(tables(IDS, SCORES), st.sampled_from(sorted(set(FORMATS) - {"beir"})), st.data())
def test_random_runs(tmp_path_factory, rows, first, data):
    second = data.draw(st.sampled_from(sorted(set(FORMATS) - {"beir"})))
    round_trip(tmp_path_factory.mktemp("c"), rows, "run", first, second)


@given(tables(IDS, GAINS), st.sampled_from(sorted(FORMATS)), st.sampled_from(sorted(FORMATS)))
def test_random_judgements(tmp_path_factory, rows, first, second):
    round_trip(tmp_path_factory.mktemp("c"), rows, "qrels", first, second)


@given(
    tables(ODD_IDS, SCORES), st.sampled_from(["csv", "tsv", "jsonl", "json", "parquet", "arrow"])
)
def test_odd_ids(tmp_path_factory, rows, form):
    round_trip(tmp_path_factory.mktemp("c"), rows, "run", form, "csv")


@pytest.mark.parametrize("ending", [".gz", ".zst", ".bz2", ".xz"])
def test_compressed(tmp_path, ending):
    rows = [("q", "d", 1.5), ("q", "e", 0.5)]
    convert(rows, str(tmp_path / f"r.csv{ending}"), kind="run")
    convert(str(tmp_path / f"r.csv{ending}"), str(tmp_path / f"r.txt{ending}"))
    assert read(tmp_path / f"r.txt{ending}", "run") == rows


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_targets_and_aspects_are_kept(tmp_path, form):
    rows = [("q", "a", 1.0, "t1", "x"), ("q", "a", 1.0, "t2", "y"), ("q", "b", 0.0, None, "x")]
    path = tmp_path / f"q{ENDINGS[form]}"
    assert convert(rows, str(path), kind="qrels").losses == ()
    found = rows_of(resolve(str(path), "qrels"), "qrels")
    assert list(zip(*found, strict=True)) == rows


def test_what_is_lost_is_said(tmp_path):
    rows = [("q", "a", 1.0, "t1", "x"), ("r", "b", 0.5, None, "y"), ("q", "c", 0.0, None, "x")]
    said = {
        form: converted_bytes(rows, form, kind="qrels")[1].losses
        for form in ("trec", "json", "beir")
    }
    cut = "gains that are no whole numbers are written as they are; trec_eval cuts them"
    assert said["trec"] == ("trec has no place for targets: they are left out", cut)
    assert said["json"] == (
        "json has no place for targets: they are left out",
        "json has no place for aspects: they are left out",
        "the rows of a query stand together in json: their order changes",
    )
    assert said["beir"][-1] == cut
    (tmp_path / "r.txt").write_text("q Q0 d 1 2.5 bm25\n")
    assert convert(str(tmp_path / "r.txt"), str(tmp_path / "r.json")).losses == (
        "json has no place for the run's name and the ranks: they are left out",
    )
    convert(str(tmp_path / "r.txt"), str(tmp_path / "s.txt"))
    assert (tmp_path / "s.txt").read_text() == "q Q0 d 1 2.5 bm25\n"


def test_ranks_follow_the_scores():
    rows = [("q", "a", 1.0), ("q", "c", 2.0), ("q", "b", 1.0)]
    assert converted_bytes(rows, "trec", kind="run", name="x")[0] == (
        b"q Q0 a 3 1.0 x\nq Q0 c 1 2.0 x\nq Q0 b 2 1.0 x\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.txt", "q 0 d 1\n", "qrels"),
        ("a.txt", "# runs\nq Q0 d 1 2.5 t\n", "run"),
        ("a.csv", "query,doc,gain\nq,d,1\n", "qrels"),
        ("a.csv", "qid,docno,score\nq,d,1\n", "run"),
        ("a.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n", "qrels"),
        ("a.jsonl", '{"query": "q", "doc": "d", "score": 1.5}\n', "run"),
        ("a.json", '{"q": {"d": 1}}', "qrels"),
        ("a.json", '{"q": {"d": 1.5}}', "run"),
    ],
)
def test_what_the_input_is(tmp_path, name, text, kind):
    (tmp_path / name).write_text(text)
    assert convert(str(tmp_path / name), str(tmp_path / "out.jsonl")).kind == kind


def test_refusals(tmp_path):
    with pytest.raises(UsageError, match="could be a run or judgements"):
        convert({"q": {"a": 1, "b": 0.5}}, str(tmp_path / "x.csv"))
    with pytest.raises(UsageError, match="BEIR's format is one of judgements"):
        convert({"q": {"a": 0.5}}, str(tmp_path / "x.tsv"), to="beir")
    with pytest.raises(UsageError, match=r"the ending of 'x.foo' names no format"):
        format_of("x.foo")
    with pytest.raises(UsageError, match="there is no format 'foo'"):
        format_of("x.csv", "foo")
    with pytest.raises(InputError, match="trec cannot hold the id 'a b'"):
        convert({"q": {"a b": 0.5}}, str(tmp_path / "x.txt"))
    with pytest.raises(InputError, match="tsv cannot hold the id"):
        convert({"q": {"a\tb": 0.5}}, str(tmp_path / "x.tsv"))
    with pytest.raises(InputError, match="json cannot hold document 'a' twice for query 'q'"):
        convert([("q", "a", 1.0), ("q", "a", 2.0)], str(tmp_path / "x.json"), kind="run")
    assert list(tmp_path.iterdir()) == []  # nothing was written


def test_ids_that_are_no_utf8(tmp_path):
    (tmp_path / "r.txt").write_bytes(b"q Q0 \xff 1 2.5 t\n")
    convert(str(tmp_path / "r.txt"), str(tmp_path / "r.csv"))
    assert (tmp_path / "r.csv").read_bytes() == b"query,doc,score\nq,\xff,2.5\n"
    with pytest.raises(InputError, match="which is no UTF-8"):
        convert(str(tmp_path / "r.txt"), str(tmp_path / "r.parquet"))


def test_command(tmp_path, capfd):
    from goodgain.cli import run

    (tmp_path / "q.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    source, target = str(tmp_path / "q.tsv"), str(tmp_path / "q.json")
    assert run(["convert", source, target]) == 0
    assert json.loads((tmp_path / "q.json").read_text()) == {"q": {"d": 1}}
    assert capfd.readouterr().err == f"wrote judgments to {target}: json, 1 rows, 1 queries\n"
    assert run(["convert", target, "-", "--to", "trec", "-q"]) == 0
    assert capfd.readouterr().out == "q 0 d 1\n"
    assert run(["convert", target, "-"]) == 2
    assert "format to write to standard output is unknown" in capfd.readouterr().err
