"""The browsers in which a person is signed in.

The rows are allauth's, which writes one at each sign-in. Its middleware is not used: it writes at
every request, and would move asynchronous ones to a thread.
"""

from __future__ import annotations

from functools import partial

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session as StoredSession
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from opencode_web.lib.bus import publish
from opencode_web.lib.errors import NotFound
from opencode_web.lib.json import JsonObject
from teams.access import ACCESS_CHANGED, user_group
from teams.audit import AuditAction, record
from teams.browser import BrowserSession, signed_in_keys
from teams.models import User

# Each process writes down at most this often that a browser is in use.
SEEN_EVERY_S = 300
_USER_AGENT_CHARS = 200


def note_browser(user: User, browser: BrowserSession, *, ip: str | None, user_agent: str) -> None:
    """Write down that a signed-in browser is in use. Costs queries only once in a while."""
    if ip is None or not cache.add(f"seen.{browser.digest}", True, SEEN_EVERY_S):
        return
    now = timezone.now()
    seen = {"user": user, "ip": ip, "user_agent": user_agent[:_USER_AGENT_CHARS]}
    # One that was signed in before it was written down, or without allauth, has no row yet.
    if not UserSession.objects.filter(session_key=browser.key).update(**seen, last_seen_at=now):
        UserSession.objects.get_or_create(session_key=browser.key, defaults=seen)
    if user.last_seen_on != now.date():
        User.objects.filter(pk=user.pk).update(last_seen_on=now.date())


def rename_browser(user: User, *, before: BrowserSession, after: BrowserSession) -> None:
    """Keep the row of a browser whose key changes while it stays signed in."""
    UserSession.objects.filter(user=user, session_key=before.key).update(session_key=after.key)


def browsers_of(*people: User) -> list[UserSession]:
    """Returns: the browsers that are signed in now, the one that was used last first."""
    known = {user.pk: user for user in people}
    rows = list(UserSession.objects.filter(user__in=known).order_by("-last_seen_at", "-pk"))
    live = signed_in_keys({row.session_key: known[row.user_id] for row in rows})
    return [row for row in rows if row.session_key in live]


def is_browser(user: User, here: BrowserSession, *, browser: int) -> bool:
    """Whether the row of this id is of the session in hand."""
    row = UserSession.objects.filter(user=user, pk=browser).first()
    return row is not None and row.session_key == here.key


@transaction.atomic
def sign_out_browser(user: User, *, browser: int, ip: str | None = None) -> UserSession:
    """End one browser's session; its open connections close at once.

    Raises: NotFound when the person has no such browser.
    """
    row = UserSession.objects.filter(user=user, pk=browser).first()
    if row is None:
        raise NotFound("Browser")
    _end(user, [row], ip=ip)
    return row


@transaction.atomic
def sign_out_others(user: User, *, keep: BrowserSession | None, ip: str | None = None) -> int:
    """End every session of a person but one. Returns: how many browsers were signed in."""
    others = [row for row in browsers_of(user) if keep is None or row.session_key != keep.key]
    _end(user, others, ip=ip)
    return len(others)


def end_browsers(user: User) -> int:
    """End every session of a person, unaudited. Must run inside a transaction that announces it.

    Returns: how many browsers were signed in.
    """
    count = len(browsers_of(user))
    _delete(list(UserSession.objects.filter(user=user)))
    return count


def _delete(rows: list[UserSession]) -> None:
    StoredSession.objects.filter(session_key__in=[row.session_key for row in rows]).delete()
    UserSession.objects.filter(pk__in=[row.pk for row in rows]).delete()


def _end(user: User, rows: list[UserSession], *, ip: str | None) -> None:
    _delete(rows)
    for row in rows:
        data: JsonObject = {"user_agent": row.user_agent, "address": row.ip}
        record(AuditAction.USER_SIGNED_OUT, actor=user, team=None, target=user, data=data, ip=ip)
    if rows:
        transaction.on_commit(partial(publish, user_group(user.pk), {"t": ACCESS_CHANGED}))
