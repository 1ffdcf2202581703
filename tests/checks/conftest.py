"""A small search over SQLite's full-text index, as an HTTP service and as an MCP server, with faults."""

from __future__ import annotations

import json
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

SUBJECTS = [
    "keys", "quotas", "backups", "invoices", "webhooks", "tokens", "alerts", "regions", "logs", "teams",
    "roles", "exports", "imports", "domains", "certificates", "queues", "caches", "indexes", "schemas",
    "drafts", "themes", "plugins", "reports", "budgets", "sandboxes", "mirrors", "labels", "filters",
    "charts", "forms",
]  # fmt: skip
VERBS = ["rotate", "delete", "list"]


def corpus() -> dict[str, str]:
    """A how-to for each subject and verb, and an overview of each subject."""
    documents = {}
    for subject in SUBJECTS:
        for verb in VERBS:
            text = f"How to {verb} {subject}. Use the {verb}-{subject} command; {subject} {verb} at once."
            documents[f"docs/{subject}/{verb}.md"] = text
        documents[f"docs/{subject}/overview.md"] = (
            f"An overview of {subject} and what they are for."
        )
    return documents


class Search:
    """The index, and what is wrong with it at the moment."""

    def __init__(self, documents: dict[str, str]) -> None:
        self.lock = threading.Lock()
        self.index = sqlite3.connect(":memory:", check_same_thread=False)
        self.index.execute("create virtual table docs using fts5(id unindexed, body)")
        self.index.executemany("insert into docs values (?, ?)", documents.items())
        self.reversed_for: set[str] = set()  # subjects whose ranking is turned round
        self.fail_every = 0  # every n-th call fails once
        self.down = False
        self.calls = 0
        self.slow = 0.0

    def add(self, documents: dict[str, str]) -> None:
        with self.lock:
            self.index.executemany("insert into docs values (?, ?)", documents.items())

    def find(self, query: str, limit: int) -> list[dict[str, str]]:
        words = " OR ".join(f'"{word}"' for word in query.replace('"', "").split())
        with self.lock:
            rows = self.index.execute(
                "select id, body from docs where docs match ? order by rank, id limit 20", (words,)
            ).fetchall()
        if any(subject in query for subject in self.reversed_for):
            rows = [row for row in rows if not any(v in row[0] for v in VERBS)] + rows[:0]
        return [{"id": doc, "text": body} for doc, body in rows[:limit]]


@pytest.fixture(scope="session")
def _http_server():
    holder: dict[str, Search] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            search = holder["search"]
            search.calls += 1
            if search.down or (search.fail_every and search.calls % search.fail_every == 0):
                self.reply(503, {"error": "overloaded"})
                return
            if search.slow:
                threading.Event().wait(search.slow)
            query = parse_qs(urlsplit(self.path).query)
            limit = int(query.get("k", ["10"])[0])
            self.reply(200, {"total": 1, "results": search.find(query["q"][0], limit)})

        def reply(self, status: int, body: object) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server, holder
    server.shutdown()
    server.server_close()


@pytest.fixture
def service(_http_server):
    """(URL, the search behind it)."""
    server, holder = _http_server
    holder["search"] = Search(corpus())
    return f"http://127.0.0.1:{server.server_address[1]}/search?q={{query}}&k={{depth}}", holder[
        "search"
    ]


@pytest.fixture
def golden(tmp_path, service) -> Path:
    """A golden set of thirty queries whose target is the service."""
    url, _ = service
    lines = ["version: 1", f"target: {{http: {json.dumps(url)}}}", "cases:"]
    for i, subject in enumerate(SUBJECTS):
        verb = VERBS[i % len(VERBS)]
        lines += [
            f"  - id: {verb}-{subject}",
            f"    query: how do I {verb} {subject}",
            f"    tags: [{verb}]",
            f"    relevant: {{docs/{subject}/{verb}.md: 3, docs/{subject}/overview.md: 1}}",
        ]
    path = tmp_path / "golden.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


MCP_SERVER = '''
import sys
sys.path.insert(0, {folder!r})
from conftest_search import Search, corpus
from mcp.server.mcpserver import MCPServer

server = MCPServer("docs", version="1.2")
search = Search(corpus())

@server.tool()
def search_docs(query: str, limit: int = 10) -> list[dict[str, str]]:
    """Search the documentation."""
    return search.find(query, limit)

@server.tool()
def ping() -> str:
    """Say that the server is there."""
    return "pong"

if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run()
'''


@pytest.fixture(scope="session")
def mcp_script(tmp_path_factory) -> Path:
    """A script that serves the search over MCP: on its standard streams, or at a port."""
    folder = tmp_path_factory.mktemp("mcp")
    source = (
        Path(__file__).read_text().split('\n@pytest.fixture(scope="session")\ndef _http_server')[0]
    )
    (folder / "conftest_search.py").write_text(source)
    script = folder / "server.py"
    script.write_text(MCP_SERVER.format(folder=str(folder)))
    return script
