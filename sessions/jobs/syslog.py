"""Syslog messages over TCP, TLS or UDP. Source: RFC 5424, and RFC 6587 for how they are framed."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Sequence
from datetime import UTC
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from opencode_web.lib.json import JsonObject
from teams.audit_chain.export import entry_to_line
from teams.audit_chain.hashes import chain_of
from teams.models import AuditEntry

# Facility 13 is "log audit", severity 6 is "informational".
_PRIORITY = 13 * 8 + 6
_APP = "opencode-web"
# The private enterprise number that documentation may use.
_ELEMENT = "audit@32473"
SCHEMES = ("syslog", "syslog+tls", "syslog+udp")
_PORTS = {"syslog": 601, "syslog+tls": 6514, "syslog+udp": 514}
# A datagram has at most 65,507.
_MOST_DATAGRAM_BYTES = 65_000
# How long the host of a receiver that is away has to say so.
_REFUSED_WITHIN_S = 0.3


def to_message(entry: AuditEntry, *, most_bytes: int | None = None) -> bytes:
    """Returns: the message without a frame. Its text is the JSON line of the entry, in ASCII.

    The details are left out of one that would have more than `most_bytes`.
    """
    moment = entry.time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    host = settings.HOST_NAME[:255] or "-"
    element = f'[{_ELEMENT} chain="{chain_of(entry)}" seq="{entry.seq}"]'
    head = f"<{_PRIORITY}>1 {moment} {host} {_APP} - {entry.action[:32]} {element}"
    line = entry_to_line(entry)
    message = _joined(head, line)
    if most_bytes is not None and len(message) > most_bytes:
        return _joined(head, {**line, "data": {"left_out": True}})
    return message


def _joined(head: str, line: JsonObject) -> bytes:
    text = json.dumps(line, separators=(",", ":"))
    return f"{head} {text}".encode("ascii", errors="replace")


async def send_messages(url: str, entries: Sequence[AuditEntry], *, timeout_s: float) -> None:
    """Send all over one connection, until the receiver has read them as far as one can know.

    Raises: OSError; TimeoutError.
    """
    parts = urlsplit(url)
    async with asyncio.timeout(timeout_s):
        if parts.scheme == "syslog+udp":
            most = _MOST_DATAGRAM_BYTES
            await _send_datagrams(parts, [to_message(one, most_bytes=most) for one in entries])
        else:
            await _send_stream(parts, [to_message(one) for one in entries])


async def _send_stream(parts: SplitResult, messages: list[bytes]) -> None:
    context = ssl.create_default_context() if parts.scheme == "syslog+tls" else None
    reader, writer = await asyncio.open_connection(*_place(parts), ssl=context)
    try:
        for message in messages:
            writer.write(b"%d %b" % (len(message), message))
        await writer.drain()
        # A receiver says nothing. It closes its side when it has read all; one that ends before
        # resets the connection. With TLS, closing it waits for the same.
        if writer.can_write_eof():
            writer.write_eof()
            while await reader.read(1024):
                pass
    finally:
        writer.close()
        await writer.wait_closed()


class _Datagrams(asyncio.DatagramProtocol):
    """Keeps what the network says of a datagram that did not arrive."""

    problem: Exception | None = None

    def error_received(self, exc: Exception) -> None:
        self.problem = exc


async def _send_datagrams(parts: SplitResult, messages: list[bytes]) -> None:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.create_datagram_endpoint(
        _Datagrams, remote_addr=_place(parts), family=socket.AF_UNSPEC
    )
    try:
        for message in messages:
            transport.sendto(message)
        await asyncio.sleep(_REFUSED_WITHIN_S)
        if protocol.problem is not None:
            raise protocol.problem
    finally:
        transport.close()


def _place(parts: SplitResult) -> tuple[str, int]:
    return parts.hostname or "", parts.port or _PORTS[parts.scheme]
