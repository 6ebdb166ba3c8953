"""What a team and the people of a project say about keys in texts."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.crypto import fingerprint
from sessions.access import ProjectAccess
from sessions.models import AllowedKey
from sessions.secrets import keys_in
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team


@transaction.atomic
def set_key_hiding(access: TeamAccess, *, hides: bool, ip: str | None = None) -> None:
    """Choose whether well-known keys are hidden in a team. Raises: Forbidden below admin."""
    require_role(access, Role.ADMIN)
    if access.team.hides_keys == hides:
        return
    access.team.hides_keys = hides
    Team.objects.filter(pk=access.team.pk).update(hides_keys=hides)
    data = {"hides": hides, "key": "shown" if not hides else "hidden"}
    record(
        AuditAction.KEY_HIDING_CHANGED, actor=access.user, team=access.team, data={**data}, ip=ip
    )


@transaction.atomic
def allow_keys(access: ProjectAccess, text: str, *, ip: str | None = None) -> int:
    """Leave what looks like keys in a text as it is in this project from now on.

    Secrets of the project and its team are left only where people write them. Only keyed hashes of
    the values are kept. Returns: how many there were. Raises: Forbidden below member.
    """
    require_role(access.team, Role.MEMBER)
    found = keys_in(access.project, text)
    now = timezone.now()
    AllowedKey.objects.bulk_create(
        (
            AllowedKey(
                project=access.project,
                fingerprint=fingerprint(one.value),
                allowed_by=access.principal.user,
                allowed_at=now,
            )
            for one in found
        ),
        ignore_conflicts=True,
    )
    if found:
        record(
            AuditAction.KEY_ALLOWED,
            actor=access.principal.user,
            team=access.team.team,
            target=access.project,
            data={"kinds": [*sorted({one.mark.strip("[]") or one.kind for one in found})]},
            ip=ip,
        )
    return len(found)
