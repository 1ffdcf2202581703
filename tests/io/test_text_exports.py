"""Text as databases export it: without a header, with empty parts, with a mark for NULL."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.errors import InputError
from goodgain.io.locations import store_errors

QRELS = {"1": {"2": 1, "3": 2}, "2": {"3": 1}, "9": {"2": 1}}
ROWS = [("1", "2", 0.5), ("1", "3", 0.25), ("1", "7", 4.0), ("2", "3", 1.0), ("2", "2", 3.0)]
EXPECTED = gg.evaluate(QRELS, ROWS, "nDCG@10 AP").runs[0].per_query
PLACES = {"query": "1", "doc": "2", "score": "3"}


def lines(rows, delimiter=",", quote=""):
    return "".join(
        f"{quote}{q}{quote}{delimiter}{quote}{d}{quote}{delimiter}{s}\n" for q, d, s in rows
    )


def values(run, **options):
    return gg.evaluate(QRELS, run, "nDCG@10 AP", **options).runs[0].per_query


@pytest.mark.parametrize(("suffix", "delimiter"), [("csv", ","), ("tsv", "\t"), ("csv.gz", ",")])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_file_without_a_header(tmp_path, suffix, delimiter, quote):
    path = tmp_path / f"run.{suffix}"
    quote = "" if delimiter == "\t" else quote
    data = lines(ROWS, delimiter, quote).encode()
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    assert values(path, columns=PLACES) == EXPECTED
    assert values(path, columns={role: int(place) for role, place in PLACES.items()}) == EXPECTED


def test_the_first_line_is_no_row_of_names(tmp_path):
    """Neither is a row lost nor are values taken for names."""
    path = tmp_path / "run.csv"
    path.write_text(lines(ROWS))
    with pytest.raises(InputError, match="the first line has values") as refused:
        values(path)
    assert "query=1,doc=2,score=3" in str(refused.value)
    path.write_text(lines([("1", "2", 3), *ROWS]))
    with pytest.raises(InputError, match="'1' could be the name or the place of a column"):
        values(path, columns=PLACES)


def test_a_header_and_places(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query,doc,score\n" + lines(ROWS))
    with pytest.raises(InputError, match="the score 'score' is not a number"):
        values(path, columns=PLACES)


def test_columns_named_by_numbers(tmp_path):
    """As data frames write them."""
    path = tmp_path / "run.csv"
    path.write_text("0,1,2\n" + lines(ROWS))
    assert values(path, columns={"query": "0", "doc": "1", "score": "2"}) == EXPECTED


def test_judgments_without_a_header(tmp_path):
    path = tmp_path / "qrels.csv"
    path.write_text("".join(f"{q},{d},{g}\n" for q, docs in QRELS.items() for d, g in docs.items()))
    columns = {"query": "1", "doc": "2", "gain": "3"}
    assert gg.Qrels(path, columns=columns).to_dict() == gg.Qrels(QRELS).to_dict()


@pytest.mark.parametrize("first", ["", "\ufeff", "\n"])
@pytest.mark.parametrize("has_header", [True, False])
def test_parts(tmp_path, has_header, first):
    """Empty ones may come first; errors name the line of the part."""
    header = "query,doc,score\n" if has_header else ""
    folder = tmp_path / "unload"
    folder.mkdir()
    for number, part in enumerate((ROWS[:2], [], ROWS[2:]), 1):
        text = (header if part else "") + lines(part)
        (folder / f"data_0_{number}_0.csv").write_text(text)
    (folder / "data_0_0_0.csv").write_text(first)
    columns = None if has_header else PLACES
    assert values(folder, columns=columns) == EXPECTED
    (folder / "data_0_3_0.csv").write_text(header + lines(ROWS[2:]) + "1,2,x\n")
    with pytest.raises(InputError, match=rf"data_0_3_0.csv:{4 + has_header}\b"):
        values(folder, columns=columns)


def test_the_first_part_of_json_lines_is_empty(tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "part-00000.json").write_text("")
    (folder / "part-00001.json").write_text(
        "".join(f'{{"query": "{q}", "doc": "{d}", "score": {s}}}\n' for q, d, s in ROWS)
    )
    assert values(folder) == EXPECTED


def test_null(tmp_path):
    path = tmp_path / "run.csv"
    for line, problem in (
        ("1,\\N,2\n", "missing document id"),
        ("\\N,2,2\n", "missing query id"),
        ("1,2,\\N\n", "is not a number"),
    ):
        path.write_text("query,doc,score\n" + lines(ROWS[:2]) + line)
        with pytest.raises(InputError, match=rf"{problem}.*\(.*run.csv:4\)"):
            values(path)
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("query,doc,gain,target\n1,2,1,t\n1,3,1,t\n1,4,1,\\N\n1,5,1,\\N\n")
    run = {"1": {"2": 5.0, "4": 4.0}}
    assert (
        gg.evaluate(qrels, run, "DR@10")["DR@10"]
        == gg.evaluate(
            [("1", "2", 1, "t"), ("1", "3", 1, "t"), ("1", "4", 1), ("1", "5", 1)], run, "DR@10"
        )["DR@10"]
    )


def test_parts_with_and_without_dictionaries(tmp_path):
    """A dictionary is only a way to write texts; pandas writes one for a category."""
    table = pa.table(dict(zip(("query", "doc", "score"), zip(*ROWS, strict=True), strict=True)))
    folder = tmp_path / "lake.parquet"
    folder.mkdir()
    coded = table.set_column(1, "doc", table.column("doc").dictionary_encode())
    pq.write_table(table[:2], folder / "part-0.parquet")
    pq.write_table(coded[2:], folder / "part-1.parquet")
    assert values(folder) == EXPECTED


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_names_of_folders_are_decoded(tmp_path, suffix):
    """Text in `run=...` gets the name that Parquet would get."""
    for name in ("two words%2F%25", "other"):
        folder = tmp_path / f"run={name}"
        folder.mkdir()
        if suffix == "csv":
            (folder / "part-0.csv").write_text("query,doc,score\n" + lines(ROWS))
        else:
            columns = zip(("query", "doc", "score"), zip(*ROWS, strict=True), strict=True)
            pq.write_table(pa.table(dict(columns)), folder / "part-0.parquet")
    assert set(gg.evaluate(QRELS, tmp_path, "AP").names) == {"two words/%", "other"}


def test_mixed_files(tmp_path):
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "README.md").write_text("about")
    pq.write_table(
        pa.table({"query": ["1"], "doc": ["2"], "score": [1.0]}), tmp_path / "part-0.parquet"
    )
    with pytest.raises(InputError, match=r"of different formats, such as .*README.md"):
        values(tmp_path)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (pa.ArrowException("Unknown error: AuthenticationException: no token"), "no credentials"),
        (OSError("UNAVAILABLE: Could not create a OAuth2 access token"), "no credentials"),
        (OSError("AWS Error ACCESS_DENIED during HeadObject operation"), "no credentials"),
        (OSError("AWS Error NETWORK_CONNECTION"), "cannot read"),
    ],
)  # fmt: skip
def test_errors_of_stores(error, problem):
    """Whatever class a file system raises, it is one sentence about the place."""
    with (
        pytest.raises(InputError, match=rf"^{problem} .*abfs://c@a/run.parquet"),
        store_errors("abfs://c@a/run.parquet"),
    ):
        raise error
