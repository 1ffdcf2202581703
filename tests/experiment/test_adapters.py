"""Retrievers of services: HTTP on the loopback interface, and PostgreSQL where it is installed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.experiment.queries import QueryText
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
        if self.path == "/distances":
            ranked = self.rank(body["ask"]["text"], body["k"])
            items = [{"doc": {"key": d}, "far": 1 / (1 + s)} for d, s in ranked]
            usage = {"tokens": 12, "usd": 0.5}
            return self.answer(200, json.dumps({"items": items, "usage": usage}).encode())
        if self.path.startswith("/missing/"):
            error = {"type": "index_not_found_exception", "reason": "no such index [missing]"}
            return self.answer(404, json.dumps({"error": error, "status": 404}).encode())
        if "_search" not in self.path:
            hits = [
                {"doc": {"key": d}, "value": s}
                for d, s in self.rank(body["ask"]["text"], body["k"])
            ]
            return self.answer(200, json.dumps({"result": {"items": hits}}).encode())
        query = body.get("query", {})
        query = query.get("bool", {}).get("must", [query])[0]
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


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["cosine", "dot", "l2", "l1"])
def test_pgvector_by_every_metric(postgres, metric):
    import psycopg

    rng = np.random.default_rng(11)
    vectors = {f"d{i}": rng.normal(size=6) * rng.uniform(0.2, 4) for i in range(60)}
    target = rng.normal(size=6) * 2
    table = f"by_{metric}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(f"CREATE TABLE {table} (id text, v vector(6), language text)")
        for number, (key, vector) in enumerate(vectors.items()):
            row = (key, str(vector.tolist()), "en" if number % 3 else "de")
            connection.execute(f"INSERT INTO {table} VALUES (%s, %s, %s)", row)
        connection.execute(f"INSERT INTO {table} VALUES ('none', NULL, 'en')")
    score = {
        "cosine": lambda v: v @ target / np.linalg.norm(v) / np.linalg.norm(target),
        "dot": lambda v: v @ target,
        "l2": lambda v: -np.linalg.norm(v - target),
        "l1": lambda v: -np.abs(v - target).sum(),
    }[metric]
    settings = {"dsn": postgres, "table": table, "vector": "v", "metric": metric, "depth": 10,
                "embed": lambda texts: [target]}  # fmt: skip
    ours = make("postgres", settings)
    ours.index(DOCUMENTS)
    best = sorted(vectors, key=lambda key: -score(vectors[key]))
    assert [doc for doc, _ in ours("x")] == best[:10]
    assert dict(ours("x")) == pytest.approx({d: score(vectors[d]) for d in best[:10]}, rel=1e-5)
    german = [key for key in best if int(key[1:]) % 3 == 0]
    assert [doc for doc, _ in ours(QueryText("x", {"language": "de"}))] == german[:10]
    ours._local.connection.close()


@pytest.fixture(scope="module")
def lengths(postgres):
    """Documents of different lengths, and equal ones under ids that languages sort differently."""
    import psycopg

    rows = {"short": "river", "long": "river " + "filler " * 400 + "river",
            **dict.fromkeys(("B", "a", "C", "ä", "b"), "window")}  # fmt: skip
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE TABLE lengths (id text, text text)")
        for row in rows.items():
            connection.execute("INSERT INTO lengths VALUES (%s, %s)", row)
    return postgres


@pytest.mark.slow
def test_ranking_and_normalization_of_full_text(lengths):
    """The parameters are those of PostgreSQL: the scores are those of its functions."""
    import psycopg

    def ranked(**settings):
        ours = make("postgres", {"dsn": lengths, "table": "lengths", **settings})
        ours.index(DOCUMENTS)
        ranking = ours("river")
        ours._local.connection.close()
        return ranking

    assert [doc for doc, _ in ranked()] == [
        "short",
        "long",
    ]  # without the length it is the other way
    assert [doc for doc, _ in ranked(normalization=0)] == ["long", "short"]
    with psycopg.connect(lengths) as connection:
        for function in ("ts_rank", "ts_rank_cd"):
            for normalization in (0, 1, 2, 8, 33):
                theirs = connection.execute(
                    f"SELECT id, {function}(to_tsvector('english', text), 'river'::tsquery, {normalization}) "
                    "FROM lengths WHERE id IN ('short', 'long')"
                ).fetchall()
                ours = ranked(ranking=function, normalization=normalization)
                assert dict(ours) == pytest.approx(dict(theirs))
                assert [d for d, _ in ours] == sorted(dict(ours), key=lambda d: -dict(theirs)[d])
    for settings, message in [
        ({"ranking": "rank"}, "invalid ranking='rank'"),
        ({"normalization": 64}, "normalization must be an integer from 0 to 63"),
        ({"match": "some"}, "invalid match='some'"),
        ({"metric": "cos"}, "invalid metric='cos'"),
    ]:
        with pytest.raises(GoodgainError, match=message):
            make("postgres", {"table": "lengths", **settings})


@pytest.mark.slow
def test_equal_scores_are_cut_by_descending_id_in_any_language(lengths):
    for depth in range(1, 6):
        ours = make("postgres", {"dsn": lengths, "table": "lengths", "depth": depth})
        ours.index(DOCUMENTS)
        assert [doc for doc, _ in ours("window")] == ["ä", "b", "a", "C", "B"][:depth]
        ours._local.connection.close()


@pytest.mark.slow
def test_queries_as_for_a_web_search(postgres):
    web = make("postgres", {"dsn": postgres, "table": "my docs", "match": "web"})
    web.index(DOCUMENTS)
    assert [doc for doc, _ in web("river -stones")] == ["d1"]
    assert [doc for doc, _ in web('"river of stones"')] == ["d3"]
    assert {doc for doc, _ in web("bridge or garden")} == {"d1", "d2"}
    web._local.connection.close()


@pytest.mark.slow
def test_postgres_says_what_is_missing(postgres):
    for settings, message in [
        ({"table": "nowhere"}, 'PostgreSQL: relation "nowhere" does not exist'),
        ({"table": "my docs", "id": "key"}, 'PostgreSQL: column "key" does not exist'),
        (
            {"table": "my docs", "language": "latin"},
            'PostgreSQL: text search configuration "latin"',
        ),
        (
            {"sql": 'SELECT id, length(text) FROM "my docs" ORDER BY 2'},
            "not in the order of its scores",
        ),
    ]:
        ours = make("postgres", {"dsn": postgres, **settings})
        ours.index(DOCUMENTS)
        with pytest.raises(GoodgainError, match=message):
            ours("river")
        ours._local.connection.close()
    down = make("postgres", {"dsn": "host=127.0.0.1 port=9 dbname=x", "table": "t"})
    down.index(DOCUMENTS)
    with pytest.raises(GoodgainError, match="PostgreSQL: connection failed"):
        down("river")


# --- services that return distances, tokens, filters ---


def test_http_with_distances_tokens_and_filters(service):
    settings = {
        "url": f"{service}/distances",
        "body": {"ask": {"text": "{query}"}, "k": "{depth}", "language": "{filters.language}"},
        "id": "doc.key", "hits": "items",
    }  # fmt: skip
    turned = make("http", {**settings, "score": "far"})
    with pytest.raises(GoodgainError, match="is not in the order of its scores: 'd3' "):
        turned("river stones")
    ours = make(
        "http", {**settings, "distance": "far", "tokens": "usage.tokens", "cost": "usage.usd"}
    )
    answer = ours(QueryText("river stones", {"language": "en"}))
    assert answer.results == [("d3", -0.25), ("d1", -0.5)]
    assert (answer.tokens, answer.cost) == (12, 0.5)
    assert Service.requests[-1][2]["language"] == "en"
    ours("river")
    assert "language" not in Service.requests[-1][2]
    assert ours.takes_filters
    assert not make("http", {"url": f"{service}/?q={{query}}"}).takes_filters
    close(ours)
    close(turned)


@pytest.mark.parametrize("name", ["elasticsearch", "opensearch"])
def test_engines_filter_and_say_what_is_missing(name, service):
    settings = {"url": service, "index_name": "docs"}
    words = make(name, settings)
    words.index(DOCUMENTS)
    words(QueryText("river", {"language": ["en", "de"], "year": 3}))
    filters = [{"terms": {"language": ["en", "de"]}}, {"terms": {"year": [3]}}]
    assert Service.requests[-1][2]["query"]["bool"]["filter"] == filters
    near = make(
        name, {**settings, "vector_field": "v", "embed": lambda texts: [[1.0, 2.0] for _ in texts]}
    )
    near.index(DOCUMENTS)
    near(QueryText("river", {"year": 3}))
    body = Service.requests[-1][2]
    inner = body["knn"] if name == "elasticsearch" else body["query"]["knn"]["v"]
    assert "year" in json.dumps(inner["filter"])
    keyed = make(name, {**settings, "id_field": "name"})
    keyed.index(DOCUMENTS)
    with pytest.raises(GoodgainError, match="has no field 'name'"):
        keyed("river")
    missing = make(name, {**settings, "index_name": "missing"})
    missing.index(DOCUMENTS)
    with pytest.raises(GoodgainError, match="the index 'missing' not found"):
        missing("river")
    down = make(name, {**settings, "url": "http://127.0.0.1:9", "client": {"max_retries": 0}})
    down.index(DOCUMENTS)
    with pytest.raises(GoodgainError, match=r"cannot reach the server at 'http://127.0.0.1:9'"):
        down("river")
    for each in (words, near, keyed, missing, down):
        each._client.close()


# --- MCP ---

SERVER = Path(__file__).with_name("mcp_search_server.py")


@pytest.fixture(scope="module")
def mcp_url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SERVER), str(port)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait(20)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["command", "address"])
def test_mcp_tools(kind, mcp_url):
    server = [sys.executable, str(SERVER)] if kind == "command" else mcp_url
    ours = make("mcp", {"server": server, "depth": 2})
    ours.index(DOCUMENTS)
    assert [doc for doc, _ in ours("river stones")] == ["d3", "d1"]
    assert ours("nothing") == []
    with pytest.raises(GoodgainError, match="the tool reported an error"):
        ours("boom")
    ours.close()
    filtered = make(
        "mcp",
        {"server": server, "arguments": {"query": "{query}", "language": "{filters.language}"}},
    )
    filtered.index(DOCUMENTS)
    assert filtered.takes_filters
    assert filtered(QueryText("river", {"language": "de"})) == []
    assert len(filtered("river")) == 2
    filtered.close()
    with pytest.raises(
        GoodgainError, match="the MCP server has no tool 'find'\nhint: tools: search_docs"
    ):
        make("mcp", {"server": server, "tool": "find"}).index(DOCUMENTS)


@pytest.mark.slow
def test_an_mcp_tool_in_an_experiment(mcp_url):
    queries = {"q1": "river stones", "q2": "garden"}
    systems = {
        "mcp": make("mcp", {"server": mcp_url}),
        "down": make("mcp", {"server": "http://127.0.0.1:9/mcp", "timeout": 2}),
    }
    one = gg.Experiment(
        DOCUMENTS, queries, {"q1": {"d3": 1}, "q2": {"d2": 1}}, systems, measures="RR"
    )
    result = one.run()
    assert result["mcp"]["RR"] == 1
    assert "cannot talk to the MCP server" in result.failures["down"].error
    systems["mcp"].close()


def test_mcp_needs_a_server():
    with pytest.raises(GoodgainError, match="mcp needs a server"):
        make("mcp", {})
