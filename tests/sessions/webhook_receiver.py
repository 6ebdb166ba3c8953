"""A receiver of webhooks on loopback, which remembers what it got."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.web_server import answer, serve


@dataclass
class Receiver:
    address: str = ""
    # What it answers from now on.
    status: int = 204
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        self.got.append(({name.lower(): value for name, value in handler.headers.items()}, body))
        answer(status=self.status, location="/in" if 300 <= self.status < 400 else "")(handler)


@contextmanager
def receive() -> Iterator[Receiver]:
    receiver = Receiver()
    with serve({"/in": receiver.take}) as receiver.address:
        yield receiver
