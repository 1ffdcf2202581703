"""Retrievers of vector stores and search engines, each against the real thing.

Vectors are not of unit length, so that every metric has an order of its own, and a score that is turned the
wrong way round cannot go unseen.
"""

from __future__ import annotations

import sqlite3
import sys

import numpy as np
import pytest

import goodgain as gg
from goodgain.errors import GoodgainError, InputError, UsageError
from goodgain.experiment.queries import QueryText
from goodgain.experiment.retrievers import Hybrid, make

pytestmark = pytest.mark.slow  # importing these packages takes seconds
PACKAGES = {"qdrant": "qdrant_client", "chroma": "chromadb", "lancedb": "lancedb", "duckdb": "duckdb",
            "tantivy": "tantivy"}  # fmt: skip


@pytest.fixture(autouse=True)
def _package(request):
    """A test needs the package whose retriever is in its name or its parameters."""
    text = request.node.name
    for name, module in PACKAGES.items():
        if name in text and "missing_package" not in text:
            pytest.importorskip(module)


RNG = np.random.default_rng(5)
VECTORS = {
    f"d{i}": (RNG.normal(size=6) * RNG.uniform(0.2, 4)).astype(np.float32) for i in range(60)
}
CORPUS = dict.fromkeys(VECTORS, "text") | {"d3": "rivers and stones", "d7": "the river"}
TARGET = (RNG.normal(size=6) * 2).astype(np.float32)

SCORES = {
    "cosine": lambda v: float(v @ TARGET / np.linalg.norm(v) / np.linalg.norm(TARGET)),
    "dot": lambda v: float(v @ TARGET),
    "l2": lambda v: -float(np.linalg.norm(v - TARGET)),
    "l1": lambda v: -float(np.abs(v - TARGET).sum()),
}


def best(metric, names=VECTORS, depth=10):
    return sorted(names, key=lambda name: -SCORES[metric](VECTORS[name]))[:depth]


def embed(texts):
    """The vector of a document whose text is its id, or that of the query."""
    return [VECTORS.get(text, TARGET) for text in texts]


IDS = {name: name for name in VECTORS}  # a corpus whose texts `embed` knows


def test_the_metrics_have_different_orders():
    orders = {metric: tuple(best(metric)) for metric in SCORES}
    assert len(set(orders.values())) == 4
    assert all(len({*a, *b}) > 10 for a in orders.values() for b in orders.values() if a != b)


@pytest.mark.parametrize(
    ("name", "metric"),
    [(name, metric) for name, metrics in {
        "qdrant": ("cosine", "dot", "l2", "l1"), "chroma": ("cosine", "dot", "l2"),
        "lancedb": ("cosine", "dot", "l2"), "duckdb": ("cosine", "dot", "l2"),
    }.items() for metric in metrics],
)  # fmt: skip
def test_the_nearest_come_first_by_every_metric(name, metric):
    ours = make(name, {"embed": embed, "metric": metric, "depth": 10})
    ours.index(IDS)
    ranking = ours("query")
    assert [doc for doc, _ in ranking] == best(metric)
    scores = [score for _, score in ranking]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]
    checked = gg.Experiment(
        IDS, {"q": "query"}, {"q": {best(metric)[0]: 1}}, {"mine": ours}, measures="RR", warmup=0
    ).run()
    assert checked["RR"] == 1


# --- collections that exist, with filters ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


def language(number):
    return "en" if number % 3 else "de"


@pytest.fixture(scope="module")
def qdrant_client():
    pytest.importorskip("qdrant_client")
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    for metric, distance in {
        "cosine": "Cosine",
        "dot": "Dot",
        "l2": "Euclid",
        "l1": "Manhattan",
    }.items():
        config = models.VectorParams(size=6, distance=models.Distance(distance))
        client.create_collection(metric, vectors_config={"v": config})
        client.upsert(metric, [
            models.PointStruct(id=i, vector={"v": v.tolist()},
                               payload={"key": name, "language": language(i), "year": i, "part": i / 4})
            for i, (name, v) in enumerate(VECTORS.items())
        ])  # fmt: skip
    yield client
    client.close()


