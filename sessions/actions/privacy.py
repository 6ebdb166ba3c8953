from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Forbidden, Invalid
from opencode_web.lib.json import JsonObject
from sessions.access import SessionAccess
from sessions.actions.shares import end_shares
from sessions.events.store import append, lock_below, lock_session
from sessions.events.types import SessionUpdated
from sessions.models import Session
from teams.access import TeamAccess, require_role
from teams.actions.members import change_views
from teams.audit import AuditAction, record
from teams.models import Role


def may_change_privacy(access: TeamAccess, session: Session) -> bool:
    """Whether it is for the person to decide who sees the session."""
    if session.root_id is not None or not access.can(Role.MEMBER):
        return False
    return session.owner_id == access.user.pk or access.can(Role.ADMIN)


@transaction.atomic
def set_private(access: SessionAccess, *, private: bool, ip: str | None = None) -> Session:
    """Let only its owner and those who oversee the team see a session, with its sub-agents; or open
    it again. What is made private loses its links, those to its sub-agents, too.

    Raises: Invalid for a sub-agent's; Forbidden but for the owner and admins.
    """
    require_role(access.team, Role.MEMBER)
    if access.session.root_id is not None:
        raise Invalid(_("A sub-agent is as private as the session that it works for."))
    if not may_change_privacy(access.team, access.session):
        raise Forbidden(_("Only the session's owner and team admins can change this."))
    session = lock_session(access.session.pk)
    if session.is_private == private:
        return session
    # Before what tells of the change: whoever must not see it is not to hear of it.
    change_views(session.project.team_id)
    append(session, [SessionUpdated(private=private)])
    if private:
        for one in (session, *lock_below(session)):
            end_shares(access, one, ip=ip)
    key: JsonObject = {} if private else {"key": "opened"}
    actor, team = access.principal.user, access.team.team
    record(
        AuditAction.SESSION_PRIVACY_CHANGED, actor=actor, team=team, target=session, data=key, ip=ip
    )
    return session
