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
    when a search returns nothing new, and answers with the `cited` documents it read that have most words
    of the question, rare ones counting more.
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
        cited: int = 3,
    ) -> None:
        self._search = search
        self._documents = documents
        self._iterations, self._results, self._read, self._terms = iterations, results, read, terms
        self._cited = cited
        self._document_counts = Counter(
            word for text in documents.values() for word in set(_words(text))
        )

    def answer(self, name: str, question: str) -> dict[str, Any]:
        """The conversation as a trace."""
        query, seen, read = question, set[str](), dict[str, None]()
        iterations: list[dict[str, Any]] = []
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
            read.update(dict.fromkeys(unread))
            iterations[-1]["opens"] = [{"id": doc} for doc in unread]
            query = f"{question} {' '.join(self._distinctive_words(unread, query))}"
        best = sorted(read, key=lambda doc: (-self._match(question, doc), doc))[: self._cited]
        turn = {
            "user": question,
            "iterations": iterations,
            "answer": f"See {', '.join(best)}." if best else "",
            "citations": [{"id": doc} for doc in best],
        }
        return {"conversation": name, "system": "agent", "turns": [turn]}

    def _match(self, question: str, doc: str) -> float:
        """How many words of the question a document has, rare ones counting more."""
        shared = set(_words(question)) & set(_words(self._documents[doc]))
        return math.fsum(self._rarity(word) for word in sorted(shared))

    def _rarity(self, word: str) -> float:
        return math.log(len(self._documents) / self._document_counts[word])

    def _result(self, doc: str) -> dict[str, Any]:
        return {"id": doc, "title": doc, "snippet": self._documents[doc][:300]}

    def _distinctive_words(self, docs: Sequence[str], query: str) -> list[str]:
        """The words that distinguish these documents from the rest and are not in the query."""
        in_query = set(_words(query))
        counts = Counter(
            word for doc in docs for word in _words(self._documents[doc]) if word not in in_query
        )

        def weight(word: str) -> float:
            return (1 + math.log(counts[word])) * self._rarity(word)

        return sorted(counts, key=lambda word: (-weight(word), word))[: self._terms]


def _words(text: str) -> list[str]:
    return _WORD.findall(split(text).lower())
