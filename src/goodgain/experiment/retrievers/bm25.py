"""Keyword search: BM25 by the native core.

The definitions are those of Kamphuis et al. (ECIR 2020). A word is a run of at least two letters, digits or
underscores in lower case. Weights are multiples of a power of two, so that sums are exact: scores do not
depend on threads, processor or order. They are rounded to six decimals, and of documents with equal scores
the one with the greater id comes first, as in every ranking of an experiment.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from goodgain.cores import available_cores
from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Retriever, ScoredDocument, import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain._core import KeywordIndex

METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
DELTA = 0.5  # of BM25L and BM25+
BATCH = 20_000  # documents that are read at a time
ENGLISH = [  # Lucene's
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they",
    "this", "to", "was", "will", "with",
]  # fmt: skip

_WORDS = re.compile(r"\w\w+")


class BM25(Retriever):
    """BM25; documents that share no word with the query are not returned.

    `method` is one of the variants lucene, robertson, atire, bm25l and bm25+. `stopwords` is "en", another
    language of bm25s, or a list of words. `prepare` is applied to every text before its words are read;
    `stemmer` is a language of PyStemmer.
    """

    name = "bm25"

    def __init__(
        self,
        *,
        k1: float = 1.5,
        b: float = 0.75,
        method: str = "lucene",
        stopwords: str | Sequence[str] | None = "en",
        stemmer: str | None = None,
        prepare: Callable[[str], str] | None = None,
        depth: int = DEPTH,
    ) -> None:
        if method not in METHODS:
            raise UsageError(
                f"unknown method '{method}' of BM25", hint=f"available: {', '.join(METHODS)}"
            )
        if not k1 >= 0:
            raise UsageError(f"k1 must not be negative, got {k1}")
        if not 0 <= b <= 1:
            raise UsageError(f"b must be between 0 and 1, got {b}")
        self.k1, self.b, self.method = k1, b, method
        self.stopwords, self.stemmer, self.prepare = stopwords, stemmer, prepare
        self.depth = depth
        self._stem: Any = None

    def load(self) -> None:
        """Look up the stop words and, if needed, import the stemmer."""
        self._stopwords = stopword_list(self.stopwords)
        self._ignored = frozenset(self._stopwords)
        if self.stemmer:
            stemming = import_extra("Stemmer", "stemming", "PyStemmer")
            self._stem = stemming.Stemmer(self.stemmer)

    def build(self, documents: Mapping[str, str]) -> None:
        """Compute the weights of all words."""
        assert self.stages is not None
        parameters = {
            "k1": self.k1, "b": self.b, "method": self.method, "stopwords": self._stopwords,
            "stemmer": self.stemmer, "prepare": self.prepare,
        }  # fmt: skip
        self._names, self._index = self.stages.run(
            "index",
            compute=lambda _: self._indexed(documents),
            code=BM25._indexed,
            parameters=parameters,
            inputs=[documents],
            version=self.version,
        ).value

    def _indexed(self, documents: Mapping[str, str]) -> tuple[list[str], KeywordIndex]:
        """The ids in ascending order, and the index of their texts."""
        from goodgain._core import KeywordIndex

        names = sorted(documents)  # ties are broken by id: the core breaks them by number
        index = KeywordIndex(self._stopwords, word_ranges())
        for start in range(0, len(names), BATCH):
            texts = [self._lower(documents[name]) for name in names[start : start + BATCH]]
            index.add(texts, available_cores())
        if self._stem:
            index.rename(self._stem.stemWords(index.words()))
        index.finish(self.method, self.k1, self.b, DELTA)
        return names, index

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The best documents by BM25."""
        listed = _WORDS.findall(self._lower(query).lower())
        words = [word for word in listed if word not in self._ignored]
        if self._stem:
            words = self._stem.stemWords(words)
        return self._index.search(words, depth, self._names)

    def _lower(self, text: str) -> str:
        """A text as the core reads it, which lowers the letters of ASCII itself."""
        prepared = self.prepare(text) if self.prepare else text
        return prepared if prepared.isascii() else prepared.lower()


def stopword_list(chosen: str | Sequence[str] | None) -> list[str]:
    """The words of a setting: a language, a list, or none."""
    if chosen is None:
        return []
    if not isinstance(chosen, str):
        return list(chosen)
    if chosen in ("en", "english"):
        return ENGLISH
    tokenization = import_extra("bm25s.tokenization", f"the stop words '{chosen}'", "bm25s")
    try:
        return list(tokenization._infer_stopwords(chosen))
    except ValueError:
        raise UsageError(
            f"unknown stop words '{chosen}'", hint="a language such as 'de', or a list of words"
        ) from None


@cache
def word_ranges() -> list[tuple[int, int]]:
    """The characters of words as ranges of code points: those that the pattern of words matches."""
    every = "".join(map(chr, range(0x110000)))
    return [match.span() for match in re.finditer(r"\w+", every)]
