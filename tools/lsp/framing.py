"""Messages on a stream: headers, an empty line, JSON. Pure.

Source: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/,
"Base Protocol".
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from opencode_web.lib.json import JsonObject, JsonValue, read_json

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
_MAX_HEADER_BYTES = 4_096
_END = b"\r\n\r\n"


class ProtocolFault(Exception):
    """The server does not speak the protocol, or too much of it. The message says what it did."""


class Frames:
    """Cuts a stream into the bodies of messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields: the bodies that are complete now. Raises: ProtocolFault."""
        self._buffer += data
        while True:
            if self._wanted is None and not self._read_header():
                return
            assert self._wanted is not None
            if len(self._buffer) < self._wanted:
                return
            body = bytes(self._buffer[: self._wanted])
            del self._buffer[: self._wanted]
            self._wanted = None
            yield body

    def _read_header(self) -> bool:
        end = self._buffer.find(_END)
        if end > _MAX_HEADER_BYTES or (end < 0 and len(self._buffer) > _MAX_HEADER_BYTES):
            raise ProtocolFault("it wrote something else than messages")
        if end < 0:
            return False
        self._wanted = _length(bytes(self._buffer[:end]))
        del self._buffer[: end + len(_END)]
        return True


def _length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        # Some print a line of their own before their first message.
        if name.rsplit(b"\n")[-1].strip().lower() != b"content-length":
            continue
        digits = value.strip()
        if not digits.isdigit() or len(digits) > 10:
            raise ProtocolFault("it gave no length of a message")
        if int(digits) > MAX_MESSAGE_BYTES:
            raise ProtocolFault(f"it sent a message of more than {MAX_MESSAGE_BYTES} bytes")
        return int(digits)
    raise ProtocolFault("it wrote something else than messages")


def encode(message: JsonObject) -> bytes:
    """Write a message with its header."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def decode(body: bytes) -> JsonObject:
    """Read the body of a message. Raises: ProtocolFault."""
    try:
        value: JsonValue = read_json(body.decode("utf-8", "replace"))
    except ValueError as exc:
        raise ProtocolFault("it sent a message that is no JSON") from exc
    if not isinstance(value, dict):
        raise ProtocolFault("it sent a message that is no JSON object")
    return value