FILTERED = [name for i, name in enumerate(VECTORS) if language(i) == "de" and i < 30]
FILTER = QueryText("query", {"language": "de", "year": list(range(30))})


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2", "l1"])
def test_a_qdrant_collection(qdrant_client, metric):
    ours = make(
        "qdrant",
        {"client": qdrant_client, "collection": metric, "vector": "v", "id": "key", "embed": embed,
         "depth": 10},
    )  # fmt: skip
    ours.index(CORPUS)
    assert [doc for doc, _ in ours("query")] == best(metric)
    assert [doc for doc, _ in ours(FILTER)] == best(metric, FILTERED)
    assert [doc for doc, _ in ours(QueryText("query", {"part": 0.5}))] == ["d2"]
    assert ours(QueryText("query", {"language": "fr"})) == []


def test_qdrant_says_what_is_missing(qdrant_client):
    settings = {"client": qdrant_client, "embed": embed}
    for parameters, message in [
        ({"collection": "other"}, "the collection 'other' not found\nhint: available: cosine"),
        ({"collection": "dot", "vector": "w"}, "the vector 'w' not found\nhint: available: v"),
    ]:
        with pytest.raises(InputError, match=message):
            make("qdrant", settings | parameters).index(CORPUS)
    ours = make("qdrant", settings | {"collection": "dot", "vector": "v"})
    ours.index(CORPUS)
    with pytest.raises(InputError, match="has no 'id' in its payload"):
        ours("query")
    down = make("qdrant", {"url": "http://127.0.0.1:9", "collection": "x", "embed": embed})
    with pytest.raises(InputError, match=r"cannot reach Qdrant at 'http://127.0.0.1:9'"):
        down.index(CORPUS)
    with pytest.raises(UsageError, match="qdrant needs embed"):
        make("qdrant", {})
    with pytest.raises(UsageError, match="needs the name of a collection"):
        make("qdrant", {"url": "http://127.0.0.1:9", "embed": embed})
    with pytest.raises(UsageError, match="invalid metric='cosin'"):
        make("qdrant", {"embed": embed, "metric": "cosin"})


@pytest.fixture(scope="module")
def chroma_folder(folder):
    chromadb = pytest.importorskip("chromadb")
    path = str(folder / "chroma")
    client = chromadb.PersistentClient(path)
    for metric, space in {"cosine": "cosine", "dot": "ip", "l2": "l2"}.items():
        collection = client.create_collection(
            f"by-{metric}", configuration={"hnsw": {"space": space}}, embedding_function=None
        )
        collection.add(
            ids=list(VECTORS),
            embeddings=[v.tolist() for v in VECTORS.values()],
            metadatas=[
                {"key": f"k{name}", "language": language(i), "year": i}
                for i, name in enumerate(VECTORS)
            ],
        )
    return path


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
def test_a_chroma_collection(chroma_folder, metric):
    settings = {"path": chroma_folder, "collection": f"by-{metric}", "embed": embed, "depth": 10}
    ours = make("chroma", settings)
    ours.index(CORPUS)
    assert [doc for doc, _ in ours("query")] == best(metric)
    assert [doc for doc, _ in ours(FILTER)] == best(metric, FILTERED)
    keyed = make("chroma", settings | {"id": "key"})
    keyed.index(CORPUS)
    assert [doc for doc, _ in keyed("query")] == [f"k{name}" for name in best(metric)]
    with pytest.raises(InputError, match="the collection 'other' not found\nhint: available: by-"):
        make("chroma", settings | {"collection": "other"}).index(CORPUS)
    missing = make("chroma", settings | {"id": "name"})
    missing.index(CORPUS)
    with pytest.raises(InputError, match="has no 'name' in its metadata"):
        missing("query")


def test_a_chroma_server_that_is_down():
    down = make("chroma", {"url": "http://127.0.0.1:9", "collection": "x", "embed": embed})
    with pytest.raises(InputError, match=r"cannot reach Chroma at 'http://127.0.0.1:9'"):
        down.index(CORPUS)


@pytest.fixture(scope="module")
def lance_folder(folder):
    lancedb = pytest.importorskip("lancedb")
    import pyarrow as pa
    from lancedb.index import FTS

    path = str(folder / "lance")
    rows = [
        {"id": name, "v": v.tolist(), "body": CORPUS[name], "language": language(i), "year": i,
         "it's": f"o'{i}"}
        for i, (name, v) in enumerate(VECTORS.items())
    ]  # fmt: skip
    schema = pa.schema({
        "id": pa.string(), "v": pa.list_(pa.float32(), 6), "body": pa.string(),
        "language": pa.string(), "year": pa.int64(), "it's": pa.string(),
    })  # fmt: skip
    table = lancedb.connect(path).create_table("docs", rows, schema=schema)
    table.create_index("body", config=FTS(stem=True))
    return path


