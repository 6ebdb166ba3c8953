"""GitHub Apps: made from a manifest, and the tokens of their installations.

Source: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest,
https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app and
https://docs.github.com/en/rest/apps/apps (2022-11-28)
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlsplit

import jwt
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from opencode_web.lib.json import JsonObject
from sessions.forges.adapter import ForgeError
from sessions.forges.answers import id_of, object_of, page_of, text_at
from sessions.forges.api import Api
from sessions.forges.github import open_api
from sessions.forges.reasons import ForgeReason as Why

# What an app may do at most. Its tokens get no more than what they are for.
PERMISSIONS = {
    "metadata": "read",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "write",
}
FOR_API = {**PERMISSIONS, "contents": "read"}
FOR_FETCH = {"metadata": "read", "contents": "read"}
FOR_PUSH = {"metadata": "read", "contents": "write"}
# Those about installations are sent to every app.
EVENTS = ["issues", "issue_comment", "pull_request", "pull_request_review_comment", "check_run"]
MAX_NAME_CHARS = 34
# GitHub takes no token that is valid for more than ten minutes, or that begins in its future.
_BEGAN_S, _ENDS_S = 60, 9 * 60
# That a token has to be valid for when it is used, and the longest that one is kept.
_LEFT, _LONGEST = timedelta(minutes=5), timedelta(hours=1)
_REASONS = {
    Why.TOKEN_REFUSED: Why.APP_REFUSED,
    Why.NOT_FOUND: Why.APP_NOT_INSTALLED,
    Why.FORBIDDEN: Why.APP_SUSPENDED,
    Why.REFUSED: Why.APP_NOT_PERMITTED,
}
# Why an installation gives no tokens until somebody changes something.
ENDED = frozenset(_REASONS.values())


@dataclass(frozen=True)
class NewApp:
    """An app as GitHub has made it. `page` is where people read about it."""

    number: int
    slug: str
    name: str
    page: str
    client_id: str
    client_secret: str = field(repr=False)
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)


@dataclass(frozen=True)
class AppKey:
    """What an app proves itself with: its number and its private key, in PEM."""

    api_url: str
    number: int
    private_key: str = field(repr=False)

    def api(self) -> Api:
        """Returns: the API as the app itself. Raises: ForgeError for what is no key."""
        now = int(time.time())
        claims = {"iat": now - _BEGAN_S, "exp": now + _ENDS_S, "iss": str(self.number)}
        try:
            signed = jwt.encode(claims, self.private_key, algorithm="RS256")
        except (jwt.PyJWTError, ValueError, TypeError) as exc:
            raise ForgeError(Why.APP_REFUSED) from exc
        return open_api(self.api_url, signed)


@dataclass(frozen=True)
class AppToken:
    """An installation's token for one repository, and until when it is used."""

    token: str = field(repr=False)
    until: datetime


def build_manifest(
    name: str, *, url: str, webhook: str, created: str, installed: str
) -> JsonObject:
    """What an app shall be. `created` and `installed` are where browsers are sent back to."""
    return {
        "name": name[:MAX_NAME_CHARS].strip(),
        "url": url,
        "hook_attributes": {"url": webhook, "active": True},
        "redirect_url": created,
        "setup_url": installed,
        "setup_on_update": True,
        "public": False,
        "default_permissions": dict(PERMISSIONS),
        "default_events": list(EVENTS),
    }


async def convert_manifest(api_url: str, code: str) -> NewApp:
    """Exchange the code of a manifest for its app, once. Raises: ForgeError."""
    path = f"/app-manifests/{quote(code, safe='')}/conversions"
    found = object_of(await open_api(api_url, "").post(path, {}))
    made = NewApp(
        number=int(id_of(found)),
        slug=text_at(found, "slug")[:100],
        name=text_at(found, "name")[:100],
        page=page_of(found, "html_url"),
        client_id=text_at(found, "client_id")[:100],
        client_secret=text_at(found, "client_secret"),
        private_key=text_at(found, "pem"),
        webhook_secret=text_at(found, "webhook_secret"),
    )
    # An empty secret would be anybody's.
    if not made.webhook_secret:
        raise ForgeError(Why.NOT_ITS_API, name="GitHub", host=urlsplit(api_url).netloc)
    AppKey(api_url, made.number, made.private_key).api()
    return made


async def find_installation(key: AppKey, path: str) -> int:
    """Returns: the number of the installation that a repository is in. Raises: ForgeError."""
    try:
        found = object_of(await key.api().get(f"/repos/{quote(path)}/installation"))
    except ForgeError as exc:
        raise _explained(exc) from exc
    if found.get("suspended_at"):
        raise ForgeError(Why.APP_SUSPENDED)
    return int(id_of(found))


async def new_token(
    key: AppKey, installation: int, path: str, permissions: Mapping[str, str]
) -> AppToken:
    """Have a token made for one repository. Raises: ForgeError."""
    body: JsonObject = {
        "repositories": [path.rpartition("/")[2]],
        "permissions": dict(permissions),
    }
    try:
        address = f"/app/installations/{installation}/access_tokens"
        found = object_of(await key.api().post(address, body))
    except ForgeError as exc:
        raise _explained(exc) from exc
    token, until = text_at(found, "token"), parse_datetime(text_at(found, "expires_at"))
    if not token or until is None:
        raise ForgeError(Why.NOT_ITS_API, name="GitHub", host=urlsplit(key.api_url).netloc)
    until = min(until.astimezone(UTC), timezone.now() + _LONGEST)
    return AppToken(token, until - _LEFT)


def _explained(error: ForgeError) -> ForgeError:
    """Returns: the error in words about the app, where it is about that."""
    reason = _REASONS.get(error.reason) if error.reason else None
    return ForgeError(reason) if reason else error
