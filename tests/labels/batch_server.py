"""A local server that speaks OpenAI's Batch and Anthropic's Message Batches, with faults on demand.

A batch is done as soon as `finish` says so. Calls are answered by their documents, as in server.py: `GAIN=3`.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GAIN = re.compile(r"GAIN=(\d)")


class BatchServer:
    """Serves on 127.0.0.1 from its own thread; a context manager."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}  # id: {"calls": [(custom_id, body)], ...}
        self.created: Counter[str] = Counter()  # documents in batches that were accepted
        self.faults: Counter[str] = Counter()  # how often each is still to happen
        self.finish = True
        self.status = "completed"
        self.shuffle = False
        self.reports_usage = True
        self.garbage: list[str] = []  # lines added to the results
        self.left_out: set[int] = set()  # numbers of calls without a result
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> BatchServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take_fault(self, name: str) -> bool:
        if self.faults[name]:
            self.faults[name] -= 1
            return True
        return False

    def add(self, calls: list[tuple[str, dict[str, Any]]], metadata: Any = None) -> str:
        name = f"batch_{len(self.batches) + 1}"
        self.batches[name] = {"calls": calls, "metadata": metadata}
        self.created.update(body["messages"][-1]["content"] for _, body in calls)
        return name

    def answered(self, name: str) -> list[tuple[str, str]]:
        calls = [
            (key, body["messages"][-1]["content"])
            for i, (key, body) in enumerate(self.batches[name]["calls"])
            if i not in self.left_out
        ]
        return calls[::-1] if self.shuffle else calls

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None: ...

            def do_GET(self) -> None:
                owner.requests.append(f"GET {self.path}")
                if owner.take_fault("read500"):
                    return self._send(500, {"error": {"message": "later"}})
                path = self.path.partition("?")[0]
                parts = path.strip("/").split("/")
                if path == "/v1/batches":
                    return self._send(
                        200,
                        {
                            "object": "list",
                            "has_more": False,
                            "data": [_openai(owner, n) for n in owner.batches],
                        },
                    )
                if path == "/v1/messages/batches":
                    return self._send(
                        200,
                        {
                            "data": [_anthropic(owner, n) for n in owner.batches],
                            "has_more": False,
                            "first_id": None,
                            "last_id": None,
                        },
                    )
                if parts[-1] == "results":
                    return self._send(200, _anthropic_results(owner, parts[-2]))
                if parts[1] == "messages":
                    return self._send(200, _anthropic(owner, parts[-1]))
                if parts[1] == "batches":
                    return self._send(200, _openai(owner, parts[-1]))
                kind, _, name = parts[2].partition("-")
                return self._send(200, _openai_results(owner, name, kind == "errors"))

            def do_POST(self) -> None:
                owner.requests.append(f"POST {self.path}")
                data = self.rfile.read(int(self.headers["content-length"]))
                if self.path == "/v1/files":
                    head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
                    for part in BytesParser().parsebytes(head + data).get_payload():
                        if part.get_param("name", header="content-disposition") == "file":
                            name = f"file-{len(owner.files)}"
                            owner.files[name] = part.get_payload(decode=True).decode()
                    return self._send(
                        200,
                        {
                            "id": name,
                            "object": "file",
                            "bytes": 1,
                            "created_at": 1,
                            "filename": "x",
                            "purpose": "batch",
                        },
                    )
                if owner.take_fault("refused"):
                    return self._send(400, {"error": {"message": "no such model", "type": "x"}})
                if owner.take_fault("not_taken"):  # fails without having created anything
                    return self._send(503, {"error": {"message": "busy", "type": "x"}})
                body = json.loads(data)
                if self.path == "/v1/batches":
                    lines = owner.files[body["input_file_id"]].splitlines()
                    rows = [json.loads(line) for line in lines]
                    name = owner.add([(r["custom_id"], r["body"]) for r in rows], body["metadata"])
                    answer = _openai(owner, name)
                else:
                    rows = body["requests"]
                    name = owner.add([(r["custom_id"], r["params"]) for r in rows])
                    answer = _anthropic(owner, name)
                if owner.take_fault("lost_reply"):  # created, but the client never learns of it
                    self.close_connection = True
                    self.connection.close()
                    return None
                if owner.take_fault("500_after"):
                    return self._send(500, {"error": {"message": "ours", "type": "x"}})
                return self._send(200, answer)

            def _send(self, status: int, body: Any) -> None:
                data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler


