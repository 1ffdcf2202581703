"""Record the tool calls between an MCP client and a server from a proxy between the two."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from goodgain.traces.recorder import Conversation, Recorder


def proxy(
    server: str | Sequence[str],
    path: str | os.PathLike[str],
    *,
    system: str | None = None,
    conversation: str | None = None,
    port: int = 0,
    show: Callable[[str], None] | None = None,
) -> int:
    """Stand between a client and a server until either ends; returns the server's exit status.

    `server` is a command, which then speaks over our own standard streams, or a URL, for which the proxy
    serves at a port on loopback; `show` is told its URL. Calls are appended to `path`; whatever goes wrong
    with that is logged and does not touch the messages.
    """
    from goodgain.traces import recorder as recording

    recorder = recording.Recorder(path, append=True, strict=False)

    def start(server_name: str | None) -> Conversation:
        started = recording.Conversation(recorder, conversation, system=system or server_name)
        started.turn()
        return started

    with recorder:
        if isinstance(server, str):
            return _serve(server, recorder, start, port, show or print)
        from goodgain.live.mcp_messages import Observer
        from goodgain.live.mcp_stdio import run_stdio

        return run_stdio(server, Observer(start, recorder))


def _serve(
    url: str,
    recorder: Recorder,
    start: Callable[[str | None], Conversation],
    port: int,
    show: Callable[[str], None],
) -> int:
    """Serve until interrupted."""
    import asyncio
    import signal

    from goodgain.live.mcp_http import HttpProxy

    async def serve() -> None:
        work = asyncio.ensure_future(HttpProxy(url, recorder, start).serve(port, announce))
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
