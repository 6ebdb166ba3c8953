"""Amazon's binary event stream: from the bytes of an answer to frames.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
"""

from __future__ import annotations

import importlib
import json
import struct
from collections.abc import AsyncIterator
from typing import Any

from .framing import UNREADABLE, StreamError
from .json import JsonObject


async def event_stream(blocks: AsyncIterator[bytes]) -> AsyncIterator[JsonObject]:
    """Read events; a frame is an object with the event's name and its payload.

    Raises: StreamError for an exception in the stream or a frame that cannot be read.
    """
    # It takes long to load, and only those who call Bedrock need it.
    parser = importlib.import_module("botocore.eventstream")
    buffer = parser.EventStreamBuffer()
    async for block in blocks:
        buffer.add_data(block)
        while True:
            try:
                message = next(buffer, None)
            except (parser.ParserError, struct.error, LookupError, ValueError) as exc:
                raise StreamError({"message": UNREADABLE}) from exc
            if message is None:
                break
            yield _read(message.headers, message.payload)


def _read(headers: dict[str, Any], payload: bytes) -> JsonObject:  # as the parser has them
    try:
        fields = json.loads(payload) if payload else {}
    except ValueError as exc:
        raise StreamError({"message": UNREADABLE}) from exc
    if not isinstance(fields, dict):
        raise StreamError({"message": UNREADABLE})
    match headers.get(":message-type"):
        case "event":
            return {str(headers.get(":event-type")): fields}
        case "exception":
            raise _failure(headers.get(":exception-type"), fields.get("message"))
        case "error":
            raise _failure(headers.get(":error-code"), headers.get(":error-message"))
    return {}


def _failure(code: object, message: object) -> StreamError:
    name = str(code or "")
    # The same exception begins with a capital in some regions' answers, and in others not.
    error: JsonObject = {"type": name[:1].lower() + name[1:], "message": str(message or name)}
    return StreamError({"error": error})
