"""Embeddings: in batches, streamed to disk, resumed, with two sides, or computed before."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import goodgain as gg
from goodgain.errors import GoodgainError, InputError
from goodgain.experiment.retrievers import KNN, Hybrid, make
from goodgain.experiment.retrievers.lsa import LatentSemantics
from goodgain.experiment.retrievers.vectors import compute_in_batches
from goodgain.experiment.stages import Stages

WORDS = ["river", "house", "garden", "stone", "bridge", "tree", "cloud", "road"]
DOCUMENTS = {f"d{i}": " ".join(WORDS[(i * k) % 8] for k in (1, 3, 5)) for i in range(50)}
QUERIES = {f"q{i}": f"{WORDS[i]} {WORDS[(i + 3) % 8]}" for i in range(8)}
QRELS = {f"q{i}": {f"d{i}": 1, f"d{i + 8}": 1} for i in range(8)}


def count_words(texts):
    return [[text.count(word) + 0.1 for word in WORDS] for text in texts]


def run(systems, folder=None, **settings):
    settings = {"measures": "nDCG@10 P@5", "warmup": 0, **settings}
    return gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, **settings).run(folder)


def rankings(result):
    return {name: runs[0].to_dict() for name, runs in result.runs.items()}


def test_documents_are_embedded_in_batches_and_queries_one_by_one():
    sizes = []

    def embed(texts):
        sizes.append(len(texts))
        return count_words(texts)

    run({"knn": KNN(embed, batch=20)})
    assert sizes == [20, 20, 10] + [1] * 8


@pytest.mark.parametrize("on_disk", [False, True])
def test_batches_change_no_number(tmp_path, on_disk):
    folder = tmp_path if on_disk else None
    if on_disk:
        (tmp_path / "x").mkdir()
    ids, texts = list(DOCUMENTS), list(DOCUMENTS.values())
    whole = compute_in_batches(ids, texts, count_words, 1000, None)
    rows = compute_in_batches(ids, texts, count_words, 7, folder)
    assert rows.dtype == np.float32
    assert (rows == whole).all()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


@pytest.mark.parametrize("done", [1, 3, 6, 8])
def test_a_run_that_stops_midway_continues_with_the_next_batch(tmp_path, done):
    calls = []

    def embed(texts):
        calls.append(len(texts))
        if len(calls) == done:
            raise KeyboardInterrupt
        return count_words(texts)

    ids, texts = list(DOCUMENTS), list(DOCUMENTS.values())
    with pytest.raises(KeyboardInterrupt):
        compute_in_batches(ids, texts, embed, 7, tmp_path)
    rows = compute_in_batches(ids, texts, embed, 7, tmp_path)
    assert len(calls) == 8 + 1
    assert (rows == compute_in_batches(ids, texts, count_words, 7, None)).all()
    assert [path.name for path in tmp_path.iterdir()] == ["vectors.npy"]


@pytest.mark.parametrize("rest", [b"", b"999", b"3", b"x"])
def test_a_progress_file_that_makes_no_sense_starts_over(tmp_path, rest):
    (tmp_path / "done").write_bytes(rest)
    (tmp_path / "vectors.npy").write_bytes(b"nothing")
    ids, texts = list(DOCUMENTS), list(DOCUMENTS.values())
    rows = compute_in_batches(ids, texts, count_words, 7, tmp_path)
    assert (rows == compute_in_batches(ids, texts, count_words, 7, None)).all()


def test_a_killed_embedding_continues(tmp_path):
    script = (
        "import goodgain as gg, os, sys, signal\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from test_embeddings import DOCUMENTS, QUERIES, QRELS, count_words\n"
        "from goodgain.experiment.retrievers import KNN\n"
        "log = sys.argv[2]\n"
        "def embed(texts):\n"
        "    with open(log, 'a') as file: file.write(f'{len(texts)}\\n')\n"
        "    if os.path.getsize(log) // 2 == int(sys.argv[4]): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return count_words(texts)\n"
        "gg.Experiment(DOCUMENTS, QUERIES, QRELS, {'knn': KNN(embed, batch=5, dimensions=9)},\n"
        "    versions={'knn': '1'}, warmup=0).run(sys.argv[3])\n"
    )
    log, folder = tmp_path / "log", tmp_path / "out"
    command = [sys.executable, "-c", script, str(Path(__file__).parent), str(log), str(folder)]
    assert subprocess.run([*command, "4"], check=False).returncode == -signal.SIGKILL
    assert subprocess.run([*command, "7"], check=False).returncode == -signal.SIGKILL
    subprocess.run([*command, "0"], check=True)
    batches = [line for line in log.read_text().split() if line == "5"]
    assert len(batches) == 10 + 2  # the killed ones twice
    result = gg.ExperimentResult.open(folder)
    fresh = run({"knn": KNN(count_words, batch=5)})
    assert rankings(result) == rankings(fresh)
    assert result.timings["knn"].index_seconds is None  # only a part of it was measured
    assert result.timings["knn"].index_reused == ("embed",)


class Sides:
    def embed_documents(self, texts):
        assert all(text.startswith("passage: ") for text in texts)
        return count_words(texts)

    def embed_queries(self, texts):
        assert all(text.startswith("query: ") for text in texts)
        return count_words(texts)


class LangChain:
    def embed_documents(self, texts):
        return count_words(texts)

    def embed_query(self, text):
        return count_words([text])[0]


class LlamaIndex:
    def get_text_embedding_batch(self, texts):
        return count_words(texts)

    def get_query_embedding(self, text):
        return count_words([text])[0]


class Encoder:
    def encode(self, texts):
        return np.array(count_words(texts))


def test_documents_and_queries_have_sides_of_their_own(tmp_path):
    prefixes = {"query_prefix": "query: ", "document_prefix": "passage: "}
    systems = {
        "plain": KNN(count_words),
        "sides": KNN(Sides(), **prefixes),
        "langchain": KNN(LangChain()),
        "llamaindex": KNN(LlamaIndex()),
        "encoder": KNN(Encoder()),
    }
    result = run(systems, tmp_path)
    assert not result.failures
    lists = rankings(result)
    assert all(lists[name] == lists["plain"] for name in systems)
    again = run({**systems, "langchain": KNN(LangChain())}, tmp_path)
    assert len(again.folder.calls) == len(result.folder.calls)  # known by its code, not its place
    with pytest.raises(GoodgainError, match="embed has type int, which does not embed texts"):
        run({"knn": KNN(3)})


def test_prompts_of_a_model_are_used(monkeypatch):
    calls = []

    class Old:  # before version 5
        prompts: ClassVar = {"query": "find: ", "passage": "text: "}

        def __init__(self, name):
            pass

        def encode(self, texts, prompt_name=None, **options):
            calls.append(prompt_name)
            return count_words(texts)

    class New(Old):
        def encode_query(self, texts, **options):
            return self.encode(texts, "new query")

        def encode_document(self, texts, **options):
            return self.encode(texts, "new document")

    for model, expected in ((Old, ["passage", "query"]), (New, ["new document", "new query"])):
        stand_in = SimpleNamespace(SentenceTransformer=model)
        monkeypatch.setitem(sys.modules, "sentence_transformers", stand_in)
        run({"knn": KNN("a/model")})
        assert list(dict.fromkeys(calls)) == expected
        calls.clear()


@pytest.mark.parametrize(
    ("embed", "message"),
    [
        (lambda texts: [[1.0, float("nan")] for _ in texts], "the vector of 'd0' is not finite"),
        (lambda texts: [[1.0] * (1 + (len(texts) == 10))] * len(texts), "of 1 and of 2 numbers"),
        (lambda texts: [[1.0], [1.0, 2.0]], "instead of rows of numbers"),
        (lambda texts: [[1.0]], "shape (1, 1) for 20 texts"),
    ],
)
def test_what_is_no_embedding_is_said(tmp_path, embed, message):
    result = run({"knn": KNN(embed, batch=20), "b": lambda query: ["d1"]}, tmp_path)
    assert message in result.failures["knn"].error


def test_lsa_is_reused_bit_for_bit(tmp_path):
    first, second = LatentSemantics(16), LatentSemantics(16)
    stages = Stages(tmp_path)
    vectors = first.documents(DOCUMENTS, stages)
    with (later := Stages(tmp_path)).recording() as uses:
        assert (second.documents(DOCUMENTS, later) == vectors).all()
    assert [use.earlier for use in uses] == [True]
    memory = LatentSemantics(16)
    assert (memory.documents(DOCUMENTS, Stages()) == vectors).all()
    texts = list(QUERIES.values())
    assert (first.embed(texts) == second.embed(texts)).all()
    assert (first.embed(texts) == memory.embed(texts)).all()


# --- computed before ---


@pytest.fixture
def sources(tmp_path):
    """The same vectors in every form."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(name, texts):
        ids = list(reversed(texts))  # in another order than the corpus
        rows = np.array(count_words([texts[each] for each in ids]), dtype=np.float32)
        np.save(tmp_path / f"{name}.npy", rows)
        (tmp_path / f"{name}.txt").write_text("\n".join(ids) + "\n")
        np.savez(tmp_path / f"{name}.npz", ids=np.array(ids), vectors=rows)
        pq.write_table(
            pa.table({"id": ids, "embedding": rows.tolist()}), tmp_path / f"{name}.parquet"
        )
        flat = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), len(WORDS))
        pq.write_table(
            pa.table({"doc_id": ids, "vector": flat}), tmp_path / f"{name}.fixed.parquet"
        )
        lines = [
            json.dumps({"id": i, "vector": r}) for i, r in zip(ids, rows.tolist(), strict=True)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        return {
            **{
                suffix: str(tmp_path / f"{name}.{suffix}")
                for suffix in ("npy", "npz", "parquet", "fixed.parquet", "jsonl")
            },
            "dict": dict(zip(ids, rows, strict=True)),
            "pair": (ids, rows),
        }

    return write("docs", DOCUMENTS), write("queries", QUERIES)


def test_vectors_computed_before_give_the_same_ranking(sources, tmp_path):
    documents, queries = sources
    systems = {"plain": KNN(count_words)}
    for form in documents:
        systems[form] = KNN(document_vectors=documents[form], query_vectors=queries[form])
    systems["mixed"] = KNN(count_words, document_vectors=documents["npy"])
    result = run(systems, tmp_path / "out")
    assert not result.failures
    lists = rankings(result)
    assert all(lists[name] == lists["plain"] for name in systems)
    assert any("npy: the query vectors were precomputed" in w for w in result.warnings())
    assert not any("mixed: the vectors" in w or "plain: the v" in w for w in result.warnings())
    assert len(run(systems, tmp_path / "out").folder.calls) == len(result.folder.calls)


def test_a_file_of_vectors_that_changed_is_noticed(sources, tmp_path):
    documents, queries = sources
    system = {"knn": KNN(document_vectors=documents["npy"], query_vectors=queries["npy"])}
    first = run(system, tmp_path / "out")
    rows = np.load(documents["npy"])
    np.save(documents["npy"], rows[::-1])
    second = run(
        {"knn": KNN(document_vectors=documents["npy"], query_vectors=queries["npy"])},
        tmp_path / "out",
    )
    assert rankings(second) != rankings(first)


def test_vectors_that_are_missing_are_named(sources, tmp_path):
    documents, queries = sources
    some = {key: row for key, row in documents["dict"].items() if key not in ("d7", "d9")}
    result = run({"knn": KNN(document_vectors=some, query_vectors=queries["dict"])})
    error = result.failures["knn"].error
    assert "2 of 50 documents have no vector, such as 'd7'" in error
    result = run({"knn": KNN(document_vectors=documents["dict"], query_vectors={"x": [1.0]})})
    assert "8 of 8 queries have no vector, such as 'q0'" in result.failures["knn"].error
    (tmp_path / "docs.txt").unlink()
    result = run({"knn": KNN(document_vectors=documents["npy"], query_vectors=queries["npy"])})
    assert "docs.txt" in result.failures["knn"].error
    short = {key: row[:3] for key, row in queries["dict"].items()}
    result = run({"knn": KNN(document_vectors=documents["dict"], query_vectors=short)})
    assert "queries have 3 numbers, those of documents 8" in result.failures["knn"].error
    with pytest.raises(GoodgainError, match="need an embedding for the queries"):
        KNN(document_vectors=documents["dict"])
    with pytest.raises(GoodgainError, match="query_vectors need document_vectors"):
        KNN(query_vectors=queries["dict"])


def test_paths_of_vectors_are_relative_to_the_file(sources, tmp_path):
    rows = [f'{{"id": "{key}", "text": "{text}"}}' for key, text in DOCUMENTS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows))
    (tmp_path / "q.tsv").write_text(
        "id\ttext\n" + "".join(f"{key}\t{text}\n" for key, text in QUERIES.items())
    )
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items())
    )
    file = tmp_path / "e.toml"
    file.write_text(
        'corpus = "corpus.jsonl"\nqueries = "q.tsv"\nqrels = "qrels.txt"\nmeasures = "nDCG@10"\n'
        '[systems.knn]\nretriever = "knn"\ndocument_vectors = "docs.npy"\n'
        'query_vectors = "queries.parquet"\n'
    )
    experiment = gg.experiment.read_experiment(file).experiment
    assert rankings(experiment.run()) == {"knn": rankings(run({"a": KNN(count_words)}))["a"]}
    file.write_text(file.read_text().replace("docs.npy", "dosc.npy"))
    with pytest.raises(InputError, match=r"file not found: .*dosc\.npy"):
        gg.experiment.read_experiment(file)


