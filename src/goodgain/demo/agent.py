"""A small agent without a model: it searches, reads, and refines its query with words it read."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from goodgain.demo.retrievers import split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain.experiment.retrievers import ScoredDocument

_WORD = re.compile(r"[a-z]{3,}")


class Agent:
    """Answers a question with up to `iterations` searches of `results` results each.

    After a search it reads the top `read` unread results, picks the `terms` most distinctive words in them
    (frequent there, rare in the collection, not in the query), and adds them to the question. It stops
    when a search returns nothing new.
    """

    def __init__(
        self,
        search: Callable[[str], Sequence[ScoredDocument]],
        documents: Mapping[str, str],
        *,
        iterations: int = 5,
        results: int = 10,
        read: int = 2,
        terms: int = 3,
    ) -> None:
        self._search = search
        self._documents = documents
        self._iterations, self._results, self._read, self._terms = iterations, results, read, terms
        self._document_counts = Counter(
            word for text in documents.values() for word in set(_words(text))
        )

    def answer(self, name: str, question: str) -> dict[str, Any]:
        """The conversation as a trace."""
        query, seen, read, iterations = question, set[str](), set[str](), []
        for _ in range(self._iterations):
            start = time.perf_counter()
            docs = [doc for doc, _ in self._search(query)[: self._results]]
            latency = time.perf_counter() - start
            results = [self._result(doc) for doc in docs]
            iterations.append(
                {"searches": [{"query": query, "latency": latency, "results": results}]}
            )
            if seen.issuperset(docs):
                break
            seen.update(docs)
            unread = [doc for doc in docs if doc not in read][: self._read]
            read.update(unread)
            query = f"{question} {' '.join(self._distinctive_words(unread, query))}"
        return {
            "conversation": name,
            "system": "agent",
            "turns": [{"user": question, "iterations": iterations}],
        }

    def _result(self, doc: str) -> dict[str, Any]:
        return {"id": doc, "title": doc, "snippet": self._documents[doc][:300]}

    def _distinctive_words(self, docs: Sequence[str], query: str) -> list[str]:
        """The words that distinguish these documents from the rest and are not in the query."""
        in_query = set(_words(query))
        counts = Counter(
            word for doc in docs for word in _words(self._documents[doc]) if word not in in_query
        )
        size = len(self._documents)

        def weight(word: str) -> float:
            return (1 + math.log(counts[word])) * math.log(size / self._document_counts[word])

        return sorted(counts, key=lambda word: (-weight(word), word))[: self._terms]


def _words(text: str) -> list[str]:
    return _WORD.findall(split(text).lower())
