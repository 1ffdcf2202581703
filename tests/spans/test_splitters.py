"""Splitters: every chunk is where it says it is, and nothing is lost."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.errors import UsageError
from goodgain.spans.chunking import split_documents, splitter_of
from goodgain.spans.graphemes import is_boundary
from goodgain.spans.pieces import parse_chunk_id
from goodgain.spans.splitters import SPLITTERS, Splitter
from goodgain.spans.tokens import tokenizer_of

ALPHABET = [
    *"abcXYZ 019.,!?\n\t#-=`", "\n\n", "\r\n", ". ", "# ", "## Title\n", "e\u0301", "\u0301", "\u200d",
    "\ufe0f", "日本", "。", "ก็", "한", "\u1112\u1161\u11ab", "नमस्ते", "👨\u200d👩\u200d👧", "🇩🇪", "👍🏽",
    "\ud83d", "\x85", "\u2028", "word ", "Sentence one. Two? ",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(ALPHABET), max_size=60).map("".join)


@given(
    TEXTS,
    st.sampled_from(sorted(SPLITTERS)),
    st.integers(1, 12),
    st.integers(0, 11),
    st.sampled_from(["words", "characters"]),
)
def test_every_character_is_in_a_chunk_and_no_chunk_is_too_large(text, name, size, overlap, unit):
    overlap = min(overlap, size - 1)
    tokens = tokenizer_of(unit)
    starts = [start for start, _ in tokens.offsets(text)]
    chunks = Splitter(name, size=size, overlap=overlap, tokenizer=unit)(text)
    if not starts:
        assert chunks == []
        return
    covered = [0] * len(text)
    for start, end in chunks:
        assert 0 <= start < end <= len(text)
        assert is_boundary(text, start) and is_boundary(text, end)
        own = sum(start <= s < end for s in starts)
        assert own >= 1
        # A chunk above the size is one character that cannot be cut further.
        inner = [p for p in starts if start < p < end and is_boundary(text, p)]
        assert own <= size or not inner
        for i in range(start, end):
            covered[i] += 1
    assert all(covered)
    for (a, b), (c, d) in pairwise(chunks):
        assert a < c <= b < d
        assert sum(c <= s < b for s in starts) <= overlap
    if not overlap:
        assert "".join(text[a:b] for a, b in chunks) == text


@given(TEXTS)
def test_boundaries_never_tear_marks_from_their_base(text):
    for place in range(1, len(text)):
        if is_boundary(text, place):
            assert unicodedata.category(text[place]) not in ("Mn", "Me", "Mc")
            assert text[place] != "\u200d" and text[place - 1 : place + 1] != "\r\n"


def pieces(name, text, **options):
    return [text[a:b] for a, b in Splitter(name, **options)(text)]


def test_tokens_are_windows():
    assert pieces("tokens", "a b c d e", size=2) == ["a b ", "c d ", "e"]
    assert pieces("tokens", "a b c d e", size=3, overlap=1) == ["a b c ", "c d e"]
    assert pieces("tokens", " \n ", size=2) == []


def test_sentences_stay_whole():
    text = "Dr. No left at 3 p.m. on Friday. Did he? Yes! He met J. Smith, i.e. nobody. "
    text += "一つ目。二つ目。\n\nnew part"
    assert pieces("sentences", text, size=1000) == [text]
    parts = pieces("sentences", text, size=12)
    assert parts[0] == "Dr. No left at 3 p.m. on "  # longer than the size: between words
    assert "Did he? Yes! " in "".join(parts) and "He met J. Smith, i.e. nobody. " in parts
    assert parts[-1] == "一つ目。二つ目。\n\nnew part"
    assert pieces("sentences", text, size=4)[-3:] == ["一つ目。", "二つ目。\n\n", "new part"]
    short = "One two. Three four. Five six. Seven."
    assert pieces("sentences", short, size=6, overlap=3) == [
        "One two. Three four. ", "Three four. Five six. ", "Five six. Seven.",
    ]  # fmt: skip


def test_headings_begin_sections():
    text = (
        "intro\n\n# One\n\n## Inner\nbody\n```sh\n# comment\n```\nTitle\n-----\nlast\n#no heading\n"
    )
    assert pieces("headings", text) == [
        "intro\n\n", "# One\n\n## Inner\nbody\n```sh\n# comment\n```\n", "Title\n-----\nlast\n#no heading\n",
    ]  # fmt: skip
    assert pieces("headings", "# A\nx\n### B\ny\n", level=2) == ["# A\nx\n### B\ny\n"]
    assert pieces("headings", "# A\none two three four\n# B\nx", size=3) == [
        "# A\n", "one two three ", "four\n", "# B\nx",
    ]  # fmt: skip
    assert pieces("headings", "---\ntitle: a\n---\n# A\nx") == ["---\ntitle: a\n---\n", "# A\nx"]
    assert pieces("headings", "no heading at all") == ["no heading at all"]


def test_recursive_prefers_paragraphs():
    text = "one two three\n\nfour five\nsix seven\n\neight"
    assert pieces("recursive", text, size=7) == [
        "one two three\n\nfour five\nsix seven\n\n",
        "eight",
    ]
    assert pieces("recursive", text, size=4) == [
        "one two three\n\n", "four five\nsix seven\n\n", "eight",
    ]  # fmt: skip
    assert pieces("recursive", text, size=2) == [
        "one two ", "three\n\n", "four five\n", "six seven\n\n", "eight",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "sentance"}, "unknown splitter 'sentance'"),
        ({"size": 0}, "size must be a positive number of tokens, got 0"),
        ({"size": 2.5}, "size must be a positive number"),
        ({"size": True}, "size must be a positive number"),
        (
            {"size": 10, "overlap": 10},
            "overlap must be smaller than size, got overlap 10 and size 10",
        ),
        ({"overlap": 300}, "overlap must be smaller than size"),
        ({"size": 10, "overlap": -1}, "overlap must be a number of tokens from 0, got -1"),
        ({"name": "headings", "overlap": 3}, "an overlap needs a size"),
        ({"name": "headings", "level": 7}, "level must be from 1 to 6, got 7"),
        ({"name": "tokens", "level": 2}, "the splitter 'tokens' has no level"),
        ({"tokenizer": "gpt"}, "unknown tokenizer 'gpt'"),
        ({"tokenizer": 3}, "3 is not a tokenizer"),
    ],
)
def test_invalid_settings_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Splitter(**options)


# --- any splitter ---


def test_chunks_know_their_place():
    documents = {"a#1": "one two three four", "b": "  "}
    chunks = split_documents(documents, splitter_of("tokens", size=3, overlap=1))
    assert chunks.texts == {"a#1#0-14": "one two three ", "a#1#8-18": "three four"}
    for name, text in chunks.texts.items():
        piece = parse_chunk_id(name)
        assert documents[piece.doc][piece.start : piece.end] == text
    assert chunks.notes() == ["1 of 2 documents have no chunk"]


def test_functions_may_return_texts_or_places():
    text = "alpha beta. gamma  delta"
    for split in (
        lambda t: ["alpha beta.", "gamma delta"],  # with white space changed
        lambda t: [(0, 11), (12, 24)],
        lambda t: [{"start": 0, "end": 11}, {"text": "gamma  delta"}],
        lambda t: iter([t[:11], t[12:]]),
    ):
        assert split_documents({"d": text}, splitter_of(split)).texts == {
            "d#0-11": "alpha beta.", "d#12-24": "gamma  delta",
        }  # fmt: skip


def test_texts_that_repeat_are_located_in_order():
    text = "ab ab ab ab ab"
    split = splitter_of(lambda t: ["ab ab", "ab ab", "ab"])
    assert list(split_documents({"d": text}, split).texts) == ["d#0-5", "d#6-11", "d#12-14"]
    overlapping = splitter_of(lambda t: ["x one two", "one two y", "two y z"])
    chunks = split_documents({"d": "x one two y z one two y"}, overlapping)
    assert list(chunks.texts) == ["d#0-9", "d#2-11", "d#6-13"]
    assert chunks.ambiguous == 0


def test_texts_that_were_changed_are_counted():
    chunks = split_documents({"d": "plain text"}, splitter_of(lambda t: ["Summary: plain", "text"]))
    assert chunks.texts == {"d#?1": "Summary: plain", "d#6-10": "text"}
    assert chunks.notes() == [
        "1 of 2 chunks are not in their documents, for example one of 'd': the splitter changed their text, "
        "so they cover no judged span"
    ]


def test_parameters_reach_a_function():
    def halves(text, size, step=1):
        return [(i, min(i + size, len(text))) for i in range(0, len(text), size * step)]

    split = splitter_of(halves, size=2, parameters={"step": 1})
    assert list(split_documents({"d": "abc"}, split).texts) == ["d#0-2", "d#2-3"]
    with pytest.raises(UsageError, match="the splitter 'halves' has no parameter 'overlap'"):
        splitter_of(halves, size=2, overlap=1)
    with pytest.raises(UsageError, match="unknown parameter 'step' of a splitter"):
        splitter_of("tokens", parameters={"step": 1})
    with pytest.raises(UsageError, match="3 is not a splitter"):
        splitter_of(3)
    for answer in ("text", 3, [3], [(0, 99)], [(2, 2)], [None]):
        with pytest.raises(UsageError):
            split_documents({"d": "abc"}, splitter_of(lambda t, answer=answer: answer))


LONG = (
    "First sentence here. Second one follows! A third?\n\n" * 6
    + "# Title\n\nmore text at the end. "
) * 3


def located(documents, chunks):
    for name, text in chunks.texts.items():
        piece = parse_chunk_id(name)
        assert piece is not None and documents[piece.doc][piece.start : piece.end] == text


def test_langchain_splitters_as_they_are():
    module = pytest.importorskip("langchain_text_splitters")
    documents = {"d": LONG, "e": "short"}
    for splitter in (
        module.RecursiveCharacterTextSplitter(chunk_size=80, chunk_overlap=20),
        module.CharacterTextSplitter(separator="\n\n", chunk_size=120, chunk_overlap=0),
        module.MarkdownTextSplitter(chunk_size=100, chunk_overlap=0),
    ):
        chunks = split_documents(documents, splitter_of(splitter))
        assert len(chunks.texts) > 5 and not chunks.unlocated
        located(documents, chunks)
        expected = splitter.split_text(LONG)
        own = [n for n in chunks.texts if n.startswith("d#")]
        assert len(own) == len(expected)
        assert [" ".join(chunks.texts[n].split()) for n in own] == [
            " ".join(t.split()) for t in expected
        ]
    headers = module.MarkdownHeaderTextSplitter([("#", "h")])
    chunks = split_documents({"d": "# A\none\n\n# B\ntwo"}, splitter_of(headers))
    assert chunks.texts == {"d#4-7": "one", "d#13-16": "two"}
    with pytest.raises(UsageError, match="has its own size"):
        splitter_of(headers, size=10)


def test_llama_index_splitters_as_they_are():
    module = pytest.importorskip("llama_index.core.node_parser")
    documents = {"d": LONG, "e": "short"}
    for splitter in (
        module.TokenTextSplitter(chunk_size=30, chunk_overlap=5, tokenizer=str.split),
        module.SentenceSplitter(chunk_size=30, chunk_overlap=5, tokenizer=str.split),
        module.MarkdownNodeParser(),
    ):
        chunks = split_documents(documents, splitter_of(splitter))
        assert chunks.texts and not chunks.unlocated
        located(documents, chunks)
