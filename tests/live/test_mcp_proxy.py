"""The MCP proxy between the official client and server: what is recorded is what the tools did."""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

import goodgain as gg

pytest.importorskip("mcp")
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

SERVER = Path(__file__).with_name("mcp_server.py")
PROXY = [sys.executable, "-m", "goodgain", "live", "mcp"]
MODES = ["auto", "legacy"]  # without a handshake, as of 2026-07, and with one


@pytest.fixture
def log(tmp_path, monkeypatch):
    path = tmp_path / "tools.jsonl"
    path.touch()
    monkeypatch.setenv("TOOL_LOG", str(path))
    return path


def calls_in(log: Path) -> list[list[str]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def stdio(*command: object) -> StdioServerParameters:
    words = [str(word) for word in command]
    return StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))


def proxied(output: Path, *options: str) -> StdioServerParameters:
    return stdio(*PROXY, "-o", output, *options, "--", sys.executable, SERVER)


@contextmanager
def process(command: list[str], port: int | None = None):
    running = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        if port is not None:
            _wait_for(port)
        yield running
    finally:
        running.terminate()
        running.wait(20)
        running.stderr.close()


def _wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 0.1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"nothing listens at port {port}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def http_proxy(output: Path, *options: str):
    """A server at a port and the proxy before it; yields the proxy's URL and its process."""
    port, own = free_port(), free_port()
    with process([sys.executable, str(SERVER), str(port)], port):
        command = [*PROXY, "-o", str(output), "--port", str(own), *options]
        with process([*command, f"http://127.0.0.1:{port}/mcp"], own) as proxy:
            yield f"http://127.0.0.1:{own}/mcp", proxy


async def agent(target, mode: str) -> list[str]:
    """Known calls; returns what the client saw."""
    seen = []
    async with Client(target, mode=mode) as client:
        await client.list_tools()
        for query in ("alpha", "nothing here", "boom"):
            answer = await client.call_tool("search_docs", {"query": query})
            seen.append(_seen(answer))
        seen.append(_seen(await client.call_tool("ping", {"text": "x"})))
        seen.append(_seen(await client.call_tool("fetch_page", {"url": "https://example.org/a"})))
        together = [client.call_tool("search_docs", {"query": f"slow {i}"}) for i in range(3)]
        seen += map(_seen, await asyncio.gather(*together))
        seen.append(str((await client.read_resource("docs://intro")).contents[0].text))
    return seen


def _seen(answer) -> str:
    blocks = [b.model_dump(mode="json") for b in answer.content]
    return json.dumps([answer.is_error, blocks, answer.structured_content], sort_keys=True)


def check_agent(path: Path, log: Path) -> None:
    """What the proxy recorded of `agent` equals what happened."""
    [trace] = gg.read_traces(path)
    searches = list(trace.searches())
    logged = [argument for tool, argument in calls_in(log) if tool == "search_docs"]
    assert Counter(s.query for s in searches) == Counter(logged)
    assert [s.query for s in searches][:3] == ["alpha", "nothing here", "boom"]
    assert [[r.id for r in s.results] for s in searches[:2]] == [
        ["alpha-0", "alpha-1", "alpha-2"],
        [],
    ]
    assert [s.error is not None for s in searches] == [False, False, True, False, False, False]
    assert not any(s.unread for s in searches)
    assert all(s.latency >= 0.2 for s in searches[3:])
    iterations = [i for i in trace.turns[0].iterations if i.searches]
    assert [len(i.searches) for i in iterations] == [1, 1, 1, 3]
    opens = [o.url for i in trace.turns[0].iterations for o in i.opens]
    assert opens == ["https://example.org/a", "docs://intro"]
    assert trace.system == "docs"


@pytest.mark.parametrize("mode", MODES)
def test_over_standard_streams(mode, log, tmp_path):
    direct = asyncio.run(agent(stdio(sys.executable, SERVER), mode))
    log.write_text("")
    path = tmp_path / "traces.jsonl"
    assert asyncio.run(agent(proxied(path), mode)) == direct
    check_agent(path, log)


