"""An MCP server with a search tool: over its standard streams, or at a port."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("docs")

DOCUMENTS = {
    "d1": "the river runs under the bridge",
    "d2": "a house with a garden and a window",
    "d3": "stones in the river, a river of stones",
}


@server.tool()
def search_docs(query: str, limit: int = 3, language: str = "en") -> list[dict[str, str]]:
    """Search the documents; those in German have no words."""
    if query.startswith("boom"):
        raise ValueError("the index is down")
    counts = {
        doc: sum(text.count(word) for word in query.split()) for doc, text in DOCUMENTS.items()
    }
    best = sorted(counts, key=lambda doc: (-counts[doc], doc))
    matches = [doc for doc in best if counts[doc] and language == "en"][:limit]
    return [{"key": f"row {doc}", "id": doc, "title": DOCUMENTS[doc]} for doc in matches]


@server.tool()
def ping() -> str:
    """Say that the server is there."""
    return "pong"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run()
