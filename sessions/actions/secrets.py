from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, NotFound
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.approvals.hold import Change, hold_for_approval
from sessions.models import ChangeKind, Project, ProjectSecret
from sessions.secrets import MAX_SECRETS, check_name, check_value
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role


@transaction.atomic
def set_secret(
    access: ProjectAccess, *, name: str, value: str, ip: str | None = None
) -> ProjectSecret:
    """Give the commands of a project a variable, in place of one with the same name.

    Raises: Invalid for the name or value; Conflict when there are too many; Forbidden below admin;
    NeedsApproval.
    """
    require_role(access.team, Role.ADMIN)
    name, value = check_name(name), check_value(value)
    # Held, so that two at once neither collide nor exceed the bound.
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    row = ProjectSecret.objects.filter(project=project, name=name).first()
    if row is None:
        if ProjectSecret.objects.filter(project=project).count() >= MAX_SECRETS:
            raise Conflict(
                _("A project can have at most {count} secrets. Remove one first.").format(
                    count=MAX_SECRETS
                )
            )
        row = ProjectSecret(project=project, name=name)
    _hold(access, "secret.set", row, {"name": name, "value": value})
    row.value = encrypt(value)
    row.updated_by, row.updated_at = access.principal.user, timezone.now()
    row.save()
    _audit(AuditAction.SECRET_SET, access, name, ip)
    return row


@transaction.atomic
def remove_secret(access: ProjectAccess, *, secret: int, ip: str | None = None) -> str:
    """Erase a secret. Returns: its name. Raises: NotFound; Forbidden below admin; NeedsApproval."""
    require_role(access.team, Role.ADMIN)
    rows = ProjectSecret.objects.select_for_update(of=("self",))
    row = rows.filter(project=access.project, pk=secret).first()
    if row is None:
        raise NotFound("Secret", str(secret))
    _hold(access, "secret.remove", row, {"secret": secret})
    row.delete()
    _audit(AuditAction.SECRET_REMOVED, access, row.name, ip)
    return row.name


def _hold(access: ProjectAccess, what: str, row: ProjectSecret, arguments: JsonObject) -> None:
    updated = row.updated_at.isoformat() if row.pk else None
    hold_for_approval(
        access.team,
        Change(
            kind=ChangeKind.SECRETS,
            what=what,
            need=Role.ADMIN,
            arguments=arguments,
            told={"name": row.name, "new": row.pk is None},
            state={"project": access.project.pk, "name": row.name, "updated": updated},
            project=access.project,
        ),
    )


def _audit(action: AuditAction, access: ProjectAccess, name: str, ip: str | None) -> None:
    record(
        action,
        actor=access.principal.user,
        team=access.team.team,
        target=access.project,
        data={"name": name},
        ip=ip,
    )
