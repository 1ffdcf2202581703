"""Replies in every form of HTTP/1.1, through the official client over both HTTP clients."""

import asyncio
import gzip
import json
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from goodgain.errors import UsageError
from goodgain.labels import OpenAIJudge, Prompt, Request, Retry

pytest.importorskip("openai")
pytest.importorskip("httptools")

REPLY = '{"gain": 3, "reason": "it says so"}'
BODY = json.dumps(
    {"choices": [{"message": {"content": REPLY}, "finish_reason": "stop"}], "usage": {}}
).encode()
OK = b"HTTP/1.1 200 OK\r\n"
WHOLE = b"content-length: %d\r\n\r\n%b" % (len(BODY), BODY)
PACKED = gzip.compress(BODY)
CHUNKS = b"5\r\n%b\r\n%x;note=x\r\n%b\r\n0\r\n\r\n" % (BODY[:5], len(BODY) - 5, BODY[5:])

FORMS = {
    "length": OK + WHOLE,
    "no reason": b"HTTP/1.1 200\r\n" + WHOLE,
    "chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "packed": OK + b"Content-Encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(PACKED) + PACKED,
    "after a hint": b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + OK + WHOLE,
    "connection closes": OK + b"Connection: close\r\n" + WHOLE,
    "up to the end": b"HTTP/1.0 200 OK\r\n\r\n" + BODY,
}
ENDING = ("connection closes", "up to the end")


class Raw:
    """A server that sends exactly these bytes, a few at a time."""

    def __init__(self, reply: bytes, piece: int = 7, ends: bool = False) -> None:
        self.reply, self.piece, self.ends = reply, piece, ends
        self.connections = 0
        self.requests: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                reply = self.reply
                if b"/elsewhere" in head:
                    reply = FORMS["length"]
                for at in range(0, len(reply), self.piece):
                    writer.write(reply[at : at + self.piece])
                    await writer.drain()
                    await asyncio.sleep(0)
                if self.ends:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()


def calls(
    raw: Raw, ask: Callable[[OpenAIJudge], Awaitable[None]], tls: ssl.SSLContext | None = None
) -> None:
    async def main() -> None:
        server = await asyncio.start_server(raw, "127.0.0.1", 0, ssl=tls)
        port = server.sockets[0].getsockname()[1]
        scheme, host = ("https", "localhost") if tls else ("http", "127.0.0.1")
        judge = OpenAIJudge("m", base_url=f"{scheme}://{host}:{port}/v1", timeout=5.0)
        async with server:
            await ask(judge)
            await judge.aclose()

    asyncio.run(asyncio.wait_for(main(), 60))


def request_for(document: str = "text") -> Request:
    return Request("what?", (document,), Prompt.of())


@pytest.fixture(params=["lean", "default"], autouse=True)
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    if request.param == "default":
        monkeypatch.setattr("goodgain.labels.judges.client.find_spec", lambda name: None)
    return str(request.param)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece", [1, 7, 1 << 16])
def test_every_form_of_a_reply_is_read(form: str, piece: int) -> None:
    raw = Raw(FORMS[form], piece, form in ENDING)

    async def ask(judge: OpenAIJudge) -> None:
        for i in range(3):
            assert (await judge(request_for(f"text {i}"))).text == REPLY

    calls(raw, ask)
    assert raw.connections == (3 if form in ENDING else 1)
    bodies = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in raw.requests]
    for i, body in enumerate(bodies):
        assert f"\ntext {i}\n" in body["messages"][1]["content"]


@pytest.mark.parametrize(
    "reply",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n{",
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"",
    ],
)
def test_an_incomplete_reply_is_retried(reply: bytes) -> None:
    async def ask(judge: OpenAIJudge) -> None:
        with pytest.raises(Retry, match="no connection"):
            await judge(request_for())

    calls(Raw(reply, ends=True), ask)


def test_a_connection_that_the_server_closed_is_not_reused() -> None:
    raw = Raw(FORMS["length"], ends=True)  # it closes without a Connection: close header

    async def ask(judge: OpenAIJudge) -> None:
        for _ in range(3):
            assert (await judge(request_for())).text == REPLY
            await asyncio.sleep(0.05)

    calls(raw, ask)
    assert raw.connections == 3


def test_a_redirect_is_followed() -> None:
    moved = b"HTTP/1.1 307 Moved\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n"
    raw = Raw(moved)

    async def ask(judge: OpenAIJudge) -> None:
        assert (await judge(request_for("a text"))).text == REPLY

    calls(raw, ask)
    assert raw.requests[-1].startswith(b"POST /elsewhere")
    assert b"a text" in raw.requests[-1]


def test_a_key_of_two_lines_is_refused_and_never_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\r\nx-more: 1")
    raw = Raw(FORMS["length"])

    async def ask(judge: OpenAIJudge) -> None:
        with pytest.raises(UsageError, match="OPENAI_API_KEY contains a line break") as raised:
            await judge(request_for())
        assert "sk-secret" not in str(raised.value)

    calls(raw, ask)
    assert not raw.requests


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate")
def test_tls_requires_a_trusted_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    raw = Raw(FORMS["chunks"])

    async def trusted(judge: OpenAIJudge) -> None:
        assert (await judge(request_for())).text == REPLY
        assert (await judge(request_for())).text == REPLY

    async def untrusted(judge: OpenAIJudge) -> None:
        with pytest.raises(Retry, match="CERTIFICATE_VERIFY_FAILED"):
            await judge(request_for())

    calls(raw, untrusted, context)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    calls(raw, trusted, context)
    assert len(raw.requests) == 2
