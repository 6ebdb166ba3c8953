"""Played vendors in the place of the internet, for code that opens its own connections."""

from __future__ import annotations

from typing import Any

import httpx

# By host; filled by the fixture `internet`.
VENDORS: dict[str, httpx.AsyncBaseTransport] = {}


class Internet(httpx.AsyncBaseTransport):
    """Hands each request to the vendor of its host, and knows no other hosts."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        vendor = VENDORS.get(request.url.host)
        if vendor is None:
            raise httpx.ConnectError(f"nobody plays {request.url.host}", request=request)
        return await vendor.handle_async_request(request)


class JsonVendor(httpx.AsyncBaseTransport):
    """Answers GET requests with fixed JSON by path, and counts them."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        name = request.url.path.strip("/").replace("/", "_")
        if name not in self.answers:
            return httpx.Response(404, stream=httpx.ByteStream(b"{}"), request=request)
        body = httpx.Response(200, json=self.answers[name]).content
        return httpx.Response(200, stream=httpx.ByteStream(body), request=request)
