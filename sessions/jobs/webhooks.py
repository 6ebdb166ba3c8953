"""Send deliveries as Standard Webhooks has it: an id, a time, and an HMAC over both and the body.

Source: the specification of Standard Webhooks, 1.0.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import time
from functools import partial

from django.conf import settings

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, guarded_client
from sessions.actions.deliveries import (
    BATCH,
    Claimed,
    Result,
    claim_deliveries,
    settle_delivery,
    work_through,
)
from sessions.actions.webhooks import SECRET_PREFIX

logger = logging.getLogger(__name__)

TIMEOUT_S = 10.0


async def send_due() -> int:
    """Send what is due, many at once. Returns: how many attempts were made."""
    return await work_through(partial(claim_deliveries, BATCH), _send)


def sign(secret: str, *, id: str, timestamp: int, body: bytes) -> str:
    """Returns: what stands in `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


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
        return Result(0, "Its secret cannot be read with this server's key. Make a new one.")
    return await post(claimed.url, secret, id=claimed.id, payload=claimed.payload)


async def post(url: str, secret: str, *, id: str, payload: JsonObject) -> Result:
    """Send one signed message. `id` stays the same when it is sent again."""
    body = json.dumps(payload, separators=(",", ":")).encode()
    timestamp = int(time.time())
    headers = {
        "content-type": "application/json",
        "user-agent": f"OpenCode-Web/{settings.VERSION}",
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(secret, id=id, timestamp=timestamp, body=body),
    }
    try:
        async with (
            guarded_client(timeout_s=TIMEOUT_S, headers=headers) as client,
            # Nothing of the answer is read but its status, and no redirect is followed.
            client.stream("POST", url, content=body) as response,
        ):
            status = response.status_code
    except FetchError as exc:
        return Result(0, f"It could not be reached: {exc}")
    if 200 <= status < 300:
        return Result(status)
    if 300 <= status < 400:
        return Result(
            status, f"The server responded with status {status}. Redirects are not followed."
        )
    return Result(status, f"The server responded with status {status}.")
