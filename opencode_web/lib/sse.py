"""Server-sent events. django-ninja's own writes `data:` lines only, so no client could resume."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from django.http import StreamingHttpResponse

from opencode_web.lib.json import JsonValue

HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
}


def frame(data: JsonValue, *, id: str | None = None) -> bytes:
    """Encode one event. `id` is what the client sends back as `Last-Event-ID`."""
    return frame_of_text(json.dumps(data, separators=(",", ":"), ensure_ascii=False), id=id)


def frame_of_text(text: str, *, id: str | None = None) -> bytes:
    """Encode one event of a single line, such as JSON."""
    head = f"id: {id}\n" if id is not None else ""
    # A lone surrogate in one event must not end the stream of everybody who watches.
    return f"{head}data: {text}\n\n".encode(errors="replace")


def response(frames: AsyncIterator[bytes]) -> StreamingHttpResponse:
    """Answer with a stream that no proxy buffers and no cache keeps."""
    return StreamingHttpResponse(frames, content_type="text/event-stream", headers=HEADERS)
