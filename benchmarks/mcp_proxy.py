"""The MCP proxy between the official client and server: what it adds to a call."""

import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from measure import HERE, CommandError
from subject import Bar, Context, Section, Subject

SCRIPT = Path(HERE) / "scripts" / "mcp_calls.py"
LIMIT = 2  # milliseconds
SERVER = Path(HERE).parent / "tests" / "live" / "mcp_server.py"


def run(context: Context) -> Section:
    """Calls alternate between the server and the server behind the proxy, in one run."""
    calls = 100 if context.quick else 1000
    folder = HERE / ".data"
    folder.mkdir(parents=True, exist_ok=True)
    output = folder / "mcp-traces.jsonl"
    output.unlink(missing_ok=True)
    os.environ["TOOL_LOG"] = str(folder / "mcp-tools.jsonl")
    proxy = [sys.executable, "-m", "goodgain", "live", "mcp", "-o", str(output)]
    server = [sys.executable, str(SERVER)]
    rows = [_medians("standard streams", calls, server, [*proxy, "--", *server])]
    first, second = _free_port(), _free_port()
    url = f"http://127.0.0.1:{first}/mcp"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [
        subprocess.Popen([*server, str(first)], **quiet),
        subprocess.Popen([*proxy, "--port", str(second), url], **quiet),
    ]
    try:
        for port in (first, second):
            _wait_for(port)
        rows.append(_medians("streamable HTTP", calls, url, f"http://127.0.0.1:{second}/mcp"))
    finally:
        for process in running:
            process.terminate()
            process.wait(20)
    return Section(
        columns=["transport", "calls", "direct", "through the proxy", "added"],
        rows=[
            [name, f"{calls:,}", *(f"{ms:.2f} ms" for ms in (direct, through, through - direct))]
            for name, direct, through in rows
        ],
        text="Medians of a call to a search tool that returns three results at once.",
        bars=[
            Bar(
                f"MCP proxy, {name}: added to the median call",
                f"<= {LIMIT:g} ms",
                f"{through - direct:.2f} ms",
                through - direct <= LIMIT,
            )
            for name, direct, through in rows
        ],
    )


def _medians(name: str, calls: int, direct: object, through: object) -> tuple[str, float, float]:
    command = [sys.executable, str(SCRIPT), str(calls), json.dumps([direct, through])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(done.stderr.strip().splitlines()[-1])
    first, second = (statistics.median(times) * 1000 for times in json.loads(done.stdout))
    return name, first, second


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 0.1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise CommandError(f"nothing listens at port {port}")


SUBJECT = Subject("mcp", "The MCP proxy", 97, run)
