"""A small agent without a model: it searches, reads, asks again with words of what it read."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from goodgain.demo.retrievers import split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain.experiment.retrievers import Hit

_WORD = re.compile(r"[a-z]{3,}")


class Agent:
    """Answers a question in up to `iterations` searches of `results` results each.

    After a search it reads the best `read` results that it has not read, takes the `terms` words that are
    most telling in them (often here, rare in the collection, not asked before), and adds them to the
    question. It stops when a search brings nothing that it has not seen.
    """

    def __init__(
        self,
        search: Callable[[str], Sequence[Hit]],
        documents: Mapping[str, str],
        iterations: int = 5,
        results: int = 10,
        read: int = 2,
        terms: int = 3,
    ) -> None:
        self._search = search
        self._documents = documents
        self._iterations, self._results, self._read, self._terms = iterations, results, read, terms
        self._spread = Counter(word for text in documents.values() for word in set(_words(text)))

    def answer(self, name: str, question: str) -> dict[str, Any]:
        """The conversation as a trace."""
        query, seen, read, iterations = question, set[str](), set[str](), []
        for _ in range(self._iterations):
            start = time.perf_counter()
            found = [doc for doc, _ in self._search(query)[: self._results]]
            latency = time.perf_counter() - start
            results = [self._result(doc) for doc in found]
            iterations.append(
                {"searches": [{"query": query, "latency": latency, "results": results}]}
            )
            if seen.issuperset(found):
                break
            seen.update(found)
            reading = [doc for doc in found if doc not in read][: self._read]
            read.update(reading)
            query = f"{question} {' '.join(self._telling(reading, query))}"
        return {
            "conversation": name,
            "system": "agent",
            "turns": [{"user": question, "iterations": iterations}],
        }

    def _result(self, doc: str) -> dict[str, Any]:
        return {"id": doc, "title": doc, "snippet": self._documents[doc][:300]}

    def _telling(self, reading: Sequence[str], asked: str) -> list[str]:
        """The words that set these documents apart from the rest."""
        known = set(_words(asked))
        counts = Counter(
            word for doc in reading for word in _words(self._documents[doc]) if word not in known
        )
        size = len(self._documents)

        def weight(word: str) -> float:
            return (1 + math.log(counts[word])) * math.log(size / self._spread[word])

        return sorted(counts, key=lambda word: (-weight(word), word))[: self._terms]


def _words(text: str) -> list[str]:
    return _WORD.findall(split(text).lower())
