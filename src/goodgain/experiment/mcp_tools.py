"""A tool of an MCP server: a command that speaks over its standard streams, or a URL."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from goodgain.errors import InputError, MissingExtraError, UsageError
from goodgain.experiment.services import fill_template, from_environment, headers_from_environment
from goodgain.redaction import hide_secrets
from goodgain.threads import start_thread

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Coroutine, Mapping


_QUERY_NAMES = ("query", "q", "question", "search_query", "text", "input", "keywords")
_DEPTH_NAMES = ("k", "top_k", "limit", "n", "num_results", "max_results", "count", "depth", "size")


class McpTool:
    """One tool of one server. The connection is open until `close`, in a thread of its own.

    Without `arguments` the tool's schema says which of its parameters takes the query, and which the number
    of results.
    """

    def __init__(
        self,
        server: Any,
        *,
        home: Path,
        timeout: float,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._server = server
        self._headers, self._env, self._home = headers, env, home
        self._timeout = timeout
        self.tool, self._arguments = tool, arguments
        self.server_name = ""
        self._started = threading.Event()
        self._problem: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self._closing: asyncio.Event | None = None
        self._thread = start_thread(self._run, name="goodgain-mcp")
        if not self._started.wait(timeout + 30):
            raise InputError(f"the MCP server did not start within {timeout + 30:g} s")
        if self._problem is not None:
            raise self._problem

    def call(self, query: str, depth: int) -> Any:
        """What the tool returns: its structured content or, without that, its blocks of content."""
        arguments = fill_template(from_environment(dict(self._arguments or {})), query, depth)
        result = self._wait(self._client.call_tool(self.tool, arguments, self._timeout))
        content = [
            block.model_dump(mode="json", by_alias=True, exclude_none=True)
            for block in result.content
        ]
        if getattr(result, "is_error", getattr(result, "isError", False)):
            text = " ".join(str(block.get("text", "")) for block in content)
            raise InputError(f"the tool reported an error: {text[:300]}")
        structured = getattr(
            result, "structured_content", getattr(result, "structuredContent", None)
        )
        return structured or content

    def close(self) -> None:
        """End the connection, and the server if this started it."""
        if self._loop is not None and self._closing is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join(10)

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        import asyncio

        assert self._loop is not None
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(self._timeout)
        except TimeoutError:
            future.cancel()
            raise TimeoutError(f"no answer within {self._timeout:g} s") from None
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"the MCP call failed: {error}") from error

    def _run(self) -> None:
        import asyncio

        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._problem = _plain_problem(error, self._server)
        finally:
            self._started.set()

    async def _serve(self) -> None:
        import asyncio
        import contextlib

        try:
            from mcp import Client
        except ImportError:
            raise MissingExtraError.for_package("mcp>=2", "check", "an MCP server") from None
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        async with contextlib.AsyncExitStack() as stack:
            transport = await self._transport(stack)
            self._client = await stack.enter_async_context(
                Client(transport, read_timeout_seconds=self._timeout)
            )
            await self._choose_tool()
            self._started.set()
            await self._closing.wait()

    async def _transport(self, stack: Any) -> Any:
        server = from_environment(self._server)
        if isinstance(server, str) and server.startswith(("http://", "https://")):
            if not self._headers:
                return server
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            client = await stack.enter_async_context(
                httpx2.AsyncClient(
                    headers=headers_from_environment(self._headers), timeout=self._timeout
                )
            )
            return streamable_http_client(server, http_client=client)
        from mcp import StdioServerParameters, stdio_client

        words = shlex.split(server) if isinstance(server, str) else [str(word) for word in server]
        if not words:
            raise UsageError("the MCP server has no command", hint='mcp: "python server.py"')
        env = from_environment(dict(self._env)) if self._env else None
        command = StdioServerParameters(command=words[0], args=words[1:], env=env, cwd=self._home)
        return stdio_client(command, errlog=_messages(stack))

    async def _choose_tool(self) -> None:
        info = getattr(self._client, "server_info", None)
        self.server_name = " ".join(
            filter(None, (getattr(info, "name", ""), getattr(info, "version", "")))
        )
        tools = {tool.name: tool for tool in (await self._client.list_tools()).tools}
        if self.tool is None:
            searching = [n for n in tools if "search" in n.casefold()] or list(tools)
            if len(searching) != 1:
                raise UsageError(
                    "the MCP server has several tools", hint=f"tool: one of {', '.join(tools)}"
                )
            self.tool = searching[0]
        if self.tool not in tools:
            raise UsageError(
                f"the MCP server has no tool '{self.tool}'", hint=f"tools: {', '.join(tools)}"
            )
        if self._arguments is None:
            tool = tools[self.tool]
            schema = getattr(tool, "input_schema", None) or getattr(tool, "inputSchema", None) or {}
            self._arguments = _arguments_of(schema, self.tool)


def _messages(stack: Any) -> TextIO:
    """Where a server's messages go: standard error, which in a notebook is no file that it could write to."""
    for stream in (sys.stderr, sys.__stderr__):
        try:
            if stream is not None and stream.fileno() >= 0:
                return stream
        except (AttributeError, OSError, ValueError):
            continue
    stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    return stack.enter_context(stream)  # type: ignore[no-any-return]


def _arguments_of(schema: Mapping[str, Any], tool: str) -> dict[str, str]:
    """Which parameter takes the query, and which the number of results."""
    properties = schema.get("properties") or {}
    texts = [
        name for name, p in properties.items() if isinstance(p, dict) and p.get("type") == "string"
    ]
    named = [name for name in _QUERY_NAMES if name in properties]
    required = [name for name in schema.get("required") or () if name in texts]
    query = next(iter(named or required or texts), None)
    if query is None:
        raise UsageError(
            f"cannot tell which parameter of '{tool}' takes the query",
            hint=f'arguments: {{NAME: "{{query}}"}}; parameters: {", ".join(properties) or "none"}',
        )
    depth = next((name for name in _DEPTH_NAMES if name in properties), None)
    return {query: "{query}", **({depth: "{depth}"} if depth else {})}


def _plain_problem(error: BaseException, server: Any) -> BaseException:
    """The first real error in the groups that task groups raise."""
    from goodgain.errors import GoodgainError

    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, GoodgainError):
        return error
    command = server if isinstance(server, str) else " ".join(map(str, server))
    return InputError(
        f"cannot talk to the MCP server '{hide_secrets(command)}': {error}",
        hint="does the command start a server, and is the URL that of its MCP endpoint?",
    )
