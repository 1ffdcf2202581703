"""A proxy around an MCP server that speaks over its standard streams."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from goodgain.errors import InputError
from goodgain.live.mcp_messages import Lines
from goodgain.threads import start_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Thread

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
    try:
        _pass_messages(server, server.stdin, server.stdout.fileno(), observer)
    except BaseException:
        server.kill()  # nobody would talk to it any more
        raise
    status = server.wait()
    observer.close()
    return status if status >= 0 else 128 - status


def _pass_messages(
    server: subprocess.Popen[bytes], to_server: IO[bytes], from_server: int, observer: Observer
) -> None:
    """Pass messages both ways until the server's end."""
    client_input = start_thread(lambda: _pump(0, to_server.fileno(), observer.from_client))
    start_thread(lambda: _close_after(client_input, to_server))
    if not _pump(from_server, 1, observer.from_server):
        server.terminate()  # the client is gone


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


def _close_after(thread: Thread, stream: IO[bytes]) -> None:
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
