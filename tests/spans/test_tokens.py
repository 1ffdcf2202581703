"""Tokenizers: counts and places, from names, functions and objects of other packages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.errors import InputError, MissingExtraError, UsageError
from goodgain.spans.tokens import TokenCounts, tokenizer_of


@given(st.text())
def test_words_are_counted_as_they_are_placed(text):
    tokens = tokenizer_of("words")
    places = tokens.offsets(text)
    assert tokens.count(text) == len(places)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(a[1] <= b[0] for a, b in pairwise(places))
    outside = set(range(len(text))) - {i for start, end in places for i in range(start, end)}
    assert all(text[i].isspace() for i in outside)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0), ("two words", 2), ("don't", 3), ("snake_case x1", 2), ("日本語", 3), ("カタカナ", 4),
        ("नमस्ते", 1), ("e\u0301te\u0301", 1), ("สวัสดี", 4), ("한국어 말", 2), ("naïve café", 2), ("👍🏽", 1),
        ("a,b;c", 5),
    ],
)  # fmt: skip
def test_words(text, count):
    assert tokenizer_of(None).count(text) == count


def test_functions():
    text = "ab cd"
    for function in (
        lambda t: [(0, 2), (3, 5)],
        lambda t: ["ab", "cd"],
        str.split,
    ):
        tokens = tokenizer_of(function)
        assert tokens.count(text) == 2 and list(tokens.offsets(text)) == [(0, 2), (3, 5)]
    for counting in (lambda t: 2, lambda t: [17, 4]):
        assert tokenizer_of(counting).count(text) == 2
        with pytest.raises(UsageError, match="does not say where tokens lie"):
            tokenizer_of(counting).offsets(text)
    for bad in (lambda t: None, lambda t: -1, lambda t: 2.5, lambda t: True):
        with pytest.raises(UsageError, match="returned"):
            tokenizer_of(bad).count(text)
    with pytest.raises(InputError, match="the token 'xy' of the tokenizer"):
        tokenizer_of(lambda t: ["xy"]).offsets(text)
    with pytest.raises(UsageError, match="returned the offsets 0 to 9 for a text of 5 characters"):
        tokenizer_of(lambda t: [(0, 9)]).offsets(text)


def test_tokens_belong_to_where_they_begin():
    counts = TokenCounts(tokenizer_of("words"), {"d": "alpha beta gamma"})
    assert counts.between("d", 0, 16) == 3
    assert counts.between("d", 1, 7) == 1  # beta begins in it, alpha does not
    assert counts.between("d", 0, 6) + counts.between("d", 6, 16) == 3
    assert counts.between("missing", 0, 6) == 0


def test_tokenizers_objects():
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"ab": 0, "cd": 1, "[UNK]": 2}, unk_token="[UNK]")
    )
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokens = tokenizer_of(model)
    assert tokens.count("ab cd xy") == 3
    assert list(tokens.offsets("ab cd xy")) == [(0, 2), (3, 5), (6, 8)]


def test_tiktoken_objects():
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding(
        "bytes",
        pat_str=r"\S+|\s+",
        mergeable_ranks={bytes([i]): i for i in range(256)},
        special_tokens={},
    )
    tokens = tokenizer_of(encoding)
    assert tokens.count("aé b") == 5  # é has two bytes
    assert [start for start, _ in tokens.offsets("aé b")] == [0, 1, 1, 2, 3]


def test_tiktoken_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", None)
    with pytest.raises(MissingExtraError, match="needs the package tiktoken"):
        tokenizer_of("tiktoken:cl100k_base")
