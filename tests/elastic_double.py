"""A service that answers the few requests of the Elasticsearch recipe, on loopback."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from goodgain.experiment.retrievers import BM25

if TYPE_CHECKING:
    from collections.abc import Iterator


class Elastic(BaseHTTPRequestHandler):
    """Bulk requests fill an index; a search ranks by BM25 over the fields of its multi_match."""

    protocol_version = "HTTP/1.1"
    documents: dict[str, dict[str, str]]
    retrievers: dict[tuple[str, ...], BM25]

    def do_POST(self) -> None:
        """Index or search."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        path = self.path.partition("?")[0]
        if path.endswith("/_bulk"):
            lines = [json.loads(line) for line in body.splitlines()]
            self.documents.update(
                {a["index"]["_id"]: d for a, d in zip(lines[::2], lines[1::2], strict=True)}
            )
            self.reply({"errors": False, "items": []})
        elif path.endswith("/_search"):
            self.reply(self.search(json.loads(body)))
        else:
            self.send_error(404)

    def search(self, body: dict[str, Any]) -> dict[str, Any]:
        query = body["query"]["multi_match"]
        retriever = self.retriever(tuple(query["fields"]))
        hits = [
            {"_index": "handbook", "_id": doc, "_score": score, "_source": self.documents[doc]}
            for doc, score in retriever(query["query"])[: body["size"]]
        ]
        return {
            "took": 1,
            "timed_out": False,
            "hits": {"total": {"value": len(hits)}, "hits": hits},
        }

    def retriever(self, names: tuple[str, ...]) -> BM25:
        """An index of some fields, made once."""
        if names not in self.retrievers:
            self.retrievers[names] = BM25(stemmer="english")
            texts = {
                doc: " ".join(map(fields.get, names)) for doc, fields in self.documents.items()
            }
            self.retrievers[names].index(texts)
        return self.retrievers[names]

    def reply(self, value: object) -> None:
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def elasticsearch() -> Iterator[str]:
    """The address of such a service with an empty index."""
    handler = type("Handler", (Elastic,), {"documents": {}, "retrievers": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
