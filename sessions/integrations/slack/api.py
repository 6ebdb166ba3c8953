"""Slack's Web API: one address, one token, and never on to another.

Source: https://docs.slack.dev/apis/web-api/ and https://docs.slack.dev/apis/web-api/rate-limits
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.json import JsonObject, JsonValue, read_json, text_of
from opencode_web.lib.outbound import FetchError, check_url, guarded_client
from sessions.forges.api import require_safe
from sessions.models import SlackWorkspace

API = "https://slack.com/api"
TIMEOUT_S = 20.0
MAX_FILE_BYTES = 10 * 1024 * 1024
_MAX_ANSWER_BYTES = 2 * 1024 * 1024
_MAX_WAIT_S = 3600
_TOKEN = gettext_noop("Slack does not accept the token. An admin has to paste a new one.")
_SENTENCES = {
    **dict.fromkeys(
        ("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"), _TOKEN
    ),
    "missing_scope": gettext_noop(
        "The Slack app lacks a permission. Compare its manifest with the one on this page, and "
        "install it again."
    ),
    "not_allowed_token_type": gettext_noop(
        "This is another kind of token. The bot token begins with xoxb-, the app token with xapp-."
    ),
    "not_in_channel": gettext_noop("The app is not in this channel. Invite it there."),
    "channel_not_found": gettext_noop("The app sees no such channel. Invite it there."),
    "link_disabled": gettext_noop("Socket Mode is switched off in the Slack app."),
    "is_archived": gettext_noop("The channel is archived."),
    "ratelimited": gettext_noop("Slack wants to be left alone for a while."),
    "unreachable": gettext_noop("Slack could not be reached."),
    "unreadable_token": gettext_noop(
        "The token cannot be read with this server's SECRET_KEY. An admin has to paste it again."
    ),
}
_OTHER = gettext_noop("Slack refused this.")
# What is no different the next time.
FINAL = frozenset(
    {
        *(
            "channel_not_found",
            "not_in_channel",
            "is_archived",
            "message_not_found",
            "restricted_action",
        ),
        *("cant_update_message", "edit_window_closed", "thread_not_found", "user_not_found"),
    }
)


class SlackError(Exception):
    """Slack did not do it. `code` is its own word for why, `told` a sentence for people.

    `wait_s` is how long it wants to be left alone, 0 where it does not say.
    """

    def __init__(self, code: str, *, wait_s: int = 0) -> None:
        self.code, self.wait_s = code[:60], wait_s
        known = _SENTENCES.get(code, _OTHER)
        self.told = known if known is not _OTHER else f"{known} ({self.code})"
        super().__init__(self.told)


@dataclass(frozen=True)
class Slack:
    """Slack as the owner of a token."""

    token: str = field(repr=False)

    async def call(self, method: str, **body: JsonValue) -> JsonObject:
        """Returns: what Slack answers. Raises: SlackError."""
        sent = json.dumps({name: one for name, one in body.items() if one is not None})
        kind = "application/json; charset=utf-8"
        return await self._ask(method, {"content-type": kind}, sent.encode())

    async def ask(self, method: str, **form: str) -> JsonObject:
        """As `call`, for methods that read forms alone: those that look something up."""
        kind = "application/x-www-form-urlencoded"
        return await self._ask(method, {"content-type": kind}, _form(form))

    async def fetch_file(self, url: str) -> bytes:
        """Returns: a file that somebody has sent. Raises: SlackError, also for one of another host
        or with more than MAX_FILE_BYTES."""
        require_own(url)
        status, headers, body = await self._exchange("GET", url, {}, None, MAX_FILE_BYTES)
        # Without the scope to read files, Slack shows its page for signing in.
        if status != 200 or headers.get("content-type", "").startswith("text/html"):
            raise SlackError("file_not_readable")
        return body

    async def _ask(self, method: str, headers: Mapping[str, str], body: bytes) -> JsonObject:
        url = f"{API}/{method}"
        status, got, answer = await self._exchange("POST", url, headers, body, _MAX_ANSWER_BYTES)
        if status == 429:
            raise SlackError("ratelimited", wait_s=_wait_s(got))
        try:
            value = read_json(answer.decode())
        except ValueError:
            value = None
        if not isinstance(value, dict) or status >= 500:
            raise SlackError("unreachable")
        if value.get("ok") is not True:
            raise SlackError(text_of(value, "error") or "unknown")
        return value

    async def _exchange(
        self, verb: str, url: str, headers: Mapping[str, str], body: bytes | None, limit: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        own = {
            "accept-encoding": "identity",
            "user-agent": f"OpenCode-Web/{settings.VERSION}",
            **headers,
        }
        if self.token:
            own["authorization"] = f"Bearer {self.token}"
        try:
            await require_safe(url)
            async with (
                guarded_client(timeout_s=TIMEOUT_S, headers=own) as client,
                client.stream(verb, check_url(url), content=body) as response,
            ):
                got = bytearray()
                async for chunk in response.aiter_raw(64 * 1024):
                    got += chunk
                    if len(got) > limit:
                        raise SlackError("too_large")
        except FetchError as exc:
            raise SlackError("unreachable") from exc
        return response.status_code, response.headers, bytes(got)


async def respond(url: str, body: JsonObject) -> None:
    """Answer a command or a button, at the address that came with it. Raises: SlackError."""
    require_own(url)
    kind = {"content-type": "application/json; charset=utf-8"}
    sent = json.dumps(body).encode()
    status, _, _ = await Slack("")._exchange("POST", url, kind, sent, _MAX_ANSWER_BYTES)
    if status != 200:
        raise SlackError("no_answer_taken")


def require_own(url: str) -> None:
    """Raises: SlackError for the address of anybody but Slack: tokens go there alone."""
    host, own = urlsplit(url).hostname or "", urlsplit(API).hostname or ""
    if host != own and not host.endswith(f".{own}"):
        raise SlackError("address_elsewhere")


def slack_of(row: SlackWorkspace) -> Slack:
    """Raises: SlackError where the token cannot be decrypted."""
    return Slack(opened(row.bot_token))


def opened(sealed: str) -> str:
    """Raises: SlackError where it cannot be decrypted."""
    try:
        return decrypt(sealed)
    except DecryptionError as exc:
        raise SlackError("unreadable_token") from exc


def _form(values: Mapping[str, str]) -> bytes:
    return urlencode(values).encode()


def _wait_s(headers: Mapping[str, str]) -> int:
    after = headers.get("retry-after", "")
    known = after.isdecimal() and len(after) <= 5
    return min(max(1, int(after)), _MAX_WAIT_S) if known else 1
