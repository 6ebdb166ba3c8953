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


def to_message(entry: AuditEntry) -> bytes:
    """Returns: the message without a frame. Its text is the JSON line of the entry, in ASCII."""
    moment = entry.time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    host = settings.HOST_NAME[:255] or "-"
    element = f'[{_ELEMENT} chain="{chain_of(entry)}" seq="{entry.seq}"]'
    text = json.dumps(entry_to_line(entry), separators=(",", ":"))
    head = f"<{_PRIORITY}>1 {moment} {host} {_APP} - {entry.action[:32]} {element}"
    return f"{head} {text}".encode("ascii", errors="replace")


async def send_messages(url: str, entries: Sequence[AuditEntry], *, timeout_s: float) -> None:
    """Send all over one connection. Raises: OSError; TimeoutError."""
    parts = urlsplit(url)
    messages = [to_message(entry) for entry in entries]
    async with asyncio.timeout(timeout_s):
        if parts.scheme == "syslog+udp":
            await _send_datagrams(parts, messages)
        else:
            await _send_stream(parts, messages)


async def _send_stream(parts: SplitResult, messages: list[bytes]) -> None:
    context = ssl.create_default_context() if parts.scheme == "syslog+tls" else None
    reader, writer = await asyncio.open_connection(*_place(parts), ssl=context)
    try:
        for message in messages:
            writer.write(b"%d %b" % (len(message), message))
        await writer.drain()
        # A receiver says nothing; one that has gone away resets the connection, which is seen here.
        writer.write_eof() if writer.can_write_eof() else None
        if reader.at_eof() and reader.exception() is not None:
            raise ConnectionError("the receiver closed the connection")
    finally:
        writer.close()
        await writer.wait_closed()


async def _send_datagrams(parts: SplitResult, messages: list[bytes]) -> None:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=_place(parts), family=socket.AF_UNSPEC
    )
    try:
        for message in messages:
            transport.sendto(message)
    finally:
        transport.close()


def _place(parts: SplitResult) -> tuple[str, int]:
    return parts.hostname or "", parts.port or _PORTS[parts.scheme]
