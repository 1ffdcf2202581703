"""Keyword search: BM25 by bm25s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.experiment.retrievers.base import DEPTH, Retriever, ScoredDocument, import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class BM25(Retriever):
    """BM25; documents that share no word with the query are not returned.

    `prepare` is applied to every text before it is tokenized; `stemmer` is a language of PyStemmer.
    """

    name = "bm25"

    def __init__(
        self,
        *,
        k1: float = 1.5,
        b: float = 0.75,
        method: str = "lucene",
        stopwords: str | None = "en",
        stemmer: str | None = None,
        prepare: Callable[[str], str] | None = None,
        depth: int = DEPTH,
    ) -> None:
        self.k1, self.b, self.method = k1, b, method
        self.stopwords, self.stemmer, self.prepare = stopwords, stemmer, prepare
        self.depth = depth
        self._stem: Any = None

    def load(self) -> None:
        """Import bm25s and, if needed, the stemmer."""
        import_extra("bm25s", "the retriever 'bm25'")
        if self.stemmer:
            stemming = import_extra("Stemmer", "stemming", "PyStemmer")
            self._stem = stemming.Stemmer(self.stemmer)

    def build(self, documents: Mapping[str, str]) -> None:
        """Compute the weights of all words."""
        import bm25s

        self._names = list(documents)
        self._index = bm25s.BM25(k1=self.k1, b=self.b, method=self.method)
        self._index.index(self._words(list(documents.values())), show_progress=False)

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The best documents by BM25."""
        docs, scores = self._index.retrieve(
            self._words([query]),
            corpus=self._names,
            k=min(depth, len(self._names)),
            show_progress=False,
            backend_selection="numpy",
        )
        # 32-bit sums: six digits are the same on every machine
        pairs = zip(docs[0].tolist(), scores[0].tolist(), strict=True)
        return [(doc, round(score, 6)) for doc, score in pairs if score > 0]

    def _words(self, texts: list[str]) -> list[list[str]]:
        import bm25s

        prepared = [self.prepare(text) for text in texts] if self.prepare else texts
        words: list[list[str]] = bm25s.tokenize(
            prepared,
            stopwords=self.stopwords,
            stemmer=self._stem,
            return_ids=False,
            show_progress=False,
        )
        return words
