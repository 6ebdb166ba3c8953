from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from opencode_web.lib.approval import current_approval
from opencode_web.lib.errors import AppError, Conflict, ErrorCode, Forbidden
from opencode_web.lib.json import JsonObject
from sessions.models import ChangeKind, Project
from teams.access import TeamAccess
from teams.models import Role, Team


@dataclass(frozen=True)
class Change:
    """One change that is about to be made.

    `arguments` are those that make it again, and stay encrypted. People are shown `told`, which
    must hold no secret. `state` is what the change replaces: if that is different by the time of
    the approval, the change is not made.
    """

    kind: ChangeKind
    what: str
    need: Role
    arguments: JsonObject
    told: JsonObject
    state: JsonObject
    project: Project | None = field(default=None)

    @property
    def fingerprint(self) -> str:
        text = json.dumps([self.what, self.state], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


class NeedsApproval(AppError):
    """A second person must approve the change. Nothing is changed and nobody is asked yet."""

    code = ErrorCode.CONFLICT
    status = 409

    def __init__(self, access: TeamAccess, change: Change) -> None:
        super().__init__(
            _(
                "In %(team)s a second person must approve this. Make the change in the browser, "
                "where it becomes a request."
            )
            % {"team": access.team.name},
            approval=change.kind.value,
        )
        self.access, self.change = access, change


class NoLongerFits(Conflict):
    """What the approved change was meant for has been changed since."""

    def __init__(self, why: str = "") -> None:
        super().__init__(
            why or _("What this would replace has been changed since it was requested.")
        )


def is_held(team: Team, kind: ChangeKind) -> bool:
    """Whether `hold_for_approval` looks at changes of the kind, so that one has to be described."""
    return kind in team.needs_approval or current_approval() is not None


def hold_for_approval(access: TeamAccess, change: Change) -> None:
    """Return if the change may be made now.

    Must be called inside its transaction, with what `state` tells of locked.
    Raises: NeedsApproval; NoLongerFits; Forbidden for an operator in an emergency.
    """
    approval = current_approval()
    if approval is not None and approval.what == change.what:
        if approval.fingerprint != change.fingerprint:
            raise NoLongerFits
        return
    if change.kind is not ChangeKind.POLICY and change.kind not in access.team.needs_approval:
        return
    if access.membership.expires_at is not None:
        raise Forbidden(_("A second person must approve this. Emergency access cannot ask for it."))
    raise NeedsApproval(access, change)