def test_an_edges_file_that_changed_is_noticed(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("a,b\nd0,d1\nd1,d2\n")

    def systems():
        return {"knn": KNN(count_words), "graph": make("graph", {"of": "knn", "edges": str(edges)})}

    first = run(systems(), tmp_path / "out")
    edges.write_text("a,b\nd0,d9\nd1,d8\n")
    second = run(systems(), tmp_path / "out")
    made = [call for call in second.folder.calls if call.get("system") == "graph"]
    assert len(made) == 16
    assert len(second.folder.calls) > len(first.folder.calls)


def test_a_version_also_names_a_component():
    import sqlite3

    database = sqlite3.connect(":memory:", check_same_thread=False)

    def embed(texts):
        database.execute("SELECT 1")
        return count_words(texts)

    systems = {"knn": KNN(embed), "keyword": "bm25", "both": Hybrid(["keyword", "knn"])}
    unknown = gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems)
    assert unknown.addresses["both"].unknown
    named = gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, versions={"knn": "1"})
    assert not named.addresses["both"].unknown
    other = gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, versions={"knn": "2"})
    assert other.addresses["both"].digest != named.addresses["both"].digest


def test_stores_embed_queries_and_documents_apart():
    """As `knn` does: a model that has prompts for queries finds other neighbours without them."""
    from goodgain.experiment.retrievers.stores import corpus_vectors, query_embedding

    class Sides:
        def embed_documents(self, texts):
            return [[3.0, 0.0]] * len(texts)

        def embed_query(self, text):
            return [0.0, 4.0]

    assert query_embedding(Sides(), "a test")("words") == [0.0, 4.0]  # as it is, not scaled
    assert corpus_vectors(Sides(), DOCUMENTS, "a test") == [[3.0, 0.0]] * len(DOCUMENTS)
    with pytest.raises(GoodgainError, match="does not embed texts"):
        query_embedding(3, "a test")
