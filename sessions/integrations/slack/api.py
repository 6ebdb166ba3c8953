"""Slack's Web API: one address, one token, and never on to another.

Source: https://docs.slack.dev/apis/web-api/ and https://docs.slack.dev/apis/web-api/rate-limits
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.json import JsonObject, JsonValue, list_of, text_of
from sessions.models import SlackWorkspace

API = "https://slack.com/api"
MAX_FILE_BYTES = 10 * 1024 * 1024
# Searched for what may have been written, from this long before it was to be.
_CLOCKS_APART = timedelta(minutes=5)
_MAX_ANSWER_BYTES = 2 * 1024 * 1024
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
        return await self._ask(method, json=body)

    async def ask(self, method: str, **form: str) -> JsonObject:
        """As `call`, for methods that read forms alone: those that look something up."""
        return await self._ask(method, form=dict(form))

    async def _ask(self, method: str, **sent: JsonObject) -> JsonObject:
        from sessions.integrations.slack import client

        return await client.call(self.token, method, **sent)

    async def replies(self, channel: str, thread: str, *, since: datetime) -> list[JsonObject]:
        """Returns: messages of a thread, or of the channel without one. Raises: SlackError."""
        oldest = f"{(since - _CLOCKS_APART).timestamp():.6f}"
        asked = {"channel": channel, "oldest": oldest, "limit": "200"}
        asked["include_all_metadata"] = "true"
        if thread:
            found = await self.ask("conversations.replies", ts=thread, **asked)
        else:
            found = await self.ask("conversations.history", **asked)
        return [one for one in list_of(found, "messages") if isinstance(one, dict)]

    async def upload(self, name: str, content: bytes, *, kind: str = "") -> str:
        """Returns: the id of a file that nobody sees until it is shared. Raises: SlackError.

        `kind` is that of a snippet.
        """
        from sessions.integrations.slack import client

        asked = {"filename": name, "length": str(len(content))}
        if kind:
            asked["snippet_type"] = kind
        place = await self.ask("files.getUploadURLExternal", **asked)
        status, _, _ = await client.exchange(
            "POST", text_of(place, "upload_url"), limit=_MAX_ANSWER_BYTES, body=content
        )
        if status != 200:
            raise SlackError("unreachable")
        return text_of(place, "file_id")

    async def fetch_file(self, url: str) -> bytes:
        """Returns: a file that somebody has sent. Raises: SlackError, also for one of another host
        or with more than MAX_FILE_BYTES."""
        from sessions.integrations.slack import client

        status, kind, body = await client.exchange(
            "GET", url, limit=MAX_FILE_BYTES, token=self.token
        )
        # Without the scope to read files, Slack shows its page for signing in.
        if status != 200 or kind == "text/html":
            raise SlackError("file_not_readable")
        return body


async def respond(url: str, body: JsonObject) -> None:
    """Answer a command or a button, at the address that came with it. Raises: SlackError."""
    from sessions.integrations.slack import client

    sent, kind = json.dumps(body).encode(), "application/json; charset=utf-8"
    status, _, _ = await client.exchange("POST", url, limit=_MAX_ANSWER_BYTES, body=sent, kind=kind)
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
