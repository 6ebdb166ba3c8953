"""What changes history has to wait until the session is at rest."""

from __future__ import annotations

from opencode_web.lib.errors import Conflict
from opencode_web.lib.json import JsonObject
from sessions.access import SessionAccess
from sessions.actions.admission import require_open
from sessions.events.store import lock_session
from sessions.models import Session, State


class SessionBusy(Conflict):
    """The session works or waits for somebody. Source: `SessionBusyError` of OpenCode's API."""

    def __init__(self, session_id: str) -> None:
        super().__init__("The session is not idle. Stop it first, or wait until it is done.")
        self._session_id = session_id

    def to_json(self) -> JsonObject:
        """Returns: the shape that OpenCode's clients parse, in the error body of this API."""
        tag: JsonObject = {"_tag": "SessionBusyError", "sessionID": self._session_id}
        return {**tag, "message": self.message, **super().to_json()}


def lock_at_rest(access: SessionAccess) -> Session:
    """Lock the session for a change of its history.

    Raises: SessionBusy; Conflict when it is archived; NotFound when it is gone.

    Whoever admits a prompt takes the same lock: until the transaction ends, nothing starts.
    """
    session = lock_session(access.session.pk)
    if session.state != State.IDLE:
        raise SessionBusy(session.pk)
    require_open(session)
    return session
