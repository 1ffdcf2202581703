"""`goodgain live`: record the searches of a running agent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import add_search_tools
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "live",
        "Record every tool call between an MCP client and a server, without changing either. Put this\n"
        "command before the server's in the client's configuration. For a server over HTTP, point the\n"
        "client to the printed URL.",
        "examples:\n"
        "  goodgain live mcp -o traces.jsonl -- python search_server.py\n"
        "  goodgain live mcp -o traces.jsonl --port 8100 http://localhost:8000/mcp\n"
        "  goodgain trace traces.jsonl\n",
    )
    p.add_argument(
        "source", choices=("mcp",), help="what to record: the tool calls of an MCP server"
    )
    p.add_argument(
        "server", nargs="+", metavar="SERVER",
        help="-- COMMAND ARGUMENT ... for a server over standard streams, or the URL of an HTTP server",
    )  # fmt: skip
    p.add_argument("-o", "--output", metavar="FILE", required=True, help="append traces to FILE")
    p.add_argument(
        "--port", type=int, default=0, metavar="N",
        help="port of the proxy for a server over HTTP, on loopback (default: a free one)",
    )  # fmt: skip
    p.add_argument(
        "--system", metavar="NAME", help="name of the system (default: the server's name)"
    )
    p.add_argument(
        "--conversation", metavar="NAME", help="name of the conversation (default: unique)"
    )
    p.add_argument(
        "--sample", type=float, default=1.0, metavar="SHARE",
        help="share of conversations to record (default: 1)",
    )  # fmt: skip
    p.add_argument(
        "--redact", choices=("drop", "hash"), help="drop or hash the texts of queries and results"
    )
    p.add_argument(
        "--rotate", metavar="WHEN", help='start a new file at this size or age: "100 MB", "1 day"'
    )
    add_search_tools(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Run the proxy until the server or the client ends."""
    from goodgain.errors import UsageError
    from goodgain.live import Capture
    from goodgain.live.mcp_proxy import proxy

    # argparse drops every `--`, also those that belong to the server's command
    words = args.arguments
    is_command = "--" in words
    server = words[words.index("--") + 1 :] if is_command else args.server
    if not is_command and (len(server) > 1 or "://" not in server[0]):
        raise UsageError(
            f"'{server[0]}' is neither a URL nor a command after --",
            hint=f"goodgain live mcp -o {args.output} -- {' '.join(server)}",
        )
    capture = Capture(
        args.output,
        sample=args.sample,
        redact=args.redact,
        rotate=args.rotate,
        search_tools=args.search_tool,
        not_search_tools=args.not_search_tool,
    )
    with capture:
        return proxy(
            server if is_command else server[0],
            capture,
            system=args.system,
            conversation=args.conversation,
            port=args.port,
            show=lambda text: print(text, file=sys.stderr, flush=True),
        )
