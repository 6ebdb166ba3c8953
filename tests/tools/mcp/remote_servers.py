"""Genuine MCP servers on loopback, each a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# argv: sse or streamable-http.
SHOP = '''
import socket, sys
import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer

server = MCPServer("shop", instructions="Ask for stock first.", log_level="CRITICAL")

@server.tool()
def stock(item: str, ctx: Context, count: int = 1) -> str:
    """Says what is there."""
    return f"{count} of {item} for {ctx.request_context.request.headers.get('x-key')}"

@server.tool()
def broken() -> str:
    """Fails."""
    raise ValueError("no such shelf")

@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"png", format="png")

app = server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app()
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])
'''

# Remembers what it did for each of its sessions.
LIVING = """
import asyncio, socket, sys
from collections import Counter
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import SamplingMessage, TextContent
from pydantic import BaseModel

server = MCPServer("living", log_level="CRITICAL")
counts = Counter()

class Tea(BaseModel):
    count: int

@server.tool()
async def count(ctx: Context) -> str:
    key = ctx.request_context.request.headers.get("mcp-session-id") or str(
        ctx.request_context.request.query_params.get("session_id"))
    counts[key] += 1
    return str(counts[key])

@server.tool()
async def slow() -> str:
    await asyncio.sleep(60)
    return "slow"

@server.tool()
async def grow(ctx: Context) -> str:
    await ctx.session.send_tool_list_changed()
    return "grown"

@server.tool()
async def steps(ctx: Context) -> str:
    for step in range(3):
        await ctx.report_progress(step + 1, 3, "reading")
        await asyncio.sleep(0.3)
    return "read"

@server.tool()
async def form(ctx: Context) -> str:
    found = await ctx.elicit("How many?", Tea)
    return f"{found.action} {getattr(found, 'data', None)}"

@server.tool()
async def sample(ctx: Context) -> str:
    asked = SamplingMessage(role="user", content=TextContent(type="text", text="Name a tea."))
    found = await ctx.session.create_message([asked], max_tokens=50, system_prompt="Be brief.")
    return f"{found.content.text} of {found.model}"

app = server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app()
listening = socket.create_server(("127.0.0.1", int(sys.argv[2])))
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])
"""


@contextmanager
def running(script: str, *argv: str) -> Iterator[str]:
    """Yields: where it listens, as http://host:port."""
    command = [sys.executable, "-c", script, *argv]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


@contextmanager
def shop(transport: str) -> Iterator[str]:
    """Yields: the address of the server."""
    with running(SHOP, transport) as url:
        yield url + ("/sse" if transport == "sse" else "/mcp")


@contextmanager
def living(transport: str, port: int = 0) -> Iterator[str]:
    """Yields: the address of a server that remembers."""
    with running(LIVING, transport, str(port)) as url:
        yield url + ("/sse" if transport == "sse" else "/mcp")
