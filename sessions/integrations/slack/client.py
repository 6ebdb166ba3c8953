"""Slack's own client, on connections that reach Slack alone.

It is loaded only by who speaks with Slack: with aiohttp it takes half a second and 25 MB. Its
retries are off. One of them would write a message again whose answer was lost, and the others would
wait in memory, where a restart forgets that Slack wants to be left alone; the outbox does both in
rows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import aiohttp
from django.conf import settings
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound_policy import ais_listed
from sessions.integrations.slack import api
from sessions.integrations.slack.api import SlackError, require_own

TIMEOUT_S = 20.0
_MAX_WAIT_S = 3600
# It would log texts, and addresses that let anybody take a connection.
SILENT = logging.getLogger("slack.silent")
SILENT.setLevel(logging.CRITICAL)


def guarded_session() -> aiohttp.ClientSession:
    """Connections to Slack alone, wherever an answer or a redirect points."""
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=TIMEOUT_S), middlewares=(_guard,)
    )


async def _guard(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Raises: SlackError for any other address, and without TLS unless operators have listed it."""
    require_own(str(request.url))
    listed = (request.url.host or "", request.url.port or 0)
    if not (request.is_ssl() or await ais_listed(*listed)):
        raise SlackError("address_elsewhere")
    return await handler(request)


def web_client(token: str, session: aiohttp.ClientSession) -> AsyncWebClient:
    """The client of who owns a token."""
    client = AsyncWebClient(
        token,
        base_url=api.API,
        session=session,
        user_agent_suffix=f"OpenCode-Web/{settings.VERSION}",
        logger=SILENT,
        retry_handlers=[],
    )
    # Without a value it takes the environment's.
    client.proxy = None
    return client


async def call(
    token: str, method: str, *, json: JsonObject | None = None, form: JsonObject | None = None
) -> JsonObject:
    """Returns: what Slack answers. Raises: SlackError."""
    with _translated():
        async with guarded_session() as session:
            client = web_client(token, session)
            answer = await client.api_call(method, json=json, data=form)
        return cast(JsonObject, answer.data)


async def exchange(
    verb: str, url: str, *, limit: int, token: str = "", body: bytes = b"", kind: str = ""
) -> tuple[int, str, bytes]:
    """Ask for what is no method. Returns: status, content type and body. Raises: SlackError, also
    for a body of more than `limit` bytes."""
    headers = {"content-type": kind} if kind else {}
    if token:
        headers["authorization"] = f"Bearer {token}"
    with _translated():
        async with (
            guarded_session() as session,
            session.request(verb, url, headers=headers, data=body or None) as response,
        ):
            got = bytearray()
            async for chunk in response.content.iter_chunked(64 * 1024):
                got += chunk
                if len(got) > limit:
                    raise SlackError("too_large")
            return response.status, response.content_type, bytes(got)


@contextmanager
def _translated() -> Iterator[None]:
    """Raises: SlackError for whatever Slack's client does."""
    try:
        yield
    except SlackApiError as exc:
        status = getattr(exc.response, "status_code", 0)
        data: Any = getattr(exc.response, "data", None)  # JSON, if it is any
        if status == 429:
            wait_s = int(exc.response.headers.get("Retry-After", 1))
            raise SlackError("ratelimited", wait_s=min(max(1, wait_s), _MAX_WAIT_S)) from exc
        is_told = isinstance(data, dict) and status < 500
        raise SlackError(str(data["error"]) if is_told else "unreachable") from exc
    except (aiohttp.ClientError, OSError, ValueError, AttributeError) as exc:
        raise SlackError("unreachable") from exc
