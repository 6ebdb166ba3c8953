"""Ask a second person to approve a change, and everything that becomes of it but the approval."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.approvals.hold import Change, NeedsApproval, hold_for_approval
from sessions.approvals.people import ROLES, require_decider, require_deciders
from sessions.events.live import publish_inbox
from sessions.models import ChangeKind, ChangeRequest, Notification, NotificationKind
from teams.access import TeamAccess, require_lasting, require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team, User

Status = ChangeRequest.Status
MAX_TEXT = 500
MAX_OPEN = 50
_OPEN_FOR = timedelta(days=7)


@transaction.atomic
def request_change(
    held: NeedsApproval, *, reason: str = "", ip: str | None = None
) -> ChangeRequest:
    """Ask for what `hold_for_approval` has held.

    An earlier request of the person for the same thing is withdrawn.

    Raises: Conflict where nobody could decide, or the person waits for many already; Invalid for a
    reason that is too long.
    """
    access, change = held.access, held.change
    label = str(change.kind.label)
    require_deciders(
        access.team, change.need, asker=access.user, what=label, project=change.project
    )
    own = ChangeRequest.objects.select_for_update().filter(
        team=access.team, asker=access.user, status=Status.PENDING
    )
    earlier = list(own)
    if len(earlier) >= MAX_OPEN:
        raise Conflict(
            _("You already have %(count)s open requests. Withdraw one first.")
            % {"count": len(earlier)}
        )
    for row in (one for one in earlier if one.fingerprint == change.fingerprint):
        _end(row, Status.WITHDRAWN, AuditAction.CHANGE_WITHDRAWN, by=access.user, ip=ip)
    now = timezone.now()
    row = ChangeRequest.objects.create(
        id=new_id("chg"),
        expires_at=now + _OPEN_FOR,
        team=access.team,
        project=change.project,
        kind=change.kind,
        what=change.what,
        need=change.need,
        asker=access.user,
        reason=_clean(reason),
        arguments=encrypt(json.dumps(change.arguments)),
        told=change.told,
        fingerprint=change.fingerprint,
    )
    Notification.objects.create(kind=NotificationKind.ASKS, change=row, next_at=now, created_at=now)
    _record(AuditAction.CHANGE_REQUESTED, row, actor=access.user, ip=ip)
    return row


@transaction.atomic
def explain_request(access: TeamAccess, request: ChangeRequest, *, reason: str) -> ChangeRequest:
    """Say why, while it waits. Raises: Forbidden for others; Conflict; Invalid."""
    row = lock_pending(request)
    _require_own(access, row)
    row.reason = _clean(reason)
    row.save(update_fields=["reason"])
    return row


@transaction.atomic
def withdraw_request(
    access: TeamAccess, request: ChangeRequest, *, ip: str | None = None
) -> ChangeRequest:
    """Ask for it no longer. Raises: Forbidden for others than who has asked; Conflict."""
    row = lock_pending(request)
    _require_own(access, row)
    return _end(row, Status.WITHDRAWN, AuditAction.CHANGE_WITHDRAWN, by=access.user, ip=ip)


@transaction.atomic
def reject_request(
    access: TeamAccess, request: ChangeRequest, *, note: str = "", ip: str | None = None
) -> ChangeRequest:
    """Raises: Forbidden for who may not decide; Conflict when it is decided; Invalid."""
    row = lock_pending(request)
    require_decider(access, row)
    row.note = _clean(note)
    return _end(row, Status.REJECTED, AuditAction.CHANGE_REJECTED, by=access.user, ip=ip)


@transaction.atomic
def expire_requests() -> int:
    """End what nobody has decided in time. Returns: how many."""
    rows = ChangeRequest.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        status=Status.PENDING, expires_at__lte=timezone.now()
    )
    ended = [_end(row, Status.EXPIRED, AuditAction.CHANGE_EXPIRED, by=None) for row in rows]
    return len(ended)


@transaction.atomic
def set_approvals(
    access: TeamAccess, kinds: Collection[ChangeKind], *, ip: str | None = None
) -> bool:
    """Set which changes a second person has to approve. To ask for fewer needs an approval itself.

    Returns: whether anything is different now.
    Raises: Forbidden below owner and in an emergency; Conflict where nobody else could decide;
    NeedsApproval.
    """
    require_role(access, Role.OWNER)
    require_lasting(access)
    team = Team.objects.select_for_update(no_key=True).get(pk=access.team.pk)
    before, after = list(team.needs_approval), [one for one in ChangeKind if one in kinds]
    wanted = [one.value for one in after if one is not ChangeKind.POLICY]
    if dropped := [one for one in before if one not in wanted]:
        change = Change(
            kind=ChangeKind.POLICY,
            what="approvals.set",
            need=Role.OWNER,
            arguments={"kinds": [*wanted]},
            told={"dropped": [*dropped], "after": [*wanted]},
            state={"team": team.pk, "kinds": [*before]},
        )
        hold_for_approval(access, change)
    for one in after:
        if one not in before and one is not ChangeKind.POLICY:
            require_deciders(team, ROLES[one], asker=access.user, what=str(one.label))
    if wanted == before:
        return False
    team.needs_approval = access.team.needs_approval = wanted
    team.save(update_fields=["needs_approval"])
    data: JsonObject = {"before": [*before], "after": [*wanted]}
    action = AuditAction.APPROVALS_CHANGED
    record(action, actor=access.user, team=team, target=team, data=data, ip=ip)
    return True


def lock_pending(request: ChangeRequest) -> ChangeRequest:
    """Returns: the row as it is now. Raises: Conflict once it is decided or its time is over."""
    rows = ChangeRequest.objects.select_for_update(of=("self",))
    row = rows.select_related("team", "project", "asker", "decided_by").get(pk=request.pk)
    if row.status != Status.PENDING or row.expires_at <= timezone.now():
        status = Status.EXPIRED if row.status == Status.PENDING else Status(row.status)
        who = row.decided_by.display_name if row.decided_by else ""
        said = _("This request is no longer waiting: %(status)s.") % {"status": status.label}
        if who:
            said = _("This request is no longer waiting: %(status)s (%(name)s).") % {
                "status": status.label,
                "name": who,
            }
        raise Conflict(said)
    return row


def end_request(
    row: ChangeRequest, status: Status, action: AuditAction, *, by: User, note: str, ip: str | None
) -> ChangeRequest:
    """Settle a locked request with who has decided."""
    row.note = _clean(note)
    return _end(row, status, action, by=by, ip=ip)


def _end(
    row: ChangeRequest,
    status: Status,
    action: AuditAction,
    *,
    by: User | None,
    ip: str | None = None,
) -> ChangeRequest:
    row.status, row.decided_by, row.decided_at = status, by, timezone.now()
    # It can hold a secret, and is of no more use.
    row.arguments = ""
    row.save()
    _record(action, row, actor=by, ip=ip)
    return row


def _record(
    action: AuditAction, row: ChangeRequest, *, actor: User | None, ip: str | None = None
) -> None:
    """Record what became of a request, and have open pages count again."""
    data: JsonObject = {
        "change_request": row.pk,
        "kind": row.kind,
        "what": row.what,
        "asker": row.asker.email,
    }
    target = row.project or row.team
    record(action, actor=actor, team=row.team, target=target, data=data, ip=ip)
    transaction.on_commit(partial(publish_inbox, row.team_id))


def _require_own(access: TeamAccess, row: ChangeRequest) -> None:
    if row.asker_id != access.user.pk:
        raise Forbidden(_("Only the person who has asked can do this."))


def _clean(text: str) -> str:
    text = " ".join(text.split())
    if len(text) > MAX_TEXT:
        raise Invalid(_("Enter at most %(most)s characters.") % {"most": MAX_TEXT})
    return text
