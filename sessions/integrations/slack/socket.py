"""The one connection of a workspace in Socket Mode, by which everything comes that people do.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode/
"""

from __future__ import annotations

import asyncio
import json
import logging

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, object_of, read_json, text_of
from opencode_web.lib.outbound import FetchError
from sessions.forges.api import require_safe
from sessions.integrations.slack.api import Slack, SlackError, opened, require_own
from sessions.integrations.slack.receive import keep
from sessions.integrations.slack.service import note
from sessions.models import SlackWorkspace

logger = logging.getLogger(__name__)

# After each connection; the last one while they go on failing.
_BACKOFF_S = (1.0, 2.0, 5.0, 15.0, 30.0)
_MAX_MESSAGE_BYTES = 1024 * 1024
_OPEN_S = 15.0
_FAULTS = (SlackError, FetchError, WebSocketException, OSError, TimeoutError)


async def listen(row: SlackWorkspace) -> None:
    """Keep what comes by Socket Mode, and connect again whenever the connection ends."""
    failed = 0
    while True:
        try:
            await converse(row)
            failed, wait_s = 0, 0
        except _FAULTS as exc:
            why = exc if isinstance(exc, SlackError) else SlackError("unreachable")
            logger.info("slack.disconnected integration=%s why=%s (%s)", row.pk, why.code, exc)
            await in_db(note, row.pk, why.told)
            failed, wait_s = failed + 1, why.wait_s
        await asyncio.sleep(max(wait_s, _BACKOFF_S[min(failed, len(_BACKOFF_S) - 1)]))


async def converse(row: SlackWorkspace) -> None:
    """One connection, to its end. Slack ends each after some hours, and says so before.

    Raises: any of _FAULTS.
    """
    opening = await Slack(opened(row.app_token)).call("apps.connections.open")
    url = text_of(opening, "url")
    require_own(url)
    await require_safe(url.replace("ws", "http", 1))
    async with connect(
        url, max_size=_MAX_MESSAGE_BYTES, open_timeout=_OPEN_S, proxy=None
    ) as socket:
        await in_db(note, row.pk, "")
        async for message in socket:
            if not await _take(row, socket, message):
                return


async def _take(row: SlackWorkspace, socket: ClientConnection, message: str | bytes) -> bool:
    """Keep one envelope, then say that it is kept. Returns: False where Slack goes."""
    try:
        value = read_json(message if isinstance(message, str) else message.decode())
    except ValueError:
        return True
    sent = object_of({"sent": value}, "sent")
    if sent.get("type") == "disconnect":
        if sent.get("reason") == "link_disabled":
            raise SlackError("link_disabled")
        return False
    envelope = text_of(sent, "envelope_id")
    if envelope:
        await in_db(keep, row, object_of(sent, "payload"))
        said: JsonObject = {"envelope_id": envelope}
        await socket.send(json.dumps(said))
    return True
