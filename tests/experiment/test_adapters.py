"""Retrievers of services: HTTP on the loopback interface, and PostgreSQL where it is installed."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.experiment.retrievers import make

DOCUMENTS = {
    "d1": "the river runs under the bridge",
    "d2": "a house with a garden and a window",
    "d3": "stones in the river, a river of stones",
}


class Service(BaseHTTPRequestHandler):
    """Counts words, and responds in the format of each service."""

    protocol_version = "HTTP/1.1"
    connections: ClassVar[set[int]] = set()
    requests: ClassVar[list[tuple[str, str, dict]]] = []

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.connections.add(self.client_address[1])
        address = urlsplit(self.path)
        parameters = parse_qs(address.query)
        if address.path == "/broken":
            return self.answer(500, b"out of order")
        if address.path == "/text":
            return self.answer(200, b"no json")
        ranking = self.rank(parameters["q"][0], int(parameters.get("n", ["10"])[0]))
        if address.path == "/ids":
            return self.answer(200, json.dumps({"hits": [doc for doc, _ in ranking]}).encode())
        return self.answer(
            200,
            json.dumps({"hits": [{"id": doc, "score": score} for doc, score in ranking]}).encode(),
        )

    def do_POST(self):
        self.connections.add(self.client_address[1])
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append((self.path, self.headers.get("Authorization", ""), body))
        if "_search" not in self.path:
            hits = [
                {"doc": {"key": d}, "value": s}
                for d, s in self.rank(body["ask"]["text"], body["k"])
            ]
            return self.answer(200, json.dumps({"result": {"items": hits}}).encode())
        query = body.get("query", {})
        if "multi_match" in query:
            ranking = self.rank(query["multi_match"]["query"], body["size"])
        else:
            ranking = [("d2", 0.9), ("d1", 0.4)]
        hits = [
            {"_index": "docs", "_id": d, "_score": s, "_source": {"key": d}} for d, s in ranking
        ]
        answer = {
            "took": 1,
            "timed_out": False,
            "hits": {"total": {"value": len(hits)}, "hits": hits},
        }
        return self.answer(200, json.dumps(answer).encode())

    def rank(self, query, depth):
        scores = {
            d: float(sum(t.split().count(w) for w in query.split())) for d, t in DOCUMENTS.items()
        }
        best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        return [(d, s) for d, s in best if s > 0][:depth]

    def answer(self, status, content):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture(scope="module")
def service():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def close(retriever):
    retriever._service.close()


def test_http_get_keeps_its_connection(service):
    ours = make("http", {"url": f"{service}/search?q={{query}}&n={{depth}}", "depth": 2})
    Service.connections.clear()
    assert ours("river bridge") == [("d1", 2.0), ("d3", 1.0)]
    assert ours("a & b?") == [("d2", 3.0), ("d3", 1.0)]
    assert len(Service.connections) == 1
    close(ours)


def test_http_post_with_paths_and_a_secret(service, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", "s3cret")
    ours = make(
        "http",
        {
            "url": f"{service}/find",
            "body": {"ask": {"text": "{query}"}, "k": "{depth}"},
            "headers": {"Authorization": "Bearer ${SEARCH_KEY}"},
            "hits": "result.items",
            "id": "doc.key",
            "score": "value",
        },
    )
    assert ours("river") == [("d1", 1.0), ("d3", 1.0)][::-1]
    assert Service.requests[-1] == ("/find", "Bearer s3cret", {"ask": {"text": "river"}, "k": 100})
    assert "s3cret" not in json.dumps(ours.settings())
    assert "SEARCH_KEY" not in repr(ours)
    close(ours)


def test_http_responses_without_scores_count_by_order(service):
    ours = make("http", {"url": f"{service}/ids?q={{query}}"})
    assert [doc for doc, _ in ours("river bridge")] == ["d1", "d3"]
    close(ours)


@pytest.mark.parametrize(
    ("path", "message"),
    [("/broken?q={query}", "returned 500"), ("/text?q={query}", "is not JSON")],
)
def test_http_errors(service, path, message):
    ours = make("http", {"url": service + path})
    with pytest.raises(GoodgainError, match=message):
        ours("x")
    close(ours)


def test_http_in_an_experiment_while_the_service_is_down():
    ours = make("http", {"url": "http://127.0.0.1:9/?q={query}"})
    queries = {"q1": "river", "q2": "house"}
    one = gg.Experiment(
        DOCUMENTS,
        queries,
        {q: {"d1": 1} for q in queries},
        {"down": ours, "up": "bm25"},
        measures="MRR",
    )
    result = one.run()
    assert result.timings["down"].failed == 2
    assert "ConnectionRefusedError" in result.timings["down"].errors["q1"]


@pytest.mark.parametrize("name", ["elasticsearch", "opensearch"])
def test_engines_speak_their_rest_api(name, service):
    pytest.importorskip({"opensearch": "opensearchpy"}.get(name, name))
    full = make(name, {"url": service, "index_name": "docs", "fields": ["title^2", "text"]})
    full.index(DOCUMENTS)
    assert full("river bridge") == [("d1", 2.0), ("d3", 1.0)]
    path, _, body = Service.requests[-1]
    assert path.startswith("/docs/_search")
    assert body["query"] == {
        "multi_match": {"query": "river bridge", "fields": ["title^2", "text"]}
    }
    assert body["size"] == 100

    def embed(texts):
        return [[3.0, 4.0] for _ in texts]

    near = make(
        name,
        {
            "url": service,
            "index_name": "docs",
            "vector_field": "v",
            "embed": embed,
            "id_field": "key",
            "depth": 5,
        },
    )
    near.index(DOCUMENTS)
    assert near("anything") == [("d2", 0.9), ("d1", 0.4)]
    body = Service.requests[-1][2]
    if name == "elasticsearch":
        assert body["knn"]["query_vector"] == [3.0, 4.0]  # as the function returns them
        assert (body["knn"]["field"], body["knn"]["k"]) == ("v", 5)
    else:
        assert body["query"]["knn"]["v"]["vector"] == [3.0, 4.0]
    own = make(
        name, {"url": service, "index_name": "docs", "query": {"match": {"text": "{query}"}}}
    )
    own.index(DOCUMENTS)
    own("stones")
    assert Service.requests[-1][2]["query"] == {"match": {"text": "stones"}}
    for each in (full, near, own):
        each._client.close()


def test_accounts_are_not_saved():
    ours = make("elasticsearch", {"url": "https://me:s3cret@host:9200", "index_name": "docs",
                                  "client": {"api_key": "s3cret"}})  # fmt: skip
    assert "s3cret" not in json.dumps(ours.settings())


@pytest.mark.parametrize(
    ("name", "package"),
    [("elasticsearch", "elasticsearch"), ("opensearch", "opensearch"), ("postgres", "psycopg")],
)
def test_a_missing_client_names_its_install_command(name, package, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "elasticsearch", None)
    monkeypatch.setitem(sys.modules, "opensearchpy", None)
    ours = make(name, {"table": "t"} if name == "postgres" else {"index_name": "docs"})
    with pytest.raises(
        GoodgainError, match=rf"'{package}', which is not installed\nhint: pip install 'goodgain"
    ):
        ours.index(DOCUMENTS)


# --- PostgreSQL ---


@pytest.fixture(scope="module")
def postgres(postgres_server):
    """A database with a table of documents."""
    import psycopg

    dsn = postgres_server
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute('CREATE TABLE "my docs" (id text, text text, words tsvector)')
        for key, text in DOCUMENTS.items():
            connection.execute(
                """INSERT INTO "my docs" VALUES (%s, %s, to_tsvector('english', %s))""",
                (key, text, text),
            )
    return dsn


@pytest.mark.slow
def test_postgres_full_text(postgres):
    ours = make("postgres", {"dsn": postgres, "table": "my docs"})
    ours.index(DOCUMENTS)
    ranking = ours("stones and rivers")
    assert [doc for doc, _ in ranking] == ["d3", "d1"]
    assert ranking[0][1] > ranking[1][1] > 0
    both = make(
        "postgres", {"dsn": postgres, "table": "my docs", "match": "all", "tsvector": "words"}
    )
    both.index(DOCUMENTS)
    assert [doc for doc, _ in both("stones and rivers")] == ["d3"]
    assert both('nothing\'; DROP TABLE "my docs"; --') == []
    own = make(
        "postgres",
        {
            "dsn": postgres,
            "sql": 'SELECT id, length(text) FROM "my docs" WHERE text LIKE %(query)s LIMIT %(depth)s',
            "depth": 1,
        },
    )
    own.index(DOCUMENTS)
    assert own("%river%") in ([("d1", 31.0)], [("d3", 38.0)])
    assert postgres not in json.dumps(ours.settings())
    for each in (ours, both, own):
        each._local.connection.close()


@pytest.mark.slow
def test_pgvector(postgres):
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION vector")
        except psycopg.Error as error:
            pytest.skip(f"no pgvector: {error}".splitlines()[0])
        rng = np.random.default_rng(3)
        vectors = {f"d{i}": rng.normal(size=8) for i in range(50)}
        connection.execute("CREATE TABLE near (id text, v vector(8))")
        for key, vector in vectors.items():
            connection.execute("INSERT INTO near VALUES (%s, %s)", (key, str(vector.tolist())))
        connection.execute("CREATE INDEX ON near USING hnsw (v vector_cosine_ops)")
    target = rng.normal(size=8)
    ours = make(
        "postgres",
        {
            "dsn": postgres,
            "table": "near",
            "vector": "v",
            "embed": lambda texts: [target],
            "depth": 5,
        },
    )
    ours.index(DOCUMENTS)

    def cosine(vector):
        return float(vector @ target / np.linalg.norm(vector) / np.linalg.norm(target))

    best = sorted(vectors, key=lambda key: -cosine(vectors[key]))[:5]
    ranking = ours("x")
    assert [doc for doc, _ in ranking] == best
    assert [score for _, score in ranking] == pytest.approx(
        [cosine(vectors[key]) for key in best], abs=1e-5
    )
    ours._local.connection.close()
