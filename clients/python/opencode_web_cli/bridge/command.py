"""`opencode-web acp`: from its arguments to its end."""

from __future__ import annotations

import asyncio
import logging
import sys
from argparse import Namespace
from pathlib import Path

from acp.connection import Connection

from opencode_web_cli.bridge.agent import Agent, Settings
from opencode_web_cli.bridge.listening import Address, listen, parse_address
from opencode_web_cli.bridge.server import Server
from opencode_web_cli.bridge.wire import LineTransport, standard_streams
from opencode_web_cli.failures import Code, Failure


def serve(options: Namespace) -> Code:
    """Serve one editor on the standard streams, or some on a port. Raises: Failure."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    token = options.token
    if options.token_file:
        try:
            token = Path(options.token_file).expanduser().read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as exc:
            raise Failure(f"{options.token_file} cannot be read: {exc}", Code.USAGE) from exc
    settings = Settings(options.url, token, options.project, options.mirror)
    try:
        address = parse_address(options.listen) if options.listen else None
        server = Server(settings.url, settings.token)
    except ValueError as exc:
        raise Failure(str(exc), Code.USAGE) from exc
    asyncio.run(_run(server, settings, address))
    return Code.OK


async def _run(server: Server, settings: Settings, address: Address | None) -> None:
    async with server:
        if address is None:
            await serve_editor(server, settings, LineTransport(*standard_streams()))
        else:
            await listen(address, lambda wire: serve_editor(server, settings, wire))


async def serve_editor(server: Server, settings: Settings, wire: LineTransport) -> None:
    """Answer an editor until it goes. What the server does then goes on."""
    agent = Agent(server, settings)
    connection = Connection(agent.handle, wire, listening=False)
    agent.connect(connection)
    try:
        await connection.main_loop()
    finally:
        agent.close()
        await connection.close()
