"""Whether a browser that was signed in when it connected still is."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.utils.crypto import constant_time_compare

from teams.models import User


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

    def is_signed_in(self, user_id: int) -> bool:
        """Whether the session still signs this person in: not ended, nor the password changed.

        Source: django.contrib.auth.get_user, which is bound to a request.
        """
        stored = import_module(settings.SESSION_ENGINE).SessionStore(self.key)
        if str(stored.get(SESSION_KEY)) != str(user_id):
            return False
        if stored.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
            return False
        user = User.objects.filter(pk=user_id, is_active=True).first()
        kept = stored.get(HASH_SESSION_KEY, "")
        if user is None or not kept:
            return False
        hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
        return any(constant_time_compare(kept, known) for known in hashes)
