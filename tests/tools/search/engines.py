"""Search engines on loopback that speak each wire and remember what they were asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.web_server import answer


@dataclass
class EngineServer:
    """Goes into `serve` as its routes: every path is answered by the same engine."""

    reply: Callable[[dict[str, Any]], bytes] | bytes = b""
    status: int = 200
    mime: str = "application/json"
    extra: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __getitem__(self, path: str) -> Callable[[BaseHTTPRequestHandler], None]:
        def send(handler: BaseHTTPRequestHandler) -> None:
            length = int(handler.headers.get("content-length") or 0)
            body = json.loads(handler.rfile.read(length)) if length else {}
            query = {key: one for key, (one, *_) in parse_qs(urlsplit(path).query).items()}
            self.paths.append(urlsplit(path).path)
            self.headers.append({key.lower(): value for key, value in handler.headers.items()})
            self.asked.append(body or query)
            reply = self.reply(body) if callable(self.reply) else self.reply
            answer(reply, status=self.status, content_type=self.mime, **self.extra)(handler)

        return send


def mcp(*texts: str, error: bool = False) -> bytes:
    content = [{"type": "text", "text": text} for text in texts]
    result = {"content": content, **({"isError": True} if error else {})}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


def events(*messages: bytes) -> bytes:
    return b"".join(b"event: message\r\ndata: " + message + b"\r\n\r\n" for message in messages)
