"""A local server that behaves like the OpenAI and Anthropic endpoints, with faults on demand.

A document chooses its own reply: `GAIN=3` for a gain, and `FAULT=name` or `FAULT=name*2` for a fault,
always or on the first two requests only. The server counts the requests per document, so that a test knows
what was paid for. As a program it prints its port and serves until its parent exits:

    python tests/labels/server.py [--delay 0.05]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import threading
import time
from collections import Counter
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

FAULT = re.compile(r"FAULT=([a-z0-9_]+)(?:\*(\d+))?")
FORM = re.compile(r"FORM=(.+)")
GAIN = re.compile(r"GAIN=(-?\d+)")
KEY = "sk-secret-4711"  # the API key of the tests, which must never be stored or printed
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
FAILURES = {
    "schema", "429", "429date", "quota", "401", "400", "500", "503", "529", "html", "filter400",
    "timeout", "reset", "half", "drip",
}  # fmt: skip


class Server:
    """Serves on 127.0.0.1 from its own thread; a context manager."""

    def __init__(self, delay: float = 0.0, structured: bool = True) -> None:
        self.delay = delay
        self.structured = structured
        self.requests: Counter[str] = Counter()  # by document
        self.answered: Counter[str] = Counter()  # those with a reply that costs tokens
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.keep_bodies = True
        self.reply: str | None = None  # the text of every reply, whatever the documents say
        self.reports_usage = True
        # By the name of a form, the API and the number of the request: status, body, headers.
        self.forms: Callable[[str, bool, int], tuple[int, Any, str]] = lambda *_: (500, "", "")
        self.in_flight = self.most_in_flight = 0
        self.abandoned: Counter[str] = Counter()  # whose connection ended before the reply had
        self.port = 0
        self.connections: set[Connection] = set()
        self._faults: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def openai_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(self.listen())
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for connection in self.connections:
            connection.transport.abort()
        for fault in self._faults:
            fault.cancel()
        self._loop.run_until_complete(asyncio.gather(*self._faults, return_exceptions=True))

    async def listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(self), "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    def take(self, path: str, head: bytes, body: bytes, connection: Connection) -> None:
        """Handle a complete request: reply after the delay."""
        request = json.loads(body)
        if self.keep_bodies:
            self.bodies.append(request)
            self.headers.append(_headers(head))
        user = str(request["messages"][-1]["content"])
        documents = _documents(user) or [user]
        self.requests.update(documents)
        connection.unanswered = documents
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        wants_schema = "response_format" in request or "output_config" in request
        refused = wants_schema and not self.structured
        anthropic = path.endswith("/messages")
        asyncio.get_running_loop().call_later(
            self.delay, self._answer, documents, refused, anthropic, head, connection
        )

    def _answer(
        self,
        documents: list[str],
        refused: bool,
        anthropic: bool,
        head: bytes,
        connection: Connection,
    ) -> None:
        self.in_flight -= 1
        form = FORM.search(documents[0])
        if form:
            self.answered.update(documents)
            connection.send(*self.forms(form[1], anthropic, self.requests[documents[0]]))
            return
        fault = "schema" if refused else self._fault(documents)
        if fault in FAILURES:
            failing = asyncio.create_task(_fail(fault, anthropic, head, connection))
            self._faults.add(failing)
            failing.add_done_callback(self._faults.discard)
            return
        self.answered.update(documents)
        text, reason, refusal = _reply_text(fault, documents)
        text = text if self.reply is None else self.reply
        if fault == "echokey":
            text = text.replace("{key}", _key(head).removeprefix("Bearer "))
        shape = _anthropic_reply if anthropic else _openai_reply
        body = shape(text, reason, refusal)
        if not self.reports_usage:
            del body["usage"]
        connection.send(200, body)

    def _fault(self, documents: list[str]) -> str:
        for document in documents:
            for name, times in FAULT.findall(document):
                if not times or self.requests[document] <= int(times):
                    return str(name)
        return ""


class Connection(asyncio.BufferedProtocol):
    """One connection, one request at a time, without streams: benchmarks must not wait for the server."""

    def __init__(self, server: Server) -> None:
        self.unanswered: list[str] = []  # documents of the request that is being answered
        self._server = server
        self._buffer = memoryview(bytearray(1 << 16))
        self._unread = bytearray()

    def connection_made(self, transport: Any) -> None:
        self.transport: asyncio.Transport = transport
        self._server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.connections.discard(self)
        self._server.abandoned.update(self.unanswered)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._unread += self._buffer[:nbytes]
        end = self._unread.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        head = bytes(self._unread[:end])
        length = LENGTH.search(head)
        whole = end + (int(length[1]) if length else 0)
        if len(self._unread) < whole:
            return
        body = bytes(self._unread[end:whole])
        del self._unread[:whole]
        path = head.split(b" ", 2)[1].decode("latin-1")
        self._server.take(path, head, body, self)

    def send(self, status: int, body: Any, more: str = "") -> None:
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        data = text.encode() if isinstance(text, str) else text
        head = (
            f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{more}"
            f"content-length: {len(data)}\r\n\r\n"
        )
        self.transport.write(head.encode() + data)
        self.unanswered = []


async def _fail(fault: str, anthropic: bool, head: bytes, connection: Connection) -> None:
    """Fail instead of replying."""
    send, transport = connection.send, connection.transport
    match fault:
        case "schema":
            send(400, _error("response_format json_schema is not supported here", anthropic))
        case "429":
            send(429, _error("slow down", anthropic), "retry-after: 0.3\r\n")
        case "429date":
            later = formatdate(time.time() + 1.5, usegmt=True)
            send(429, _error("slow down", anthropic), f"retry-after: {later}\r\n")
        case "quota":
            send(429, _error("no money left", anthropic, "insufficient_quota"))
        case "401":
            send(401, _error(f"Incorrect API key provided: {_key(head)}", anthropic))
        case "400":
            send(400, _error("this request is wrong", anthropic))
        case "500" | "503" | "529":
            send(int(fault), _error("our fault", anthropic))
        case "html":
            send(502, "<html>bad gateway</html>")
        case "filter400":
            send(400, _error("filtered", anthropic, "content_filter"))
        case "timeout":
            await asyncio.sleep(60)
            transport.close()
        case "reset":
            transport.abort()
        case "half":  # a connection that ends inside the reply
            transport.write(b'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"choices": [')
            transport.close()
        case "drip":  # a byte now and then: each read is quick, the whole never ends
            transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n")
            for _ in range(500):
                transport.write(b" ")
                await asyncio.sleep(0.1)


def _documents(user: str) -> list[str]:
    """The documents between their marks, without a regular expression, which would dominate the time."""
    documents = []
    at = user.find("<document")
    while at >= 0:
        start = user.index(">\n", at) + 2
        end = user.index("\n</document", start)
        documents.append(user[start:end])
        at = user.find("<document", end + len("\n</document"))
    return documents


def _reply_text(fault: str, documents: list[str]) -> tuple[str, str, bool]:
    """The text of the reply, why it ended, and whether it is a refusal."""
    gains = [_gain(d) for d in documents]
    one = gains[0]
    plain = json.dumps({"gain": one, "reason": "it says so"})
    match fault:
        case "refusal":
            return "I cannot help with that.", "stop", True
        case "filter":
            return "", "content_filter", False
        case "length":
            return plain[:9], "length", False
        case "notjson":
            return "I would say three.", "stop", False
        case "prose":
            return f"Here it is: {plain} Good luck!", "stop", False
        case "fence":
            return f"```json\n{plain}\n```", "stop", False
        case "wrongkey":
            return '{"score": 3}', "stop", False
        case "outside":
            return '{"gain": 9, "reason": "superb"}', "stop", False
        case "fraction":
            return '{"gain": 2.5, "reason": "between"}', "stop", False
        case "text":
            return json.dumps({"gain": str(one), "reason": "in words"}), "stop", False
        case "boolean":
            return '{"gain": true, "reason": "yes"}', "stop", False
        case "empty":
            return "", "stop", False
        case "echokey":
            return json.dumps({"gain": one, "reason": "your key is {key}"}), "stop", False
    if len(documents) > 1:
        rows = [{"document": i, "gain": g} for i, g in enumerate(gains, 1)]
        if fault == "missing":
            rows.pop()
        return json.dumps({"labels": rows}), "stop", False
    return plain, "stop", False


def _gain(document: str) -> int:
    match = GAIN.search(document)
    return int(match[1]) if match else sum(document.encode()) % 4


def _openai_reply(text: str, reason: str, refusal: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": None if refusal else text}
    if refusal:
        message["refusal"] = text
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": "served-model",
        "choices": [{"index": 0, "finish_reason": reason, "message": message, "logprobs": None}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }  # fmt: skip


def _anthropic_reply(text: str, reason: str, refusal: bool) -> dict[str, Any]:
    reasons = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    return {
        "id": "msg_x", "type": "message", "role": "assistant", "model": "served-model",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": "refusal" if refusal else reasons[reason], "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }  # fmt: skip


def _error(message: str, anthropic: bool, code: str | None = None) -> dict[str, Any]:
    if anthropic:
        return {"type": "error", "error": {"type": code or "some_error", "message": message}}
    return {"error": {"message": message, "type": "some_error", "param": None, "code": code}}


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if line)
    return {name.lower(): value.strip() for name, _, value in pairs}


def _key(head: bytes) -> str:
    headers = _headers(head)
    return headers.get("authorization", headers.get("x-api-key", ""))


async def _main(delay: float) -> None:
    server = Server(delay)
    server.keep_bodies = False
    await server.listen()
    print(server.port, flush=True)
    await asyncio.get_running_loop().run_in_executor(
        None, sys.stdin.read
    )  # until the parent closes it


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    asyncio.run(_main(parser.parse_args().delay))
