"""Sites that run on loopback and answer what they are told.

with serve({"/a": answer(b"Hello")}) as base: ... f"{base}/a" ...
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Send = Callable[[BaseHTTPRequestHandler], None]
Routes = dict[str, Send]


def answer(body: bytes = b"", *, status: int = 200, **headers: str) -> Send:
    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        sent = {"content-type": "text/plain", "content-length": str(len(body))}
        for name, value in headers.items():
            sent[name.replace("_", "-")] = value
        for name, value in sent.items():
            if value:
                handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return send


def raw(*pieces: bytes, pause: threading.Event | None = None) -> Send:
    """Bytes as they are, each after `pause` was waited for a tenth of a second."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        for piece in pieces:
            try:
                handler.wfile.write(piece)
                handler.wfile.flush()
            except OSError:
                return
            if pause is not None and pause.wait(0.1):
                return

    return send


def serve(routes: Routes, *, version: str = "HTTP/1.0") -> AbstractContextManager[str]:
    """`version`: clients keep a connection to HTTP/1.1 alone."""
    return serve_any(lambda handler: routes[handler.path](handler), version=version)


@contextmanager
def serve_any(
    take: Send, *, version: str = "HTTP/1.0", tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Every request goes to `take`, whatever its path."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = version

        def do_GET(self) -> None:
            take(self)

        def do_POST(self) -> None:
            take(self)

        do_PATCH = do_PUT = do_DELETE = do_POST

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def swallow(host: str, port: int) -> Iterator[None]:
    """Nobody is refused there, and nobody gets an answer: the queue of a listener is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind((host, port))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex((host, port))
        yield
