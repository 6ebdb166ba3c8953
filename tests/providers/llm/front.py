"""A played vendor on a real port, for programs that are not in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx


@contextmanager
def on_a_port(vendor: httpx.AsyncBaseTransport) -> Iterator[str]:
    """Yield the address of a server that hands every request to `vendor`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            # Whoever asks may be killed before the answer has come.
            with suppress(OSError):
                asyncio.run(_answer(vendor, self, body))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


async def _answer(
    vendor: httpx.AsyncBaseTransport, handler: BaseHTTPRequestHandler, body: bytes
) -> None:
    """Hand on every piece of the answer as it comes; it ends with the connection."""
    url = f"http://{handler.headers['host']}{handler.path}"
    request = httpx.Request("POST", url, headers=dict(handler.headers), content=body)
    response = await vendor.handle_async_request(request)
    handler.send_response(response.status_code)
    handler.end_headers()
    assert isinstance(response.stream, httpx.AsyncByteStream)
    async for piece in response.stream:
        handler.wfile.write(piece)
        handler.wfile.flush()
