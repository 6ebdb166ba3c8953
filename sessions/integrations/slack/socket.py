"""The one connection of a workspace in Socket Mode, by which everything comes that people do.

Bolt has the connection and acknowledges. What comes is kept before anything of Bolt that would do
something about it: it is done later, by any worker and in one transaction, which listeners of Bolt
could not be part of.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode/
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from aiohttp import WSMessage
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse

from opencode_web.lib.db import in_db
from opencode_web.lib.json import text_of
from sessions.integrations.slack.api import Slack, SlackError, opened, require_own
from sessions.integrations.slack.client import SILENT, guarded_session, web_client
from sessions.integrations.slack.receive import keep
from sessions.integrations.slack.service import note
from sessions.models import SlackWorkspace

logger = logging.getLogger(__name__)

# After each connection; the last one while they go on failing.
_BACKOFF_S = (1.0, 2.0, 5.0, 15.0, 30.0)
_OPEN_S, _LOOK_S = 15.0, 1.0


async def listen(row: SlackWorkspace) -> None:
    """Keep what comes by Socket Mode, and connect again whenever the connection ends."""
    failed = 0
    while True:
        try:
            await converse(row)
            failed, wait_s = 0, 0
        except (SlackError, TimeoutError) as exc:
            why = exc if isinstance(exc, SlackError) else SlackError("unreachable")
            logger.info("slack.disconnected integration=%s why=%s", row.pk, why.code)
            await in_db(note, row.pk, why.told)
            failed, wait_s = failed + 1, why.wait_s
        await asyncio.sleep(max(wait_s, _BACKOFF_S[min(failed, len(_BACKOFF_S) - 1)]))


async def converse(row: SlackWorkspace) -> None:
    """Be connected, to the end of that; Slack has it replaced after some hours.

    Raises: SlackError; TimeoutError.
    """
    token, in_order, is_off = opened(row.app_token), asyncio.Lock(), asyncio.Event()

    async def take(body: dict[str, Any]) -> BoltResponse:
        # Bolt takes many at once; those of a thread are to be kept as they came.
        async with in_order:
            await in_db(keep, row, body)
        return BoltResponse(status=200)

    async def look(message: WSMessage) -> None:
        if '"link_disabled"' in message.data:
            is_off.set()

    # Bolt would ask for the address itself, and never say that Slack refuses one.
    url = text_of(await Slack(token).call("apps.connections.open"), "url")
    require_own(url)
    session = guarded_session()
    app = AsyncApp(
        name="OpenCode",
        client=web_client(token, session),
        logger=SILENT,
        # Who connects is believed by the token.
        request_verification_enabled=False,
        before_authorize=take,
    )
    client = AsyncSocketModeHandler(app, token, logger=SILENT).client
    await client.aiohttp_client_session.close()
    client.aiohttp_client_session, client.proxy = session, None
    # It would connect again with an address that can be used once.
    client.wss_uri, client.default_auto_reconnect_enabled = url, False
    client.on_message_listeners.append(look)
    try:
        async with asyncio.timeout(_OPEN_S):
            await client.connect()  # type: ignore[no-untyped-call]
        await in_db(note, row.pk, "")
        while not is_off.is_set() and await client.is_connected():
            await asyncio.sleep(_LOOK_S)
        if is_off.is_set():
            raise SlackError("link_disabled")
    finally:
        await client.close()  # type: ignore[no-untyped-call]
