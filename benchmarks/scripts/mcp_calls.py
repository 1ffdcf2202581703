"""Seconds of each call to two MCP servers in turn: python mcp_calls.py COUNT '[SERVER, SERVER]'."""

import asyncio
import json
import os
import sys
import time

from mcp import Client, StdioServerParameters


def transport(server):
    if isinstance(server, str):
        return server
    return StdioServerParameters(command=server[0], args=server[1:], env=dict(os.environ))


async def main(count: int, servers: list) -> None:
    times: list[list[float]] = [[], []]
    async with Client(transport(servers[0])) as first, Client(transport(servers[1])) as second:
        for number in range(count + 20):
            for client, own in zip((first, second), times, strict=True):
                started = time.perf_counter()
                await client.call_tool("search_docs", {"query": f"q{number}"})
                own.append(time.perf_counter() - started)
    print(json.dumps([own[20:] for own in times]))  # the first ones warm up


asyncio.run(main(int(sys.argv[1]), json.loads(sys.argv[2])))
