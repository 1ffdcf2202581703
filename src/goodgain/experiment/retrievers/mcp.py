"""A search tool of an MCP server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Retriever, check_ranking, import_extra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.checks.mcp_target import McpTarget
    from goodgain.experiment.retrievers.base import ScoredDocument


class Mcp(Retriever):
    """One tool of one server: `server` is a command that speaks over its standard streams, or a URL.

    Without `tool` it is the one whose name has "search" in it, and without `arguments` the tool's schema says
    which of its parameters takes the query, and which the number of results. Otherwise {query}, {depth} and
    {filters.NAME} in `arguments` are replaced. The order of the results is the ranking; `results` is the
    path of the list, where it cannot be recognised. Of the ids and URLs of a result, the one in the corpus
    counts. Headers and environment are never saved.
    """

    name = "mcp"
    secret = ("headers", "env")

    def __init__(
        self,
        server: str | list[str] = "",
        *,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        results: str | None = None,
        timeout: float = 30.0,
        depth: int = DEPTH,
    ) -> None:
        if not server:
            raise UsageError(
                "mcp needs a server",
                hint='server = "python my_server.py", or server = "https://.../mcp"',
            )
        if not timeout > 0:
            raise UsageError(f"timeout must be a positive number of seconds, got {timeout}")
        self.server, self.tool, self.arguments = server, tool, arguments
        self.headers, self.env, self.results = headers, env, results
        self.timeout, self.depth = timeout, depth
        self.takes_filters = "{filters." in repr(arguments)
        self._target: McpTarget | None = None

    def load(self) -> None:
        """Import the client."""
        import_extra("mcp", "the retriever 'mcp'", "mcp", "check")

    def build(self, documents: Mapping[str, str]) -> None:
        """Start the server, or connect to it."""
        from weakref import finalize

        from goodgain.checks.mcp_target import McpTarget

        self.close()
        self._texts = documents
        self._target = McpTarget(
            self.server, home=Path.cwd(), timeout=self.timeout, tool=self.tool,
            arguments=self.arguments, headers=self.headers, env=self.env, results=self.results,
        )  # fmt: skip
        finalize(self, self._target.close)

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Call the tool."""
        assert self._target is not None
        answers = self._target.search(query, depth)
        names = [
            next((name for name in answer.names if name in self._texts), answer.key)
            for answer in answers
        ]
        return check_ranking(names, depth, "best")

    def close(self) -> None:
        """End the connection, and the server if this started it."""
        if self._target is not None:
            self._target.close()
            self._target = None
