"""The connections of allauth, which uses `requests`, through our guarded client."""

from __future__ import annotations

from typing import Any

import httpx
import requests
from asgiref.sync import async_to_sync

from opencode_web.lib.outbound import FetchError, check_url, guarded_client

_TIMEOUT_S = 10.0
_MAX_BYTES = 1024 * 1024
# The body comes decoded, and its length is then another one.
_DROPPED = {"content-encoding", "content-length", "transfer-encoding"}


class GuardedAdapter(requests.adapters.BaseAdapter):
    """Sends what the policy for outgoing connections lets through, each redirect included."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        """Raises: requests.ConnectionError."""
        try:
            answer, body = async_to_sync(_exchange)(request)
        except FetchError as exc:
            raise requests.ConnectionError(str(exc), request=request) from exc
        response = requests.Response()
        response.status_code = answer.status_code
        response.reason = answer.reason_phrase
        response.url = request.url or ""
        response.request = request
        response.headers.update(
            {name: value for name, value in answer.headers.items() if name not in _DROPPED}
        )
        response.encoding = answer.charset_encoding or "utf-8"
        response._content = body
        response._content_consumed = True  # there is no `raw` to close
        return response

    def close(self) -> None:
        """Nothing is kept open."""


async def _exchange(request: requests.PreparedRequest) -> tuple[httpx.Response, bytes]:
    sent = request.body if isinstance(request.body, str | bytes) else None
    async with (
        guarded_client(timeout_s=_TIMEOUT_S, headers={}) as client,
        client.stream(
            request.method or "GET",
            check_url(request.url or ""),
            headers={name: str(value) for name, value in request.headers.items()},
            content=sent,
        ) as answer,
    ):
        body = bytearray()
        async for chunk in answer.aiter_bytes():
            body += chunk
            if len(body) > _MAX_BYTES:
                raise FetchError("the answer is too long")
    return answer, bytes(body)


def guarded_session() -> requests.Session:
    """A session for allauth, which knows no proxies of the environment."""
    session = requests.Session()
    session.trust_env = False
    for scheme in ("https://", "http://"):
        session.mount(scheme, GuardedAdapter())
    return session
