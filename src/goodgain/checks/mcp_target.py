"""A tool of an MCP server as a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.checks.targets import answers_of, describe_settings
from goodgain.experiment.mcp_tools import McpTool

if TYPE_CHECKING:
    from goodgain.checks.matching import Answer


class McpTarget:
    """One tool of one server; `options` are those of `McpTool`."""

    def __init__(self, server: Any, *, results: str | None = None, **options: Any) -> None:
        self._settings = {
            "mcp": server, "arguments": options.get("arguments"), "results": results,
        }  # fmt: skip
        self._tool = McpTool(server, **options)

    def search(self, query: str, depth: int) -> list[Answer]:
        """Call the tool."""
        return answers_of(self._tool.call(query, depth), self._settings["results"])[:depth]

    def describe(self) -> dict[str, Any]:
        """The server as written, its name and version, and the tool."""
        return {
            **describe_settings(self._settings),
            "tool": self._tool.tool,
            "server": self._tool.server_name,
        }

    def close(self) -> None:
        """End the connection, and the server if this started it."""
        self._tool.close()
