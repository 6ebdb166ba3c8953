"""Whether a browser that was signed in when it connected still is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session as StoredSession
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from teams.models import SignIn, User
from teams.policy import sign_in_of


@dataclass(frozen=True)
class BrowserSession:
    """A browser's session by its key, which is as secret as the cookie."""

    key: str

    def __repr__(self) -> str:
        return "BrowserSession(…)"

    @classmethod
    def of(cls, session: SessionBase) -> BrowserSession | None:
        """Returns: None for a session that is not stored."""
        return cls(session.session_key) if session.session_key else None

    @property
    def digest(self) -> str:
        """A name for the session that does not give the key away."""
        return hashlib.sha256(self.key.encode()).hexdigest()

    def sign_in(self, user: User) -> SignIn:
        """Returns: what the sign-in of the session has shown."""
        return sign_in_of(import_module(settings.SESSION_ENGINE).SessionStore(self.key), user)

    def is_signed_in(self, user_id: int) -> bool:
        """Whether the session still signs this person in: not ended, nor the password changed."""
        stored = import_module(settings.SESSION_ENGINE).SessionStore(self.key)
        if str(stored.get(SESSION_KEY)) != str(user_id):
            return False
        user = User.objects.filter(pk=user_id, is_active=True).first()
        return user is not None and _signs_in(stored, user)


def signed_in_keys(people: Mapping[str, User]) -> set[str]:
    """Returns: of the keys of sessions, those that still sign in who is named. One query."""
    rows = StoredSession.objects.filter(session_key__in=people, expire_date__gt=timezone.now())
    owned = ((row, people[row.session_key]) for row in rows)
    return {
        row.session_key
        for row, user in owned
        if user.is_active and _signs_in(row.get_decoded(), user)
    }


def _signs_in(stored: Mapping[str, Any] | SessionBase, user: User) -> bool:  # as Django keeps it
    """Source: django.contrib.auth.get_user, which is bound to a request."""
    if str(stored.get(SESSION_KEY)) != str(user.pk):
        return False
    if stored.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return False
    kept = stored.get(HASH_SESSION_KEY, "")
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return bool(kept) and any(constant_time_compare(kept, known) for known in hashes)