@pytest.mark.parametrize("metric", [None, "cosine", "dot", "l2"])
def test_a_lancedb_table(lance_folder, metric):
    settings = {"uri": lance_folder, "table": "docs", "embed": embed, "vector": "v", "depth": 10}
    ours = make("lancedb", settings | {"metric": metric})
    ours.index(CORPUS)
    assert [doc for doc, _ in ours("query")] == best(metric or "l2")
    assert [doc for doc, _ in ours(FILTER)] == best(metric or "l2", FILTERED)
    assert [doc for doc, _ in ours(QueryText("query", {"it's": "o'4"}))] == ["d4"]


def test_lancedb_by_words(lance_folder):
    ours = make("lancedb", {"uri": lance_folder, "table": "docs", "text": "body"})
    ours.index(CORPUS)
    ranking = ours("stones")
    assert [doc for doc, _ in ranking] == ["d3"]
    assert ranking[0][1] > 0
    own = make("lancedb", {})
    own.index(CORPUS)
    river = dict(own("river"))
    assert river["d7"] > river.get("d3", 0)
    for parameters, message in [
        ({"table": "other"}, "the table 'other' not found\nhint: available: docs"),
        ({"table": "docs", "text": "words"}, "the column 'words' not found\nhint: available: body"),
    ]:
        with pytest.raises(InputError, match=message):
            make("lancedb", {"uri": lance_folder} | parameters).index(CORPUS)


def test_the_metric_of_an_index_of_lancedb_is_that_of_the_search(tmp_path):
    import lancedb
    from lancedb.index import IvfFlat

    rows = [{"id": n, "vector": v.tolist()} for n, v in VECTORS.items()]
    table = lancedb.connect(str(tmp_path)).create_table("docs", rows)
    table.create_index("vector", config=IvfFlat(distance_type="dot", num_partitions=1))
    ours = make("lancedb", {"uri": str(tmp_path), "table": "docs", "embed": embed, "depth": 10})
    ours.index(CORPUS)
    assert [doc for doc, _ in ours("query")] == best("dot")


# --- words ---

TEXTS = {
    "d1": "the river runs under the bridge",
    "d2": "a house with a garden and a window",
    "d3": "stones in the river, a river of stones",
    "d4": "NOT and OR near the window: (AND)",
}


@pytest.mark.parametrize("name", ["tantivy", "sqlite"])
def test_words_are_ranked_by_bm25(name):
    ours = make(name, {})
    ours.index(TEXTS)
    ranking = ours("river stones")
    assert [doc for doc, _ in ranking] == ["d3", "d1"]
    assert ranking[0][1] > ranking[1][1] > 0
    both = make(name, {"match": "all"})
    both.index(TEXTS)
    assert [doc for doc, _ in both("river stones")] == ["d3"]
    assert ours("?!") == []
    theirs = make("bm25", {})
    theirs.index(TEXTS)
    assert [doc for doc, _ in theirs("river stones")][:2] == ["d3", "d1"]


@pytest.mark.parametrize("name", ["tantivy", "sqlite"])
@pytest.mark.parametrize(
    "query",
    ['river: "stones', "river AND (stones", "text:river -stones", "river* stones^2", "NEAR(river stones)",
     "river' OR 1=1; DROP TABLE corpus; --stones"],
)  # fmt: skip
def test_characters_of_queries_are_not_operators(name, query):
    ours = make(name, {})
    ours.index(TEXTS)
    assert next(doc for doc, _ in ours(query)) == "d3"
    assert "d1" in dict(ours(query))


@pytest.mark.parametrize("name", ["tantivy", "sqlite"])
def test_query_languages(name):
    ours = make(name, {"match": "syntax"})
    ours.index(TEXTS)
    query = "river -stones" if name == "tantivy" else "river NOT stones"
    assert [doc for doc, _ in ours(query)] == ["d1"]
    with pytest.raises(InputError):
        ours('"unbalanced')


