from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.actions.held_trust import hold_trust
from sessions.approvals.hold import NoLongerFits
from sessions.models import Project, RepositoryTrust, ToolDescription
from sessions.repository.trust import brought_by
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role


@transaction.atomic
def trust_repository(
    access: ProjectAccess, *, digest: str, ip: str | None = None
) -> RepositoryTrust:
    """Let what a repository brings for agents do what it says, until a file of it changes.

    `digest` is that of the files as the person has seen them.

    Raises: NoLongerFits when they are others by now, or there are none; Forbidden below admin;
    NeedsApproval.
    """
    require_role(access.team, Role.ADMIN)
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    brought = brought_by(project)
    if not brought.files:
        raise NoLongerFits(_("This repository contains nothing that needs to be trusted."))
    if brought.digest != digest:
        raise NoLongerFits(_("The files have changed. Review them again."))
    paths = [file.path for file in brought.files]
    hold_trust(access, paths, digest=digest)
    # Plugins that were switched off have another chance.
    ToolDescription.objects.filter(project=project).delete()
    row, _is_new = RepositoryTrust.objects.update_or_create(
        project=project,
        defaults={
            "digest": digest,
            "files": {file.path: file.digest for file in brought.files},
            "trusted_by": access.principal.user,
            "trusted_at": timezone.now(),
        },
    )
    _record(AuditAction.REPOSITORY_TRUSTED, access, {"digest": digest, "files": [*paths]}, ip)
    return row


@transaction.atomic
def withdraw_trust(access: ProjectAccess, *, ip: str | None = None) -> None:
    """Take the word back. Nothing happens where nobody has given it. Raises: Forbidden."""
    require_role(access.team, Role.ADMIN)
    row = RepositoryTrust.objects.select_for_update().filter(project=access.project).first()
    if row is None:
        return
    _record(AuditAction.REPOSITORY_TRUST_WITHDRAWN, access, {"digest": row.digest}, ip)
    row.delete()


@transaction.atomic
def reload_plugins(access: ProjectAccess, *, ip: str | None = None) -> None:
    """Have the plugins of a project loaded anew, also those that were switched off.

    Raises: NoLongerFits where none is trusted; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    row = RepositoryTrust.objects.select_for_update().filter(project=access.project).first()
    if row is None or not brought_by(access.project).runs_plugins:
        raise NoLongerFits(_("There are no trusted plugins. Review and trust the files first."))
    row.reloads += 1
    row.save(update_fields=["reloads"])
    ToolDescription.objects.filter(project=access.project).delete()
    _record(AuditAction.PLUGINS_RELOADED, access, {"digest": row.digest}, ip)


def _record(action: AuditAction, access: ProjectAccess, data: JsonObject, ip: str | None) -> None:
    user, project = access.principal.user, access.project
    record(action, actor=user, team=project.team, target=project, data=data, ip=ip)
