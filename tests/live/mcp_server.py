"""An MCP server whose tools write down what they did: over its standard streams, or at a port."""

import json
import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("docs", version="1.2")


def log(tool: str, argument: str) -> None:
    """Append a call to the log, in one write."""
    with Path(os.environ["TOOL_LOG"]).open("a") as file:
        file.write(json.dumps([tool, argument]) + "\n")


@server.tool()
def search_docs(query: str, limit: int = 3) -> list[dict[str, str]]:
    """Search the documentation."""
    log("search_docs", query)
    if query.startswith("boom"):
        raise ValueError("the index is down")
    if query.startswith("slow"):
        time.sleep(0.2)
    if query.startswith("die"):
        os._exit(7)
    if query.startswith("nothing"):
        return []
    return [{"id": f"{query}-{i}", "title": f"About {query} {i}"} for i in range(limit)]


@server.tool()
def ping(text: str = "") -> str:
    """Say that the server is there."""
    log("ping", text)
    return f"pong {text}"


@server.tool()
def fetch_page(url: str) -> str:
    """Read one page."""
    log("fetch_page", url)
    return "the page " * 30


@server.resource("docs://{name}")
def page(name: str) -> str:
    """A document."""
    log("resource", name)
    return f"text of {name}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run()