@pytest.mark.parametrize("mode", MODES)
def test_over_http(mode, log, tmp_path):
    path = tmp_path / "traces.jsonl"
    with http_proxy(path) as (url, _):
        through = asyncio.run(agent(url, mode))
        check_agent(path, log)
    assert json.loads(through[2])[0] is True


def test_many_clients_of_a_server_without_sessions_do_not_mix_their_calls(log, tmp_path):
    """All use the same ids for their requests."""
    path = tmp_path / "traces.jsonl"

    async def client(url: str, number: int) -> None:
        async with Client(url) as session:
            queries = [f"{number}-{i}" for i in range(10)]
            for query in queries:
                answer = await session.call_tool("search_docs", {"query": query})
                assert answer.structured_content["result"][0]["id"] == f"{query}-0"

    async def all_clients(url: str) -> None:
        await asyncio.gather(*(client(url, n) for n in range(8)))

    with http_proxy(path) as (url, _):
        asyncio.run(all_clients(url))
    searches = [s for trace in gg.read_traces(path) for s in trace.searches()]
    assert Counter(s.query for s in searches) == Counter(a for _, a in calls_in(log))
    assert all([r.id for r in s.results] == [f"{s.query}-{i}" for i in range(3)] for s in searches)


def test_sessions_are_conversations(log, tmp_path):
    path = tmp_path / "traces.jsonl"

    async def session(url: str, query: str) -> None:
        async with Client(url, mode="legacy") as client:
            await client.call_tool("search_docs", {"query": query})

    with http_proxy(path, "--system", "mine") as (url, _):
        for query in ("one", "two"):
            asyncio.run(session(url, query))
    traces = list(gg.read_traces(path))
    assert [[s.query for s in t.searches()] for t in traces] == [["one"], ["two"]]
    assert {t.system for t in traces} == {"mine"}


def raw_server(tmp_path: Path) -> Path:
    """A server that answers every line with its own bytes and more, in odd pieces."""
    script = tmp_path / "echo.py"
    script.write_text(
        "import os, sys\n"
        "while data := os.read(0, 1000):\n"
        "    os.write(1, data)\n"
        "os.write(2, b'done')\n"
        "sys.exit(5)\n"
    )
    return script


def test_bytes_pass_unchanged(tmp_path):
    """Also what is no JSON, no UTF-8, endless, or a hostile message; the exit status too."""
    rng = random.Random(7)
    lines = [
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search"}}',
        b'{"jsonrpc": "2.0",  "id": 1, "result": {"content": "x"}}',
        b'{"id": [], "method": 3}', b'{"id": 1e999, "result": null}', b"[[[[", b"", b"\r", b"null",
        b'[{"id": 2, "method": "tools/call", "params": 7}, {"id": 2, "result": 5}, 3]',
        b'{"id": 4, "method": "tools/list"}', b'{"id": 4, "result": {"tools": [{}]}}',
        b'{"id": 5, "method": "initialize"}', b'{"id": 5, "result": {"serverInfo": 3, "_meta": 4}}',
        b'{"a":' * 100_000, b"{\"id\": \"\\ud800\"}", bytes(range(256)).replace(b"\n", b""),
        rng.randbytes(300_000).replace(b"\n", b" "),
    ]  # fmt: skip
    data = b"\n".join(lines * 3) + b"\nthe end without a newline"
    path = tmp_path / "traces.jsonl"
    command = [*PROXY, "-o", str(path), "--", sys.executable, str(raw_server(tmp_path))]
    done = subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)
    assert done.stdout == data
    assert done.returncode == 5
    assert b"done" in done.stderr
    assert b"Traceback" not in done.stderr


def test_nothing_is_lost_when_the_proxy_is_killed(log, tmp_path):
    path = tmp_path / "traces.jsonl"
    seen: list[str] = []

    async def search_until_killed() -> None:
        async with Client(proxied(path)) as client:
            for number in range(1000):
                await client.call_tool("search_docs", {"query": f"q{number}"})
                seen.append(f"q{number}")
                if number == 30:
                    _kill_proxy(path)

    with pytest.raises((MCPError, ExceptionGroup, OSError)):
        asyncio.run(search_until_killed())
    recorded = [s.query for trace in gg.read_traces(path) for s in trace.searches()]
    assert recorded[: len(seen)] == seen
    assert len(recorded) <= len(seen) + 1


