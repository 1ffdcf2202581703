"""BM25 of the core against its definition, and against itself: threads, blocks, ties, Unicode."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain._core import KeywordIndex
from goodgain.errors import UsageError
from goodgain.experiment.retrievers import BM25, KNN
from goodgain.experiment.retrievers.bm25 import ENGLISH, METHODS, word_ranges
from goodgain.experiment.stages import Stages

WORDS = [
    "river", "Stone", "bridge", "garden", "House", "with", "the", "naïve", "ÜBER", "数据", "snake_case",
    "x1",
]  # fmt: skip


def corpus(documents: int, longest: int, seed: int = 3) -> dict[str, str]:
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return {
        f"d{i}": " ".join(rng.choice(WORDS, rng.integers(0, longest), p=weights / weights.sum()))
        for i in range(documents)
    }


def words_of(text: str, stopwords=frozenset(ENGLISH)) -> list[str]:
    return [w for w in re.findall(r"(?u)\b\w\w+\b", text.lower()) if w not in stopwords]


def idf(method: str, n: int, df: int) -> float:
    if method == "robertson":
        return math.log(max(1, (n - df + 0.5) / (df + 0.5)))
    if method == "atire":
        return math.log(n / df)
    if method == "bm25l":
        return math.log((n + 1) / (df + 0.5))
    if method == "bm25+":
        return math.log((n + 1) / df)
    return math.log(1 + (n - df + 0.5) / (df + 0.5))


def frequency(method: str, tf: int, length: float, k1: float) -> float:
    if method == "atire":
        return tf * (k1 + 1) / (tf + k1 * length)
    if method == "bm25l":
        return (k1 + 1) * (tf / length + 0.5) / (k1 + tf / length + 0.5)
    if method == "bm25+":
        return (k1 + 1) * tf / (k1 * length + tf) + 0.5
    return tf / (tf + k1 * length)


def by_definition(documents, query, method="lucene", k1=1.5, b=0.75):
    """Scores of all documents that share a word with the query, in 64 bits."""
    counts = {doc: Counter(words_of(text)) for doc, text in documents.items()}
    lengths = {doc: sum(own.values()) for doc, own in counts.items()}
    mean = sum(lengths.values()) / len(lengths)
    frequencies = Counter(word for own in counts.values() for word in own)
    asked_for = [w for w in words_of(query) if w in frequencies]
    scores = {}
    for doc, own in counts.items():
        if not any(word in own for word in asked_for):
            continue
        length = 1 - b + b * lengths[doc] / mean
        scores[doc] = math.fsum(
            idf(method, len(documents), frequencies[w]) * frequency(method, own[w], length, k1)
            for w in asked_for
        )
    return {doc: score for doc, score in scores.items() if round(score, 6) > 0}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("documents", "longest"), [(1, 9), (60, 12), (9000, 6)])
def test_scores_are_those_of_the_definition(method: str, documents: int, longest: int) -> None:
    texts = corpus(documents, longest)
    ours = BM25(method=method, k1=1.2, b=0.6, depth=documents)
    ours.index(texts)
    for query in (
        "river bridge river",
        "Stone über 数据 unknown",
        "the with",
        "naïve snake_case x1",
    ):
        expected = by_definition(texts, query, method, 1.2, 0.6)
        ranking = ours(query)
        assert dict(ranking) == pytest.approx(expected, abs=1.1e-6)
        assert ranking == sorted(ranking, key=lambda pair: (pair[1], pair[0]), reverse=True)


def test_equal_scores_are_cut_by_id() -> None:
    texts = {f"d{i}": "river bridge" for i in (5, 3, 11, 20, 1)} | {
        "d9": "river river bridge stone"
    }
    ours = BM25(depth=3)
    ours.index(texts)
    assert [doc for doc, _ in ours("bridge")] == ["d5", "d3", "d20"]
    assert [doc for doc, _ in ours.search("bridge", 100)] == ["d5", "d3", "d20", "d11", "d1", "d9"]
    assert ours.search("bridge", 0) == []


def test_depth_does_not_change_the_order_in_large_collections() -> None:
    texts = corpus(20_000, 8)
    ours = BM25()
    ours.index(texts)
    for query in ("river", "snake_case x1", "river stone bridge garden house naïve"):
        everything = ours.search(query, 20_000)
        for depth in (1, 10, 777):
            assert ours.search(query, depth) == everything[:depth]


def test_threads_and_batches_change_nothing() -> None:
    texts = [*corpus(5000, 9).values()]
    texts = [text if text.isascii() else text.lower() for text in texts]
    names = [f"d{i}" for i in range(len(texts))]
    results = []
    for threads, batch in ((1, 5000), (4, 5000), (3, 1234)):
        index = KeywordIndex(ENGLISH, word_ranges())
        for start in range(0, len(texts), batch):
            index.add(texts[start : start + batch], threads)
        words = index.words()
        index.finish("lucene", 1.5, 0.75, 0.5)
        results.append((words, index.search(["river", "stone", "数据"], 5000, names), index.nbytes))
    assert results[0] == results[1] == results[2]
    assert len(results[0][1]) > 3000


@given(st.text(alphabet=st.characters(), max_size=60))
def test_words_are_those_of_the_pattern(text: str) -> None:
    index = KeywordIndex([], word_ranges())
    index.add([text if text.isascii() else text.lower()], 1)
    assert index.words() == [*dict.fromkeys(words_of(text, frozenset()))]


class Stemming:
    """Stands for PyStemmer: the same calls, with two endings instead of an algorithm."""

    def __init__(self, language: str) -> None:
        assert language == "english"

    def stemWords(self, words: list[str]) -> list[str]:  # noqa: N802
        return [re.sub("(s|ing)$", "", word) for word in words]


@pytest.fixture
def stemmer(monkeypatch) -> None:
    module = ModuleType("Stemmer")
    module.Stemmer = Stemming  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "Stemmer", module)


def test_words_are_stemmed_and_prepared_and_stop_words_chosen(stemmer) -> None:
    texts = {"a": "Rivers running", "b": "a river ran", "c": "<b>bridges</b> der Fluss", "d": ""}
    stemming = BM25(stemmer="english", prepare=lambda text: re.sub("<[^>]*>", " ", text))
    stemming.index(texts)
    assert {doc for doc, _ in stemming("the river")} == {"a", "b"}
    assert [doc for doc, _ in stemming("BRIDGE")] == ["c"]
    own = BM25(stopwords=["river", "rivers"])
    own.index(texts)
    assert own("river rivers") == []
    german = BM25(stopwords="de")
    german.index(texts)
    assert german("der") == [] and len(german("fluss")) == 1
    plain = BM25(stopwords=None)
    plain.index(texts)
    assert plain("der")


def test_a_stemmed_document_counts_its_words_together(stemmer) -> None:
    stemming, plain = BM25(stemmer="english"), BM25()
    stemming.index({"a": "rivers river rivering", "b": "river stone stone"})
    plain.index({"a": "river river river", "b": "river stone stone"})
    assert stemming("rivers") == plain("river")


def test_nothing_to_search() -> None:
    for texts in ({"a": ""}, {"a": "the of x"}):
        ours = BM25()
        ours.index(texts)
        assert ours("river") == ours("") == []
    broken = BM25()
    broken.index({"a": "river \udcff\ud800 stone", "b": "other"})
    assert [doc for doc, _ in broken("stone \udcff")] == ["a"]


def test_mistakes_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown method 'bm26' of BM25"):
        BM25(method="bm26")
    with pytest.raises(UsageError, match="b must be between 0 and 1, got 2"):
        BM25(b=2)
    with pytest.raises(UsageError, match="k1 must not be negative, got -1"):
        BM25(k1=-1)
    with pytest.raises(UsageError, match="unknown stop words 'elvish'"):
        BM25(stopwords="elvish").index({"a": "b"})


def test_an_index_is_as_large_as_it_is_alone() -> None:
    """Stages that systems share were counted for each of them."""
    texts = corpus(500, 12)
    alone, beside, near = BM25(), BM25(), KNN(lambda texts: np.ones((len(texts), 300)))
    alone.index(texts)
    near.stages = beside.stages = Stages()
    near.index(texts)
    beside.index(texts)
    assert beside.index_bytes() == alone.index_bytes() < 300_000
    assert 500 * 300 * 4 <= near.index_bytes() < 2 * 500 * 300 * 4
