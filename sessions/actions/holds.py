"""Legal holds on what people name: a team, a session by its ID or link, a person by address."""

from __future__ import annotations

import re

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from sessions.events.store import lock_session
from sessions.models import Session
from teams.access import TeamAccess
from teams.actions.holds import set_hold
from teams.models import AuditEntry, LegalHold, Team, User

_SESSION = re.compile(r"ses_[0-9A-Za-z]+")


@transaction.atomic
def hold_named(
    actor: User | TeamAccess, *, scope: str, what: str, reason: str, team: Team | None
) -> LegalHold:
    """Set a hold on what `what` names.

    Raises: as `set_hold`; Invalid for what is not there, or not in the team.
    """
    if scope == LegalHold.Scope.PERSON:
        return set_hold(actor, reason=reason, team=team, user=_person(what, team))
    if team is None:
        raise Invalid(_("Choose a team."), field="team")
    if scope == LegalHold.Scope.SESSION:
        return set_hold(actor, reason=reason, team=team, session=_session(what, team))
    return set_hold(actor, reason=reason, team=team)


def _session(what: str, team: Team) -> str:
    """Returns: the session at the top, locked: whoever deletes it has come before, or waits."""
    found = _SESSION.search(what)
    rows = Session.objects.filter(project__team=team)
    session = rows.filter(pk=found.group()).first() if found else None
    if session is None:
        raise Invalid(_("There is no such session in this team."), field="what")
    return lock_session(session.top_id).pk


def _person(what: str, team: Team | None) -> User:
    """A former member counts, too. Of others it is not told whether they have an account."""
    user = User.objects.filter(email__iexact=what.strip()).first()
    if user is not None and (
        team is None
        or team.memberships.filter(user=user).exists()
        or AuditEntry.objects.filter(team=team, actor=user).exists()
    ):
        return user
    raise Invalid(_("Nobody with this address has been in the team."), field="what")
