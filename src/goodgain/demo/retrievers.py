"""Three retrievers to compare on the demo: keyword, nearest neighbours, and the two fused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.demo.collection import Question

Ranking: TypeAlias = dict[str, float]
Run: TypeAlias = dict[str, Ranking]

JOINTS = re.compile(r"[._]|(?<=[a-z])(?=[A-Z])")


def runs(
    documents: Mapping[str, str], questions: Sequence[Question], depth: int = 100
) -> dict[str, Run]:
    """Retrieve with each system at most `depth` documents: {system: {query: {doc: score}}}."""
    found = {
        "keyword": keyword(documents, questions, depth),
        "knn": knn(documents, questions, depth),
    }
    return found | {"hybrid": fuse(list(found.values()), depth)}


def keyword(documents: Mapping[str, str], questions: Sequence[Question], depth: int = 100) -> Run:
    """BM25; documents that share no word with the question are not returned."""
    import bm25s

    def tokens(texts: list[str]) -> list[list[str]]:
        words: list[list[str]] = bm25s.tokenize(
            texts, stopwords="en", return_ids=False, show_progress=False
        )
        return words

    names = list(documents)
    index = bm25s.BM25()
    index.index(tokens(_texts(documents)), show_progress=False)
    found, scores = index.retrieve(
        tokens([_split(question.text) for question in questions]),
        corpus=names,
        k=min(depth, len(names)),
        show_progress=False,
    )
    return {
        question.id: {
            doc: round(score, 6) for doc, score in zip(docs, values, strict=True) if score > 0
        }
        for question, docs, values in zip(questions, found.tolist(), scores.tolist(), strict=True)
    }


def knn(documents: Mapping[str, str], questions: Sequence[Question], depth: int = 100) -> Run:
    """Exact nearest neighbours by cosine in a latent space (SVD of the TF-IDF of word pieces)."""
    import numpy as np
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
    from sklearn.preprocessing import normalize
    from threadpoolctl import threadpool_limits

    def content(text: str) -> str:
        return " ".join(
            word for word in re.findall(r"\w\w+", text.lower()) if word not in ENGLISH_STOP_WORDS
        )

    names = list(documents)
    pieces = TfidfVectorizer(
        preprocessor=content,
        analyzer="char_wb",
        ngram_range=(4, 4),
        sublinear_tf=True,
        min_df=2,
        dtype=np.float32,
    )
    weights = pieces.fit_transform(_texts(documents))
    space = TruncatedSVD(n_components=min(400, *weights.shape), n_iter=3, random_state=0)
    with threadpool_limits(
        limits=1
    ):  # the same sums in the same order, and no waiting for a busy core
        vectors = normalize(space.fit_transform(weights))
        asked = normalize(
            space.transform(pieces.transform([_split(question.text) for question in questions]))
        )
        scores = np.round((asked @ vectors.T).astype(np.float64), 5)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    return {
        question.id: {names[i]: float(row[i]) for i in order}
        for question, row, order in zip(questions, scores, best, strict=True)
    }


def fuse(found: Sequence[Run], depth: int = 100, k: int = 60) -> Run:
    """Reciprocal rank fusion: each list gives a document 1 / (k + rank)."""
    fused: Run = {}
    for run in found:
        for query, ranking in run.items():
            scores = fused.setdefault(query, {})
            for rank, doc in enumerate(_order(ranking), start=1):
                scores[doc] = scores.get(doc, 0.0) + 1 / (k + rank)
    return {
        query: {doc: scores[doc] for doc in _order(scores)[:depth]}
        for query, scores in fused.items()
    }


def _order(ranking: Ranking) -> list[str]:
    return sorted(ranking, key=lambda doc: (ranking[doc], doc), reverse=True)


def _texts(documents: Mapping[str, str]) -> list[str]:
    return [_split(text) for text in documents.values()]


def _split(text: str) -> str:
    """Part the words of a name: `os.path.isfile` and `TextIOWrapper` are searched word by word."""
    return JOINTS.sub(" ", text)
