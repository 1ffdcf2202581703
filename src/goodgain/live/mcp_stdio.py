"""A proxy around an MCP server that speaks over its standard streams."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.live.mcp_messages import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodgain.live.mcp_messages import Observer

_CHUNK = 1 << 16


def run_stdio(command: Sequence[str], observer: Observer) -> int:
    """Run a server between our standard streams; returns its exit status.

    Bytes pass as they come. A response is recorded before its last bytes are passed on, so that a killed
    proxy has recorded every call whose response the client has seen.
    """
    try:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    except OSError as error:
        raise InputError(
            f"cannot start the MCP server '{command[0]}': {error.strerror}",
            hint="goodgain live mcp -o traces.jsonl -- COMMAND ARGUMENT ...",
        ) from None
    assert server.stdin is not None
    assert server.stdout is not None
    _pass_signals(server)
    client_input = threading.Thread(
        target=_pump, args=(0, server.stdin.fileno(), observer.from_client), daemon=True
    )
    client_input.start()
    closer = threading.Thread(target=_close_after, args=(client_input, server.stdin), daemon=True)
    closer.start()
    if not _pump(server.stdout.fileno(), 1, observer.from_server):
        server.terminate()  # the client is gone
    status = server.wait()
    observer.close()
    return status if status >= 0 else 128 - status


def _pump(source: int, target: int, observe: Callable[[bytes], None]) -> bool:
    """Pass bytes on until their end; False if nobody takes them any more."""
    lines = Lines()
    while True:
        try:
            data = os.read(source, _CHUNK)
        except OSError:
            data = b""
        if not data:
            return True
        for line in lines.add(data):
            observe(line)
        try:
            while data:
                data = data[os.write(target, data) :]
        except OSError:
            return False


def _close_after(thread: threading.Thread, stream: Any) -> None:
    """The end of the client's messages is the end of the server's input."""
    thread.join()
    with suppress(OSError):
        stream.close()


def _pass_signals(server: subprocess.Popen[bytes]) -> None:
    """The server gets the signals that are meant for it; we end when it does."""
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, lambda received, _: server.send_signal(received))
