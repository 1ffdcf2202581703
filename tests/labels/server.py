"""A local server that behaves like the OpenAI and Anthropic endpoints, with faults on demand.

A document asks for its own reply: `GAIN=3` for a gain, and `FAULT=name` or `FAULT=name*2` for a fault,
always or on the first two requests only. It counts every request by document, so that a test knows
what was paid. As a program it prints its port and serves until its parent goes away:

    python tests/labels/server.py [--delay 0.05]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import threading
from collections import Counter
from typing import Any

FAULT = re.compile(r"FAULT=([a-z0-9_]+)(?:\*(\d+))?")
GAIN = re.compile(r"GAIN=(-?\d+)")
DOCUMENT = re.compile(r"<document[^>]*>\n(.*?)\n</document", re.DOTALL)
KEY = "sk-secret-4711"  # what the tests send as their key, and look for where it must not be
LARGEST = 16 << 20  # of a request, in bytes


class Server:
    """Serves on 127.0.0.1 from a thread of its own; used with `with`."""

    def __init__(self, delay: float = 0.0, structured: bool = True) -> None:
        self.delay = delay
        self.structured = structured
        self.requests: Counter[str] = Counter()  # by document
        self.answered: Counter[str] = Counter()  # of those, replies that carried tokens
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.keep_bodies = True
        self.in_flight = self.most_in_flight = self.ended = 0
        self.port = 0
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
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    async def listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=LARGEST)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path, headers = _head(head)
                body = await reader.readexactly(min(int(headers.get("content-length", 0)), LARGEST))
                if not await self._reply(path, headers, body, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.ended += 1
            writer.close()

    async def _reply(
        self, path: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection lives on."""
        if path == "/stats":
            _send(writer, 200, {"requests": self.requests, "answered": self.answered})
            return True
        request = json.loads(body)
        if self.keep_bodies:
            self.bodies.append(request)
            self.headers.append(headers)
        anthropic = path.endswith("/messages")
        user = str(request["messages"][-1]["content"])
        documents = DOCUMENT.findall(user) or [user]
        self.requests.update(documents)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.in_flight -= 1
        wants_schema = "response_format" in request or "output_config" in request
        if wants_schema and not self.structured:
            _send(
                writer, 400, _error("response_format json_schema is not supported here", anthropic)
            )
            return True
        fault = self._fault(documents)
        return await self._answer(fault, documents, anthropic, headers, writer)

    def _fault(self, documents: list[str]) -> str:
        for document in documents:
            for name, times in FAULT.findall(document):
                if not times or self.requests[document] <= int(times):
                    return str(name)
        return ""

    async def _answer(
        self,
        fault: str,
        documents: list[str],
        anthropic: bool,
        headers: dict[str, str],
        writer: asyncio.StreamWriter,
    ) -> bool:
        match fault:
            case "429":
                _send(writer, 429, _error("slow down", anthropic), {"retry-after": "0.3"})
                return True
            case "429date":
                from email.utils import formatdate
                from time import time

                later = formatdate(time() + 1.5, usegmt=True)
                _send(writer, 429, _error("slow down", anthropic), {"retry-after": later})
                return True
            case "quota":
                _send(writer, 429, _error("no money left", anthropic, "insufficient_quota"))
                return True
            case "401":
                key = headers.get("authorization", headers.get("x-api-key", ""))
                _send(writer, 401, _error(f"Incorrect API key provided: {key}", anthropic))
                return True
            case "400":
                _send(writer, 400, _error("this request is wrong", anthropic))
                return True
            case "500" | "503" | "529":
                _send(writer, int(fault), _error("our fault", anthropic))
                return True
            case "html":
                _send(writer, 502, "<html>bad gateway</html>")
                return True
            case "filter400":
                _send(writer, 400, _error("filtered", anthropic, "content_filter"))
                return True
            case "timeout":
                await asyncio.sleep(60)
                return False
            case "reset":
                writer.transport.abort()
                return False
            case "half":  # a connection that ends inside the reply
                writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"choices": [')
                await writer.drain()
                return False
            case "drip":  # a byte now and then: each read is quick, the whole never ends
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n")
                for _ in range(500):
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.1)
                return False
        self.answered.update(documents)
        text, reason, refusal = _said(fault, documents)
        key = headers.get("authorization", headers.get("x-api-key", ""))
        text = text.replace("{key}", key.removeprefix("Bearer "))
        shape = _anthropic_reply if anthropic else _openai_reply
        _send(writer, 200, shape(text, reason, refusal))
        return True


def _said(fault: str, documents: list[str]) -> tuple[str, str, bool]:
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
            return '{"gain": "3", "reason": "in words"}', "stop", False
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
    found = GAIN.search(document)
    return int(found[1]) if found else sum(document.encode()) % 4


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
    known = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    return {
        "id": "msg_x", "type": "message", "role": "assistant", "model": "served-model",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": "refusal" if refusal else known[reason], "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }  # fmt: skip


def _error(message: str, anthropic: bool, code: str | None = None) -> dict[str, Any]:
    if anthropic:
        return {"type": "error", "error": {"type": code or "some_error", "message": message}}
    return {"error": {"message": message, "type": "some_error", "param": None, "code": code}}


def _head(head: bytes) -> tuple[str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    return first.split(" ")[1], {name.lower(): value.strip() for name, _, value in pairs}


def _send(
    writer: asyncio.StreamWriter, status: int, body: Any, headers: dict[str, str] | None = None
) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    lines = {
        "content-type": "application/json",
        "content-length": str(len(data)),
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + data)


async def _main(delay: float) -> None:
    server = Server(delay)
    server.keep_bodies = False
    await server.listen()
    print(server.port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until it is closed


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    asyncio.run(_main(parser.parse_args().delay))
