from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from teams.access import TeamAccess, require_role
from teams.actions.members import change_views
from teams.audit import AuditAction, record
from teams.models import Membership, Role, TeamGroup

MAX_NAME_CHARS = 80
MAX_GROUPS = 200


def access_group(access: TeamAccess, group_id: str) -> TeamGroup:
    """Raises: NotFound for a group that the team has not; Forbidden below admin."""
    require_role(access, Role.ADMIN)
    row = TeamGroup.objects.filter(team=access.team, pk=group_id).first()
    if row is None:
        raise NotFound("Group", group_id)
    return row


@transaction.atomic
def create_group(access: TeamAccess, *, name: str, ip: str | None = None) -> TeamGroup:
    """Make a group without people. Raises: Invalid; Conflict for a name that is taken."""
    require_role(access, Role.ADMIN)
    if access.team.groups.count() >= MAX_GROUPS:
        raise Conflict(_("A team can have at most %(most)s groups.") % {"most": MAX_GROUPS})
    row = TeamGroup(team=access.team, name=_clean_name(name))
    _save(row)
    _audit(AuditAction.GROUP_CREATED, access, row, {}, ip)
    return row


@transaction.atomic
def update_group(
    access: TeamAccess,
    group: TeamGroup,
    *,
    name: str | None = None,
    is_approver: bool | None = None,
    ip: str | None = None,
) -> TeamGroup:
    """Change what is given. Raises: Invalid; Conflict for a name that is taken."""
    row = _lock(access, group)
    before: JsonObject = {"name": row.name, "approver": row.is_approver}
    row.name = row.name if name is None else _clean_name(name)
    row.is_approver = row.is_approver if is_approver is None else is_approver
    after: JsonObject = {"name": row.name, "approver": row.is_approver}
    if before != after:
        _save(row)
        _audit(AuditAction.GROUP_UPDATED, access, row, {"before": before, "after": after}, ip)
    return row


@transaction.atomic
def delete_group(access: TeamAccess, group: TeamGroup, *, ip: str | None = None) -> None:
    """Remove it, with the access that its people have by it alone."""
    row = _lock(access, group)
    people: JsonObject = {"count": row.members.count()}
    _audit(AuditAction.GROUP_DELETED, access, row, people, ip)
    row.delete()
    change_views(access.team.pk)


@transaction.atomic
def put_in_group(
    access: TeamAccess, group: TeamGroup, member: Membership, *, ip: str | None = None
) -> None:
    """Add somebody of the team. Raises: Invalid for others."""
    row = _lock(access, group)
    if member.team_id != access.team.pk or member.expires_at is not None:
        raise Invalid(_("Not a member of this team."))
    if not row.members.filter(pk=member.pk).exists():
        row.members.add(member)
        _audit(AuditAction.GROUP_MEMBER_ADDED, access, row, {"user": member.user.email}, ip)
        change_views(access.team.pk)


@transaction.atomic
def take_from_group(
    access: TeamAccess, group: TeamGroup, member: Membership, *, ip: str | None = None
) -> None:
    """Remove somebody, who loses what they have by the group alone."""
    row = _lock(access, group)
    if row.members.filter(pk=member.pk).exists():
        row.members.remove(member)
        _audit(AuditAction.GROUP_MEMBER_REMOVED, access, row, {"user": member.user.email}, ip)
        change_views(access.team.pk)


def _lock(access: TeamAccess, group: TeamGroup) -> TeamGroup:
    require_role(access, Role.ADMIN)
    row = TeamGroup.objects.select_for_update().filter(pk=group.pk, team=access.team).first()
    if row is None:
        raise NotFound("Group", group.pk)
    return row


def _clean_name(name: str) -> str:
    name = " ".join(name.split())
    if not 0 < len(name) <= MAX_NAME_CHARS or not name.isprintable():
        raise Invalid(
            _("A name must have 1 to {most} characters.").format(most=MAX_NAME_CHARS), field="name"
        )
    return name


def _save(row: TeamGroup) -> None:
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as exc:
        raise Conflict(
            _("There is a group named %(name)s already.") % {"name": row.name}, field="name"
        ) from exc


def _audit(
    action: AuditAction, access: TeamAccess, row: TeamGroup, data: JsonObject, ip: str | None
) -> None:
    told: JsonObject = {"name": row.name, **data}
    record(action, actor=access.user, team=access.team, target=row, data=told, ip=ip)
