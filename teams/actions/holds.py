"""Legal holds: owners set and release those of their team, operators all."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from teams.access import TeamAccess, require_lasting, require_operator, require_role
from teams.audit import AuditAction, record
from teams.models import LegalHold, Role, Team, User

MIN_REASON_CHARS = 10


@transaction.atomic
def set_hold(
    actor: User | TeamAccess,
    *,
    reason: str,
    team: Team | None = None,
    session: str = "",
    user: User | None = None,
) -> LegalHold:
    """Keep a team, one of its sessions, or what a person did, from being deleted.

    An operator is given as such, an owner by the access to the team. Whoever names a `session` has
    made sure that it is at the top and in the team.

    Raises: Forbidden for others; Invalid without a reason; Conflict where it is held already.
    """
    by = _require_right(actor, team)
    reason = " ".join(reason.split())
    if not MIN_REASON_CHARS <= len(reason) <= 500:
        raise Invalid(
            _("Say why, in a sentence of 10 to 500 characters: others read it when they try to "
              "delete something."),
            field="reason",
        )  # fmt: skip
    scope = _scope_of(session, user)
    if team is not None:
        # Whoever deletes the team has locked it, too.
        team = Team.objects.select_for_update().get(pk=team.pk)
    rows = LegalHold.objects.live().filter(scope=scope, team=team, session=session, user=user)
    if rows.exists():
        raise Conflict(_("There is such a legal hold already."))
    hold = LegalHold.objects.create(
        scope=scope, team=team, session=session, user=user, reason=reason, set_by=by
    )
    _record(AuditAction.HOLD_SET, hold, by)
    return hold


@transaction.atomic
def release_hold(actor: User | TeamAccess, hold_id: str) -> LegalHold:
    """Let go what was held.

    Raises: NotFound for a hold of another team, and for one of the whole server unless an operator
    asks; Forbidden below owner; Conflict where somebody has released it.
    """
    hold = LegalHold.objects.select_for_update(of=("self",)).filter(pk=hold_id).first()
    if hold is None or (
        isinstance(actor, TeamAccess) and (hold.team_id is None or hold.team_id != actor.team.pk)
    ):
        raise NotFound("Legal hold", hold_id)
    by = _require_right(actor, hold.team)
    if hold.released_at is not None:
        raise Conflict(_("This legal hold is released already."))
    hold.released_by, hold.released_at = by, timezone.now()
    hold.save(update_fields=["released_by", "released_at"])
    _record(AuditAction.HOLD_RELEASED, hold, by)
    return hold


def _require_right(actor: User | TeamAccess, team: Team | None) -> User:
    if isinstance(actor, TeamAccess):
        require_role(actor, Role.OWNER)
        require_lasting(actor)
        if team is None or team.pk != actor.team.pk:
            raise Forbidden(_("Owners can only hold what belongs to their team."))
        return actor.user
    require_operator(actor)
    return actor


def _scope_of(session: str, user: User | None) -> LegalHold.Scope:
    if user is not None:
        return LegalHold.Scope.PERSON
    return LegalHold.Scope.SESSION if session else LegalHold.Scope.TEAM


def _record(action: AuditAction, hold: LegalHold, by: User) -> None:
    data: JsonObject = {"scope": hold.scope, "reason": hold.reason}
    if hold.session:
        data["session"] = hold.session
    if hold.user is not None:
        data["user"] = hold.user.email
    record(action, actor=by, team=hold.team, target=hold, data=data)