def test_a_tantivy_index_on_disk(tmp_path):
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", stored=True, tokenizer_name="raw")
    builder.add_text_field("title")
    builder.add_text_field("body")
    builder.add_text_field("language", tokenizer_name="raw")
    builder.add_integer_field("year", indexed=True)
    index = tantivy.Index(builder.build(), path=str(tmp_path))
    writer = index.writer()
    for number, (key, text) in enumerate(TEXTS.items()):
        writer.add_document(
            tantivy.Document(key=key, title=key, body=text, language=language(number), year=number)
        )
    writer.commit()
    writer.wait_merging_threads()
    settings = {"path": str(tmp_path), "fields": ["title", "body"], "id": "key"}
    ours = make("tantivy", settings)
    ours.index(TEXTS)
    assert [doc for doc, _ in ours("river stones")] == ["d3", "d1"]
    assert ours(QueryText("river", {"language": "de"})) == [("d1", dict(ours("river"))["d1"])]
    assert [doc for doc, _ in ours(QueryText("river", {"year": [2, 3]}))] == ["d3"]
    for parameters, message in [
        ({"fields": ["text"]}, "Field `text` is not defined"),
        ({"path": str(tmp_path / "other")}, "cannot open the tantivy index"),
    ]:
        with pytest.raises(InputError, match=message):
            make("tantivy", settings | parameters).index(TEXTS)
    with pytest.raises(InputError, match="cannot filter by 'colour'"):
        ours(QueryText("river", {"colour": "red"}))


@pytest.fixture
def sqlite_file(tmp_path):
    path = str(tmp_path / "docs.db")
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE docs USING fts5(key UNINDEXED, title, body, language)"
        )
        connection.execute("CREATE TABLE plain (key TEXT, body TEXT, distance REAL)")
        for number, (key, text) in enumerate(TEXTS.items()):
            row = (key, "stones" if key == "d1" else "", text, language(number))
            connection.execute("INSERT INTO docs VALUES (?, ?, ?, ?)", row)
            connection.execute("INSERT INTO plain VALUES (?, ?, ?)", (key, text, number))
    connection.close()
    return path


def test_an_sqlite_table(sqlite_file):
    settings = {"path": sqlite_file, "table": "docs", "id": "key"}
    ours = make("sqlite", settings)
    ours.index(TEXTS)
    assert {doc for doc, _ in ours("river stones")} == {"d1", "d3"}
    assert [doc for doc, _ in ours(QueryText("river", {"language": "de"}))] == ["d1"]
    weighted = make("sqlite", settings | {"weights": [0, 100, 1, 0]})
    weighted.index(TEXTS)
    assert weighted("stones")[0][0] == "d1"
    for parameters, message in [
        ({"table": "other"}, "the table 'other' not found\nhint: available: docs"),
        ({"table": "plain"}, "the table 'plain' has no full text index"),
        ({"id": "id"}, "the column 'id' not found\nhint: available: body, key"),
        ({"path": sqlite_file + "x"}, "file not found"),
    ]:
        with pytest.raises(InputError, match=message):
            make("sqlite", settings | parameters).index(TEXTS)
    with pytest.raises(InputError, match="SQLite: no such column"):
        ours(QueryText("river", {"colour": "red"}))


def test_sql_with_distances_is_refused(sqlite_file):
    select = "SELECT key, {} FROM plain WHERE body LIKE :query ORDER BY distance LIMIT :depth"
    near = make("sqlite", {"path": sqlite_file, "sql": select.format("distance")})
    near.index(TEXTS)
    with pytest.raises(
        InputError, match=r"not in the order of its scores: 'd1' \(0\) comes before 'd3'"
    ):
        near("%river%")
    turned = make("sqlite", {"path": sqlite_file, "sql": select.format("-distance")})
    turned.index(TEXTS)
    assert turned("%river%") == [("d1", 0.0), ("d3", -2.0)]
    only = make("sqlite", {"path": sqlite_file, "sql": select.replace(", {}", "")})
    only.index(TEXTS)
    assert [doc for doc, _ in only("%river%")] == ["d1", "d3"]


