"""A search tool of an MCP server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.retrievers.base import DEPTH, Retriever, check_ranking, import_extra
from goodgain.experiment.services import value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.experiment.mcp_tools import McpTool
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
        self._connection: McpTool | None = None

    def load(self) -> None:
        """Import the client."""
        import_extra("mcp", "the retriever 'mcp'", "mcp", "check")

    def build(self, documents: Mapping[str, str]) -> None:
        """Start the server, or connect to it."""
        from weakref import finalize

        from goodgain.experiment.mcp_tools import McpTool

        self.close()
        self._texts = documents
        self._connection = McpTool(
            self.server, home=Path.cwd(), timeout=self.timeout, tool=self.tool,
            arguments=self.arguments, headers=self.headers, env=self.env,
        )  # fmt: skip
        finalize(self, self._connection.close)

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Call the tool."""
        from goodgain.traces.results import find_results

        assert self._connection is not None
        output = self._connection.call(query, depth)
        if self.results:
            output = value_at(output, self.results)
        finding = find_results(output)
        if finding.account in ("unread", "failed"):
            raise InputError(f"cannot read results from the tool's output: {finding.reason}")
        return check_ranking([self._key(each) for each in finding.results], depth, "best")

    def _key(self, result: Mapping[str, Any]) -> str:
        """The id or URL of a result that is in the corpus, or its first one."""
        source = (result.get("fields") or {}).get("source")
        names = [result.get("id"), *(result.get("ids") or {}).values(), result.get("url"), source]
        texts = [str(name) for name in names if name]
        if not texts:
            raise InputError(f"a result has no id: {dict(result)!r:.80}")
        return next((name for name in texts if name in self._texts), texts[0])

    def close(self) -> None:
        """End the connection, and the server if this started it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