def _kill_proxy(path: Path) -> None:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"live" in words and str(path).encode() in words:
                os.kill(int(folder.name), signal.SIGKILL)


def test_a_server_that_dies_leaves_an_unanswered_call(log, tmp_path):
    path = tmp_path / "traces.jsonl"

    async def search() -> None:
        async with Client(proxied(path)) as client:
            await client.call_tool("search_docs", {"query": "alpha"})
            await client.call_tool("search_docs", {"query": "die"})

    with pytest.raises((MCPError, ExceptionGroup, OSError)):
        asyncio.run(search())
    [trace] = gg.read_traces(path)
    alpha, die = trace.searches()
    assert [r.id for r in alpha.results] == ["alpha-0", "alpha-1", "alpha-2"]
    assert die.query == "die"
    assert die.error == "no response"


def test_a_call_that_is_never_answered_does_not_join_the_later_ones(tmp_path):
    from goodgain.live import Capture
    from goodgain.live.mcp_messages import Observer

    def message(**fields: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **fields}).encode()

    path = tmp_path / "traces.jsonl"
    with Capture(path) as capture:
        observer = Observer(capture, system="s", conversation="c")
        for number in range(4):
            call = {"name": "search", "arguments": {"query": f"q{number}"}}
            observer.from_client(message(id=number, method="tools/call", params=call))
            if number:  # the client has lost interest in the first
                observer.from_server(message(id=number, result={"content": [], "isError": False}))
        observer.close()
    [trace] = gg.read_traces(path)
    searches = [[s.query for s in i.searches] for i in trace.turns[0].iterations]
    assert searches == [["q0"], ["q1"], ["q2"], ["q3"]]
    assert next(trace.searches()).error == "no response"


@pytest.mark.parametrize("target", ["folder", "full"])
def test_a_file_that_cannot_be_written_does_not_touch_the_messages(target, log, tmp_path):
    path = tmp_path if target == "folder" else Path("/dev/full")
    direct = asyncio.run(agent(stdio(sys.executable, SERVER), "auto"))
    assert asyncio.run(agent(proxied(path), "auto")) == direct


def test_a_dead_server_over_http_is_the_clients_error_and_a_failed_call(log, tmp_path):
    path = tmp_path / "traces.jsonl"
    own, nobody = free_port(), free_port()
    command = [*PROXY, "-o", str(path), "--port", str(own), f"http://127.0.0.1:{nobody}/mcp"]
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "x"}},
        }
    )
    import http.client

    with process(command, own):
        connection = http.client.HTTPConnection("127.0.0.1", own)
        connection.request("POST", "/mcp", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 502
        assert b"cannot reach the MCP server" in answer.read()
        connection.close()
    [trace] = gg.read_traces(path)
    [search] = trace.searches()
    assert "cannot reach the MCP server" in search.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "x.jsonl", "python"], "'python' is neither a URL nor a command after --"),
        (["-o", "x.jsonl", "--", "/no/such/server"], "cannot start the MCP server"),
        (["-o", "x.jsonl", "ftp://example.org/"], "is not a URL of an MCP server over HTTP"),
        (["--", "python"], "-o/--output"),
    ],
)
def test_wrong_commands_are_explained(words, message, tmp_path):
    done = subprocess.run(
        [*PROXY, *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_servers_own_options_stay_its_own(tmp_path):
    script = tmp_path / "words.py"
    script.write_text("import sys\nprint(sys.argv[1:])\n")
    command = [
        *PROXY,
        "-o",
        "x.jsonl",
        "--",
        sys.executable,
        str(script),
        "--",
        "-o",
        "y",
        "--port",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL, check=False
    )
    assert done.stdout == "['--', '-o', 'y', '--port']\n"
