"""Send the deliveries of teams' webhooks."""

from __future__ import annotations

import logging
from functools import partial

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.signed_posts import UNREADABLE, Result, post
from sessions.actions.deliveries import (
    BATCH,
    Claimed,
    claim_deliveries,
    settle_delivery,
    work_through,
)

logger = logging.getLogger(__name__)


async def send_due() -> int:
    """Send what is due, many at once. Returns: how many attempts were made."""
    return await work_through(partial(claim_deliveries, BATCH), _send)


async def _send(claimed: Claimed) -> None:
    result = await _attempt(claimed)
    logger.info(
        "webhook.sent id=%s event=%s attempt=%d status=%d",
        claimed.id,
        claimed.event,
        claimed.attempt,
        result.status,
    )
    await in_db(settle_delivery, claimed, result)


async def _attempt(claimed: Claimed) -> Result:
    try:
        secret = decrypt(claimed.secret)
    except DecryptionError:
        return Result(0, UNREADABLE)
    return await post(claimed.url, secret, id=claimed.id, payload=claimed.payload)
