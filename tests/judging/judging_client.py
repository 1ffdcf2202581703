"""A desk with items and a model's labels, and a client that speaks to its server as the page does."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import goodgain
from goodgain.judging.items import Item
from goodgain.judging.labels_desk import LabelsDesk
from goodgain.judging.scales import grades

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goodgain.judging import JudgingServer
    from goodgain.labels import Store

MODEL = "model-7f3a9"  # occurs nowhere else, so that a response that names it is seen


def rows(queries: int, documents: int) -> list[dict[str, str]]:
    """Pairs as a file has them."""
    return [
        {
            "query_id": f"q{q}",
            "doc_id": f"d{q}-{d}",
            "question": f"How does thing {q} work?",
            "title": f"Document {d} about thing {q}",
            "text": f"Thing {q} works like this: {'very ' * d}well.\n\nA second paragraph.",
            "url": f"https://example.org/{q}/{d}",
        }
        for q in range(queries)
        for d in range(documents)
    ]


def write_pairs(path: Path, pairs: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in pairs), encoding="utf-8")
    return str(path)


def judge_with_model(path: Path, pairs: list[dict[str, Any]]) -> None:
    """A store in which a model has labelled the pairs: always 3."""

    class Judge:
        model = MODEL

        def __call__(self, request: Any) -> int:
            return 3

    goodgain.label(pairs, Judge(), path)


def desk_of(store: Store, pairs: list[dict[str, Any]], **options: Any) -> LabelsDesk:
    items = [
        Item(
            query=row["query_id"],
            doc=row["doc_id"],
            question=row["question"],
            text=row["text"],
            title=row.get("title", ""),
            url=row.get("url", ""),
            narrative=row.get("narrative", ""),
            document="0" * 40,
        )
        for row in pairs
    ]
    return LabelsDesk(store, items, grades("gain-0-4", store), **options)


class Client:
    """The page's requests without a page; everything that the server has sent stays in `bodies`."""

    def __init__(self, server: JudgingServer) -> None:
        self.server = server
        self.bodies: list[bytes] = []
        self._count = 0

    def ask(
        self, path: str, posted: Any = None, method: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body, sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20)
        host = f"127.0.0.1:{self.server.server_port}"
        body = None if posted is None else json.dumps(posted).encode()
        all_headers = {"Host": host, **headers}
        if body is not None:
            all_headers = {
                "Content-Type": "application/json",
                "Origin": f"http://{host}",
                **all_headers,
            }
        connection.request(method or ("GET" if body is None else "POST"), path, body, all_headers)
        answer = connection.getresponse()
        content = answer.read()
        self.bodies.append(content)
        connection.close()
        return answer.status, dict(answer.getheaders()), content

    def get(self, path: str, **headers: str) -> dict[str, Any]:
        status, _, body = self.ask(f"/{self.server.secret}/{path}", **headers)
        return {"status": status, **json.loads(body)}

    def post(self, path: str, posted: dict[str, Any], **headers: str) -> dict[str, Any]:
        self._count += 1
        posted = {"id": f"request{self._count:08}", **posted}
        status, _, body = self.ask(f"/{self.server.secret}/{path}", posted, **headers)
        return {"status": status, **json.loads(body)}

    def start(self, name: str, role: str | None = None) -> dict[str, Any]:
        return self.post("start", {"annotator": name, "role": role})

    def vote(self, name: str, item: dict[str, Any], choice: Any, /, **more: Any) -> dict[str, Any]:
        return self.post(
            "vote",
            {
                "annotator": name,
                "item": item["key"],
                "seen": item["seen"],
                "choice": choice,
                "note": "",
                "reason": "",
                "seconds": 2.5,
                **more,
            },
        )


@contextmanager
def running(server: JudgingServer) -> Iterator[JudgingServer]:
    """The server, answering."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