@pytest.fixture
def duck_file(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = str(tmp_path / "docs.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE docs (key VARCHAR, v FLOAT[6], language VARCHAR, year INTEGER)"
        )
        connection.executemany(
            "INSERT INTO docs VALUES (?, ?, ?, ?)",
            [[name, v.tolist(), language(i), i] for i, (name, v) in enumerate(VECTORS.items())],
        )
    return path


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
def test_a_duckdb_table(duck_file, metric):
    settings = {"path": duck_file, "table": "docs", "id": "key", "vector": "v", "embed": embed,
                "metric": metric, "depth": 10}  # fmt: skip
    ours = make("duckdb", settings)
    ours.index(CORPUS)
    assert [doc for doc, _ in ours("query")] == best(metric)
    assert [doc for doc, score in ours("query")] == best(metric)
    assert dict(ours("query")) == pytest.approx(
        {name: SCORES[metric](VECTORS[name]) for name in best(metric)}, rel=1e-5
    )
    assert [doc for doc, _ in ours(FILTER)] == best(metric, FILTERED)
    for parameters, message in [
        ({"table": "other"}, "the table 'other' not found\nhint: available: docs"),
        ({"vector": "w"}, "the column 'w' not found\nhint: available: key, language, v"),
        ({"path": duck_file + "x"}, "file not found"),
    ]:
        with pytest.raises(InputError, match=message):
            make("duckdb", settings | parameters).index(CORPUS)


def test_duckdb_by_sql_and_by_words(duck_file):
    select = "SELECT key, {} FROM docs ORDER BY year LIMIT $depth"
    near = make("duckdb", {"path": duck_file, "sql": select.format("year")})
    near.index(CORPUS)
    with pytest.raises(InputError, match="not in the order of its scores"):
        near("query")
    turned = make("duckdb", {"path": duck_file, "sql": select.format("-year"), "depth": 3})
    turned.index(CORPUS)
    assert turned("query") == [("d0", 0.0), ("d1", -1.0), ("d2", -2.0)]
    words = make("duckdb", {})
    try:
        words.index(TEXTS)
    except InputError as error:  # DuckDB downloads the extension, which tests do not
        assert "DuckDB's extension 'fts' is not installed" in str(error)
    else:
        assert [doc for doc, _ in words("river stones")] == ["d3", "d1"]


# --- all of them ---


@pytest.mark.parametrize(
    ("name", "module", "package", "settings"),
    [
        ("qdrant", "qdrant_client", "qdrant-client", {"embed": embed}),
        ("chroma", "chromadb", "chromadb", {"embed": embed}),
        ("lancedb", "lancedb", "lancedb", {}),
        ("tantivy", "tantivy", "tantivy", {}),
        ("duckdb", "duckdb", "duckdb", {}),
        ("mcp", "mcp", "mcp", {"server": "python x.py"}),
    ],
)
def test_a_missing_package_names_its_extra(name, module, package, settings, monkeypatch):
    for loaded in [m for m in sys.modules if m.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        GoodgainError, match=rf"'{package}', which is not installed\nhint: pip install"
    ):
        make(name, settings).index(CORPUS)


def test_a_client_of_qdrant_is_not_known_in_another_run(qdrant_client, tmp_path):
    ours = {
        "mine": make(
            "qdrant",
            {
                "client": qdrant_client,
                "collection": "dot",
                "vector": "v",
                "id": "key",
                "embed": embed,
            },
        )
    }
    queries, qrels = {"q": "query"}, {"q": {best("dot")[0]: 1}}
    gg.Experiment(CORPUS, queries, qrels, ours, measures="RR").run(tmp_path)
    again = gg.Experiment(CORPUS, queries, qrels, ours, measures="RR").run(tmp_path)
    assert any("the state of a QdrantClient cannot be read" in text for text in again.warnings())


def test_tantivy_sqlite_and_duckdb_in_threads_and_in_a_hybrid():
    systems = {name: make(name, {}) for name in ("tantivy", "sqlite")}
    systems["near"] = make("duckdb", {"embed": lambda texts: [[float(len(t)), 1.0] for t in texts]})
    systems["both"] = Hybrid(["tantivy", "sqlite", "near"])
    queries = {f"q{i}": text for i, text in enumerate(TEXTS.values())}
    qrels = {f"q{i}": {doc: 1} for i, doc in enumerate(TEXTS)}
    for options in ({}, {"concurrency": 4}, {"timeout": 20}):
        result = gg.Experiment(TEXTS, queries, qrels, systems, measures="RR", **options).run()
        assert not result.failures
        assert all(not t.errors for t in result.timings.values())
        assert result["tantivy"]["RR"] == result["sqlite"]["RR"] == 1