def _gain_text(content: str) -> str:
    match = GAIN.search(content)
    return json.dumps({"gain": int(match[1]) if match else 0, "reason": "so"})


def _openai(server: BatchServer, name: str) -> dict[str, Any]:
    return {
        "id": name, "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": "f",
        "completion_window": "24h", "created_at": 1,
        "status": server.status if server.finish else "in_progress",
        "output_file_id": f"output-{name}" if server.finish else None,
        "error_file_id": f"errors-{name}" if server.finish else None,
        "metadata": server.batches[name]["metadata"],
        "errors": {"object": "list", "data": [{"code": "x", "message": "line 1 is wrong"}]}
        if server.status == "failed" else None,
    }  # fmt: skip


def _openai_results(server: BatchServer, name: str, errors: bool) -> str:
    lines = []
    for key, content in server.answered(name):
        line: dict[str, Any] = {"id": "r", "custom_id": key, "response": None, "error": None}
        if "EXPIRED" in content:
            line["error"] = {"code": "batch_expired", "message": "not in time"}
        elif "MODERATED" in content:
            body = {
                "error": {"message": "flagged by moderation", "code": "content_policy_violation"}
            }
            line["response"] = {"status_code": 400, "request_id": "r", "body": body}
        elif "BROKEN" in content:
            body = {"error": {"message": "try later", "code": "server_error"}}
            line["response"] = {"status_code": 500, "request_id": "r", "body": body}
        else:
            message = {"role": "assistant", "content": _gain_text(content)}
            body = {"id": "x", "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10}}  # fmt: skip
            if not server.reports_usage:
                del body["usage"]
            line["response"] = {"status_code": 200, "request_id": "r", "body": body}
        failed = bool(line["error"]) or line["response"]["status_code"] != 200
        if failed is errors:
            lines.append(json.dumps(line))
    return "\n".join(lines + ([] if errors else server.garbage))


def _anthropic(server: BatchServer, name: str) -> dict[str, Any]:
    calls = len(server.batches[name]["calls"])
    counts = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    counts["succeeded" if server.finish else "processing"] = calls
    time = "2026-01-01T00:00:00Z"
    return {
        "id": name, "type": "message_batch", "created_at": time, "expires_at": time,
        "processing_status": "ended" if server.finish else "in_progress", "request_counts": counts,
        "ended_at": None, "archived_at": None, "cancel_initiated_at": None, "results_url": None,
    }  # fmt: skip


def _anthropic_results(server: BatchServer, name: str) -> str:
    lines = []
    for key, content in server.answered(name):
        result: dict[str, Any]
        if "EXPIRED" in content:
            result = {"type": "expired"}
        elif "MODERATED" in content:
            error = {
                "type": "invalid_request_error",
                "message": "blocked by content filtering policy",
            }
            result = {"type": "errored", "error": {"type": "error", "error": error}}
        elif "BROKEN" in content:
            error = {"type": "api_error", "message": "try later"}
            result = {"type": "errored", "error": {"type": "error", "error": error}}
        else:
            message = {"id": "m", "type": "message", "role": "assistant", "stop_reason": "end_turn",
                       "content": [{"type": "text", "text": _gain_text(content)}],
                       "usage": {"input_tokens": 100, "output_tokens": 10}}  # fmt: skip
            if not server.reports_usage:
                del message["usage"]
            result = {"type": "succeeded", "message": message}
        lines.append(json.dumps({"custom_id": key, "result": result}))
    return "\n".join(lines + server.garbage)
