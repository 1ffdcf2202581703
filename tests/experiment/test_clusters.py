"""Approximate neighbours: what they find of the exact ones, and that threads do not change them."""

from __future__ import annotations

import numpy as np
import pytest

import goodgain as gg
from goodgain.experiment.retrievers import KNN, Graph, clusters, knn
from goodgain.experiment.retrievers.clusters import Clusters, exact_neighbours, nearest_first
from goodgain.experiment.retrievers.vectors import unit


def vectors(count: int = 3000, topics: int = 60, seed: int = 0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(topics, 24))
    noise = 0.6 * rng.normal(size=(count, 24))
    return unit((centres[rng.integers(0, topics, count)] + noise).astype(np.float32))


def exact_nearest(table, doc, count):
    cosines = table.astype(np.float64) @ table[doc].astype(np.float64)
    cosines[doc] = -2
    return set(np.argsort(-cosines)[:count].tolist())


def true_recall(table, edges, count):
    ends = edges.ends.reshape(len(table), count)
    rows = edges.starts.reshape(len(table), count)[:, 0]
    shares = [len(exact_nearest(table, d, count) & set(e)) / count
              for d, e in zip(rows.tolist(), ends.tolist(), strict=True)]  # fmt: skip
    return float(np.mean(shares))


def test_recall_is_what_it_says() -> None:
    table = vectors()
    index = Clusters(table, np.arange(len(table)))
    assert index.recall.share >= 0.9 and index.recall.sample == clusters.SAMPLE
    assert index.probes < len(index.centres) / 4  # it is an index, not exact search
    shares = []
    for doc in range(0, 3000, 7):
        near, cosines = index.search(table[doc], 11)
        assert np.all(np.diff(cosines) <= 0) and near[0] == doc
        shares.append(len(exact_nearest(table, doc, 10) & set(near[1:].tolist())) / 10)
    assert np.mean(shares) == pytest.approx(index.recall.share, abs=0.03)
    edges = index.neighbours(8)
    assert edges.recall is not None
    assert true_recall(table, edges, 8) == pytest.approx(edges.recall.share, abs=0.03)
    assert edges.recall.low <= edges.recall.share <= edges.recall.high


def test_exact_neighbours_are_exact() -> None:
    table = vectors(700)
    edges = exact_neighbours(table, 5, np.arange(700))
    assert true_recall(table, edges, 5) > 0.999  # rounded cosines may swap the fifth and the sixth
    assert (edges.starts != edges.ends).all() and len(edges.starts) == 3500


def test_threads_change_nothing(monkeypatch) -> None:
    table, results = vectors(1500), []
    for threads in (1, 3):
        monkeypatch.setattr(clusters, "available_cores", lambda threads=threads: threads)
        index = Clusters(table, np.arange(len(table)))
        edges = index.neighbours(6)
        near = exact_neighbours(table, 4, np.arange(len(table)))
        results.append([index.centres, index.probes, edges.ends, edges.cosines, near.ends])
    for one, three in zip(*results, strict=True):
        assert np.array_equal(one, three)


@pytest.mark.parametrize("count", [1, 2, 3, 12])
def test_few_vectors(count: int) -> None:
    table = vectors(count)
    index = Clusters(table, np.arange(count))
    near, _ = index.search(table[0], 100)
    assert sorted(near.tolist()) == list(range(count))
    edges = index.neighbours(5)
    assert len(edges.starts) == count * min(5, count - 1)
    assert index.recall.share == 1


def test_equal_cosines_are_ordered_by_id() -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.5, 0.1])
    assert nearest_first(scores, np.array([0, 1, 2, 3, 4]), 3).tolist() == [1, 3, 2]
    copies = KNN(lambda texts: [[1.0, 0.0]] * len(texts), depth=2)
    copies.index({"b": "x", "a": "x", "c": "x"})
    assert [doc for doc, _ in copies("x")] == ["c", "b"]


def letters(texts):
    return [[text.count(c) + 0.01 for c in "abcdefgh"] for text in texts]


def test_results_say_the_recall(monkeypatch, tmp_path) -> None:
    rng = np.random.default_rng(5)
    documents = {f"d{i}": "".join(rng.choice(list("abcdefgh"), 20)) for i in range(600)}
    queries = {"q1": "aabbc", "q2": "ddeeh"}
    qrels = {q: {"d1": 1} for q in queries}
    monkeypatch.setattr(knn, "EXACT_EDGES", 100)
    near = KNN(letters, method="clusters")
    systems = {"near": near, "walks": Graph(KNN(letters), neighbours=4), "exact": KNN(letters)}
    result = gg.Experiment(documents, queries, qrels, systems, measures="RR").run(tmp_path)
    again = gg.ExperimentResult.open(tmp_path)
    for warnings in (result.warnings(), again.warnings()):
        said = [text for text in warnings if "by exact search" in text]
        assert [text.split(":")[0] for text in said] == ["near", "walks"]
        assert "approximate search returns" in said[0] and "edges lead to" in said[1]
        assert "95% interval" in said[0] and "200 documents" in said[0]
