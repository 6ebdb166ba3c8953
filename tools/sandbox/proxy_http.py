"""HTTP as the commands' proxy speaks it, over h11.

Source: RFC 9110, 7.6 and 9.3.6; RFC 9112, 3.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import TypeAlias
from urllib.parse import urlsplit

import h11

from tools.sandbox.hosts import Target, parse_target

_CHUNK_BYTES = 64 * 1024
# They are about one connection and not passed on. Upgrades are left out with them.
_OWN = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade"),
        *(b"proxy-authorization", b"proxy-authenticate"),
    }
)
_CLOSE = (b"Connection", b"close")
_HTTP_PORT = 80

Header: TypeAlias = tuple[bytes, bytes]


class BadRequest(ValueError):
    """The proxy cannot do what it was asked for; the message says why."""


class Peer:
    """One side of the proxy: its connection, and where its HTTP stands."""

    def __init__(
        self,
        role: type[h11.CLIENT] | type[h11.SERVER],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        max_head_bytes: int,
    ) -> None:
        self.http = h11.Connection(role, max_incomplete_event_size=max_head_bytes)
        self.reader = reader
        self.writer = writer

    async def receive(self) -> h11.Event | type[h11.PAUSED]:
        """Raises: h11.RemoteProtocolError; OSError."""
        while True:
            event = self.http.next_event()
            if isinstance(event, h11.Event):
                return event
            if event is h11.PAUSED:
                return h11.PAUSED
            self.http.receive_data(await self.reader.read(_CHUNK_BYTES))

    async def send(self, event: h11.Event) -> None:
        """Raises: h11.LocalProtocolError; OSError."""
        if data := self.http.send(event):
            self.writer.write(data)
            await self.writer.drain()

    async def refuse(self, status: int, sentence: str) -> None:
        """Answer with a sentence, if an answer can still be given. Clients show it as the reason,
        too: for CONNECT they show nothing else."""
        if self.http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            return
        body = f"{sentence}.\n".encode("utf-8", "replace")
        headers = [
            (b"Content-Type", b"text/plain; charset=utf-8"),
            (b"Content-Length", str(len(body)).encode()),
            _CLOSE,
        ]
        reason = sentence.encode("ascii", "replace")
        await self.send(h11.Response(status_code=status, headers=headers, reason=reason))
        await self.send(h11.Data(data=body))
        await self.send(h11.EndOfMessage())


def read_target(request: h11.Request) -> Target:
    """Read which host a request is for. Raises: BadRequest."""
    try:
        text = request.target.decode("ascii")
        if request.method == b"CONNECT":
            host, colon, port = text.rpartition(":")
            if not colon or not port.isdecimal():
                raise BadRequest("CONNECT needs a host and a port")
            return parse_target(host, int(port[:6]))
        address = urlsplit(text)
        if address.scheme != "http" or not address.hostname:
            raise BadRequest("only http:// addresses, and CONNECT for all others")
        if address.username is not None or address.password is not None:
            raise BadRequest("addresses with a user name or password are not taken")
        return parse_target(address.hostname, address.port or _HTTP_PORT)
    except BadRequest:
        raise
    except ValueError as exc:
        raise BadRequest(str(exc)) from exc


def forwarded_request(request: h11.Request, target: Target) -> h11.Request:
    """Build the request as the target gets it."""
    address = urlsplit(request.target)
    path = (address.path or b"/") + (b"?" + address.query if address.query else b"")
    if request.method == b"OPTIONS" and not address.path:
        path = b"*"
    port = "" if target.port == _HTTP_PORT else f":{target.port}"
    host = f"[{target.host}]" if ":" in target.host else target.host
    headers = [(b"Host", f"{host}{port}".encode()), *_passed_on(request.headers), _CLOSE]
    return h11.Request(method=request.method, target=path, headers=headers)


def forwarded_response(
    response: h11.Response | h11.InformationalResponse,
) -> h11.Response | h11.InformationalResponse:
    """Build the answer as the command gets it."""
    headers = list(_passed_on(response.headers))
    if isinstance(response, h11.InformationalResponse):
        return h11.InformationalResponse(
            status_code=response.status_code, headers=headers, reason=response.reason
        )
    return h11.Response(
        status_code=response.status_code, headers=[*headers, _CLOSE], reason=response.reason
    )


def _passed_on(headers: Iterable[Header]) -> Iterator[Header]:
    headers = list(headers)
    named = b",".join(value for name, value in headers if name == b"connection")
    left_out = {*_OWN, b"host", *(name.strip().lower() for name in named.split(b","))}
    # How long a message is must be told as it is.
    left_out -= {b"content-length", b"transfer-encoding"}
    return (header for header in headers if header[0] not in left_out)
