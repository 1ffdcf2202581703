"""Tables of queries and documents without a header: an id, a tab, a text."""

from __future__ import annotations

import gzip
import json

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import InputError
from goodgain.io.texts import has_texts, read_texts

QRELS = {"q1": {"d1": 3, "d2": 0}, "q2": {"d4": 2}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q1\tjoin paths\nq2\twalk a folder\n", {"q1": "join paths", "q2": "walk a folder"}),
        ("1048585\twhat is it\r\n2\tb\r\n", {"1048585": "what is it", "2": "b"}),
        ('1\t"half a quote\n2\tsecond\tpart', {"1": '"half a quote', "2": "second\tpart"}),
        ("abc\ttwo words\n\ndef\tone\n", {"abc": "two words", "def": "one"}),
        ("7\ta\u2028b\n8\tc\n", {"7": "a\u2028b", "8": "c"}),
    ],
)
def test_lines_of_id_and_text(tmp_path, text, expected):
    path = tmp_path / "topics.tsv"
    path.write_bytes(text.encode())
    assert read_texts(path, "query").texts == expected
    packed = tmp_path / "topics.tsv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_texts(packed, "query").texts == expected


def test_a_header_is_still_a_header(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("query_id\ttext\nq1\tjoin paths\n")
    assert read_texts(path, "query").texts == {"q1": "join paths"}
    path.write_text("key\tphrase\nq1\tjoin paths\n")  # nobody knows whether these are names
    with pytest.raises(InputError, match="no column for the text of a query"):
        read_texts(path, "query")
    path.write_text("query\tkind\nq1\tlong\n")
    assert not has_texts(path)


def test_a_line_without_a_text_is_named(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("q1\tjoin paths\nq2 walk\n")
    with pytest.raises(InputError, match="expected an id, a tab and a text") as raised:
        read_texts(path, "query")
    assert raised.value.where.endswith("topics.tsv:2")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 3\nq1 0 d2 0\nq2 0 d4 2\n")
    for name, first in (("bm25", "d1"), ("knn", "d2")):
        (tmp_path / f"{name}.run").write_text(f"q1 Q0 {first} 1 2 x\nq2 Q0 d4 1 1 x\n")
    return tmp_path


def page_texts(path) -> list[str] | None:
    block = path.read_text().partition('id="data-queries">')[2].partition("</script>")[0]
    return json.loads(block)["texts"]


def test_compare_shows_the_texts_of_a_table_without_a_header(files):
    (files / "topics.tsv").write_text("q1\tjoin paths\nq2\twalk a folder\n")
    command = "compare qrels.txt bm25.run knn.run -m AP --queries topics.tsv --report page.html -q"
    assert run(command.split()) == 0
    assert page_texts(files / "page.html") == ["join paths", "walk a folder"]


def test_compare_does_not_ignore_a_table_that_it_cannot_read(files, capsys):
    (files / "topics.tsv").write_text("key\tphrase\nq1\tjoin paths\n")
    command = "compare qrels.txt bm25.run knn.run -m AP --queries topics.tsv --report page.html -q"
    assert run(command.split()) != 0
    assert "no column for the text of a query" in capsys.readouterr().err
    (files / "topics.tsv").write_text("query\tkind\nq1\tlong\nq2\tshort\n")
    assert run([*command.split(), "--by", "kind"]) == 0  # groups are enough
    assert page_texts(files / "page.html") is None


def test_the_page_says_how_many_queries_have_a_text(tmp_path):
    result = gg.evaluate(QRELS, {"x": {"q1": {"d1": 1.0}}}, "AP")
    page = tmp_path / "page.html"
    result.report(page, queries={"q1": "join paths", "q9": "?"})
    assert "texts of 1 of 2 queries" in page.read_text()
    result.report(page, queries={"q9": "?"})
    assert "texts of 0 of 2 queries" in page.read_text()
    result.report(page, queries={"q1": "join paths", "q2": "walk"})
    assert "texts of" not in page.read_text()
