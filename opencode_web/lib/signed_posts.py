"""Signed messages to addresses that people choose, as Standard Webhooks has it: an id, a time, and
an HMAC over both and the body.

Source: the specification of Standard Webhooks, 1.0.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, check_url, guarded_client
from opencode_web.lib.outbound_policy import is_listed, require_open_text

TIMEOUT_S = 10.0
MAX_RECEIVER_CHARS = 2_000
SECRET_PREFIX = "whsec_"  # noqa: S105 - as Standard Webhooks marks them
# As it is stored, in English: other programs read it too.
UNREADABLE = gettext_noop("Its secret cannot be read with this server's key. Make a new one.")


@dataclass(frozen=True)
class Result:
    """How an attempt ended. `status` is 0 without an answer; no `problem` means it arrived."""

    status: int
    problem: str = ""


def new_secret() -> str:
    """Make one in the form of Standard Webhooks, so that their libraries take it as it is."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def check_receiver(url: str) -> str:
    """Returns: the address as it is requested. Raises: Invalid for one that nothing is sent to."""
    if len(url) > MAX_RECEIVER_CHARS:
        raise Invalid(
            _("An address can have at most {count} characters.").format(count=MAX_RECEIVER_CHARS),
            field="url",
        )
    try:
        checked = check_url(url.strip())
        parts = urlsplit(checked)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        require_open_text(host, port)
    except (FetchError, RefusedAddress, ValueError) as exc:
        why = str(exc).removesuffix(".")
        raise Invalid(
            _("This address cannot be used: {why}.").format(why=why), field="url"
        ) from exc
    if parts.scheme == "http" and not is_listed(host, port):
        raise Invalid(_("The address must start with https://."), field="url")
    return checked


def sign(secret: str, *, id: str, timestamp: int, body: bytes) -> str:
    """Returns: what stands in `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


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
