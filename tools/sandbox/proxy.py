"""The only way out for a command whose network is a list of hosts: an HTTP proxy of this server.

It knows CONNECT, for TLS and anything else over TCP, and plain http. Names are looked up here,
never by the command; every address is judged, and the judged one is connected to, so a name that
changes its mind gains nothing. What is inside a tunnel is not looked at.

Nothing here times out while data may flow: everything ends with the command, which has its own
limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Coroutine
from dataclasses import dataclass, field

import h11

from opencode_web.lib.addresses import Address, RefusedAddress, resolve
from opencode_web.lib.outbound import NO_ANSWER, log_failure
from opencode_web.lib.outbound_policy import require_open
from tools.sandbox.hosts import HostRules, Target
from tools.sandbox.proxy_http import (
    BadRequest,
    Peer,
    forwarded_request,
    forwarded_response,
    read_target,
)

logger = logging.getLogger(__name__)

MAX_CONNECTIONS = 64
# More than those are told so; beyond these, too, they are closed without a word.
MAX_TOLD = 16
# Of names at once: their servers may answer late, and other commands look names up as well.
MAX_LOOKUPS = 4
MAX_HEAD_BYTES = 32 * 1024
_HEAD_S = 15.0
_CONNECT_S = 15.0
_HANG_UP_S = 2.0
_CHUNK_BYTES = 64 * 1024
# Of the hosts that were refused to one command, so many are logged and told.
_MAX_REFUSED = 10


class Refused(Exception):
    """The request is answered with this status and sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass
class Proxy:
    """Serves one command. `refused` are sentences about the hosts that it was kept from."""

    rules: HostRules
    refused: list[str] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _lookups: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_LOOKUPS))

    async def serve(self, listener: socket.socket) -> None:
        """Take connections until this is cancelled. Every connection has ended then."""
        server = await asyncio.start_server(self._take, sock=listener, backlog=MAX_TOLD)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= MAX_CONNECTIONS + MAX_TOLD:
            # Each is a descriptor of the worker, which other sessions need, too.
            writer.transport.abort()
            return
        task = asyncio.create_task(self._answer(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()):
            logger.error("a connection of a command's proxy failed", exc_info=failure)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Peer(h11.SERVER, reader, writer, max_head_bytes=MAX_HEAD_BYTES)
        # Whoever hangs up, on either side, has simply ended the connection.
        with contextlib.closing(writer), contextlib.suppress(OSError):
            try:
                await self._serve_one(client)
            except Refused as exc:
                await client.refuse(exc.status, str(exc))
            except (h11.RemoteProtocolError, BadRequest) as exc:
                await client.refuse(400, f"This is no request to a proxy: {exc}")
            await _hang_up(client)

    async def _serve_one(self, client: Peer) -> None:
        if len(self._tasks) > MAX_CONNECTIONS:
            raise Refused(503, f"A command may have {MAX_CONNECTIONS} connections at once")
        try:
            async with asyncio.timeout(_HEAD_S):
                request = await client.receive()
        except TimeoutError:
            return
        if not isinstance(request, h11.Request):
            return
        target = read_target(request)
        reader, writer = await self._connect(target)
        with contextlib.closing(writer):
            if request.method == b"CONNECT":
                await _tunnel(client, reader, writer)
            else:
                upstream = Peer(h11.CLIENT, reader, writer, max_head_bytes=MAX_HEAD_BYTES)
                await _forward(client, request, target, upstream)

    async def _connect(self, target: Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if problem := self.rules.refusal(target):
            if problem not in self.refused and len(self.refused) < _MAX_REFUSED:
                self.refused.append(problem)
                logger.info("a command was kept from the network: %s", problem)
            raise Refused(403, problem)
        try:
            async with asyncio.timeout(_CONNECT_S):
                async with self._lookups:
                    addresses = await resolve(target.host, target.port)
                await require_open(target.host, target.port, addresses, also=self.rules.places)
                return await _first_connection(addresses, target.port)
        except (OSError, RefusedAddress) as exc:
            log_failure(target.host, target.port, exc)
            raise Refused(502, f"{target} cannot be reached: {NO_ANSWER}") from exc


async def _hang_up(client: Peer) -> None:
    """End a connection so that the last words arrive: the kernel drops them when it is closed with
    bytes that nobody has read."""
    client.writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_HANG_UP_S):
            while await client.reader.read(_CHUNK_BYTES):
                pass


async def _first_connection(
    addresses: list[Address], port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    *others, last = addresses
    # Each has its share of the time, or one that swallows everything would hide the others.
    share_s = _CONNECT_S / len(addresses)
    for address in others:
        with contextlib.suppress(OSError):
            async with asyncio.timeout(share_s):
                return await asyncio.open_connection(str(address), port)
    return await asyncio.open_connection(str(last), port)


async def _tunnel(client: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await client.receive() is not h11.PAUSED:
        pass
    await client.send(h11.Response(status_code=200, headers=[], reason=b"Connected"))
    early, _ = client.http.trailing_data
    writer.write(early)
    await _both(_pump(client.reader, writer), _pump(reader, client.writer))


async def _forward(client: Peer, request: h11.Request, target: Target, upstream: Peer) -> None:
    try:
        await upstream.send(forwarded_request(request, target))
        # Side by side: an answer may come before the whole request has been sent.
        sending = asyncio.create_task(_send_body(client, upstream))
        try:
            await _send_answer(upstream, client)
        finally:
            sending.cancel()
            await asyncio.wait({sending})
    except h11.ProtocolError as exc:
        if client.http.our_state is h11.SEND_RESPONSE:
            log_failure(target.host, target.port, exc)
            raise Refused(502, f"{target} cannot be reached: {NO_ANSWER}") from exc


async def _send_body(client: Peer, upstream: Peer) -> None:
    while True:
        event = await client.receive()
        if not isinstance(event, h11.Data | h11.EndOfMessage):
            return
        await upstream.send(event)
        if isinstance(event, h11.EndOfMessage):
            return


async def _send_answer(upstream: Peer, client: Peer) -> None:
    while True:
        event = await upstream.receive()
        if isinstance(event, h11.Response | h11.InformationalResponse):
            event = forwarded_response(event)
        elif not isinstance(event, h11.Data | h11.EndOfMessage):
            raise h11.RemoteProtocolError("not the rest of an answer")
        await client.send(event)
        if isinstance(event, h11.EndOfMessage):
            return


async def _both(*pumps: Coroutine[None, None, None]) -> None:
    tasks = [asyncio.create_task(pump) for pump in pumps]
    try:
        # One side may say that it has no more to send while the other goes on; a broken one ends
        # both.
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK_BYTES):
        writer.write(chunk)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
