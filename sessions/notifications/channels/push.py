"""Web Push: to the push service of a browser, encrypted for it and signed by this server.

Source: RFC 8030 (requests and answers), 8291 (encryption) and 8292 (VAPID).
"""

from __future__ import annotations

import base64
import hashlib
import json
from urllib.parse import urlsplit

import httpx
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.outbound import FetchError, guarded_client
from sessions.models import NotificationKind, PushSubscription
from sessions.notifications.channels.base import Message, Result
from sessions.notifications.push_crypto import encrypt_for, sign_for
from sessions.notifications.push_key import load_key
from teams.auth import Principal, resume_principal
from teams.models import Team, User

TIMEOUT_S = 10.0
# How long a push service keeps what it cannot deliver yet.
_TTL_S = 24 * 3600
_MAX_WAIT_S = 24 * 3600
# Every push service takes 3993 bytes of text at least (RFC 8291, 4).
_MAX_CHARS, _MAX_LINES = 120, 5


class PushChannel:
    """Every signed-in browser that the person has subscribed."""

    name = "push"
    label = gettext_lazy("Web Push")
    usual_kinds = frozenset(NotificationKind)

    def unavailable(self, user: User) -> str:
        try:
            load_key()
        except (DecryptionError, ValueError):
            return _(
                "The server cannot read its key for Web Push. An operator must set SECRET_KEY."
            )
        return ""

    def devices(self, user: User) -> list[PushSubscription | None]:
        return list(PushSubscription.objects.filter(browser__user=user))

    def principal(
        self, user: User, device: PushSubscription | None, team: Team
    ) -> Principal | None:
        if device is None:
            return None
        browser = UserSession.objects.filter(pk=device.browser_id, user=user).first()
        return resume_principal(user, browser_key=browser.session_key) if browser else None

    async def send(self, user: User, device: PushSubscription | None, message: Message) -> Result:
        if device is None:
            return Result("There is no subscription.", is_final=True)
        try:
            endpoint, auth = decrypt(device.endpoint), decrypt(device.auth)
            body = encrypt_for(_payload(message), public=device.p256dh, auth=auth)
        except (DecryptionError, ValueError) as exc:
            await in_db(_remove, device)
            return Result(type(exc).__name__, is_final=True)
        key = await in_db(load_key)
        parts = urlsplit(endpoint)
        token = sign_for(f"{parts.scheme}://{parts.netloc}", key=key, subject=_subject())
        headers = {
            "authorization": f"vapid t={token}, k={key.public}",
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(_TTL_S),
            "topic": _topic(message.tag),
            "urgency": "high" if message.is_urgent else "normal",
            "user-agent": f"OpenCode-Web/{settings.VERSION}",
        }
        try:
            async with (
                guarded_client(timeout_s=TIMEOUT_S, headers=headers) as client,
                # Nothing of the answer is read but its head, and no redirect is followed.
                client.stream("POST", endpoint, content=body) as response,
            ):
                status, after = response.status_code, response.headers.get("retry-after", "")
        except FetchError:
            return Result("The push service could not be reached.")
        return await _judge(device, status, after)


async def _judge(device: PushSubscription, status: int, after: str) -> Result:
    if httpx.codes.is_success(status):
        return Result()
    problem = f"The push service responded with status {status}."
    if status in (404, 410):
        await in_db(_remove, device)
        return Result(problem, is_final=True)
    if status == 429 or status >= 500:
        wait_s = int(after) if after.isdecimal() and len(after) <= 9 else 0
        return Result(problem, wait_s=min(wait_s, _MAX_WAIT_S))
    return Result(problem, is_final=True)


def _remove(device: PushSubscription) -> None:
    """Unless the browser has subscribed anew meanwhile."""
    PushSubscription.objects.filter(pk=device.pk, digest=device.digest).delete()


def _payload(message: Message) -> bytes:
    """Returns: what the service worker reads."""
    first, lines = message.lines[0], message.lines[:_MAX_LINES]
    body = [line.text for line in lines] if message.title else [first.what]
    said = {
        "title": (message.title or first.subject)[:_MAX_CHARS],
        "body": "\n".join(text[:_MAX_CHARS] for text in body),
        "url": message.path,
        "tag": message.tag,
    }
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()


def _topic(tag: str) -> str:
    """Returns: what tells a push service to keep only the newest: at most 32 of base64url."""
    return base64.urlsafe_b64encode(hashlib.sha256(tag.encode()).digest()[:24]).decode()


def _subject() -> str:
    """Returns: whom a push service can turn to."""
    url = str(settings.PUBLIC_URL)
    return url if url.startswith("https:") else f"mailto:{settings.MAIL_FROM}"
