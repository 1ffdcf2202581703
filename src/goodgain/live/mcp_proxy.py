"""Record the tool calls between an MCP client and a server from a proxy between the two."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodgain.live.capturing import Capture
    from goodgain.live.mcp_messages import Observer


def proxy(
    server: str | Sequence[str],
    capture: Capture,
    *,
    system: str | None = None,
    conversation: str | None = None,
    port: int = 0,
    show: Callable[[str], None] | None = None,
) -> int:
    """Stand between a client and a server until either ends; returns the server's exit status.

    `server` is a command, which then speaks over our own standard streams, or a URL, for which the proxy
    serves at a port on loopback; `show` is told its URL. Whatever goes wrong with the capture does not touch
    the messages.
    """
    from goodgain.live.mcp_messages import Observer

    def observer() -> Observer:
        return Observer(capture, system=system, conversation=conversation)

    if isinstance(server, str):
        return _serve(server, observer, port, show or print)
    from goodgain.live.mcp_stdio import run_stdio

    return run_stdio(server, observer())


def _serve(
    url: str, observer: Callable[[], Observer], port: int, show: Callable[[str], None]
) -> int:
    """Serve until interrupted."""
    import asyncio
    import signal

    from goodgain.live.mcp_http import HttpProxy

    async def serve() -> None:
        work = asyncio.ensure_future(HttpProxy(url, observer).serve(port, announce))
        loop = asyncio.get_running_loop()
        with suppress(
            NotImplementedError, ValueError, RuntimeError
        ):  # not the main thread, or Windows
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, work.cancel)
        with suppress(asyncio.CancelledError):
            await work

    def announce(own: str) -> None:
        show(f"recording the MCP server {url} at {own}")

    asyncio.run(serve())
    return 0
