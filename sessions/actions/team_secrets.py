from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.approvals.hold import Change, hold_for_approval
from sessions.models import ChangeKind, Project, TeamSecret
from sessions.secrets import MAX_SECRETS, check_name, check_value
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team


@transaction.atomic
def set_team_secret(
    access: TeamAccess,
    *,
    name: str,
    value: str,
    projects: Sequence[str] | None = None,
    ip: str | None = None,
) -> TeamSecret:
    """Give the commands of a team's projects a variable, in place of one with the same name.

    `projects` are the ids of those that get it, None for all, also later ones.

    Raises: Invalid for the name, the value or the projects; Conflict when there are too many;
    Forbidden below admin; NeedsApproval.
    """
    require_role(access, Role.ADMIN)
    name, value = check_name(name), check_value(value)
    # Held, so that two at once neither collide nor exceed the bound.
    team = Team.objects.select_for_update(no_key=True).get(pk=access.team.pk)
    chosen = _chosen(team, projects)
    row = TeamSecret.objects.filter(team=team, name=name).first()
    if row is None:
        if TeamSecret.objects.filter(team=team).count() >= MAX_SECRETS:
            raise Conflict(
                _("A team can have at most {count} secrets. Remove one first.").format(
                    count=MAX_SECRETS
                )
            )
        row = TeamSecret(team=team, name=name)
    ids: JsonObject = {"projects": None if projects is None else [one.pk for one in chosen]}
    _hold(access, "team_secret.set", row, {"name": name, "value": value, **ids}, chosen)
    row.value, row.everywhere = encrypt(value), projects is None
    row.updated_by, row.updated_at = access.user, timezone.now()
    row.save()
    row.projects.set(chosen)
    _audit(AuditAction.TEAM_SECRET_SET, access, row, ip)
    return row


@transaction.atomic
def remove_team_secret(access: TeamAccess, *, secret: int, ip: str | None = None) -> str:
    """Erase a secret. Returns: its name. Raises: NotFound; Forbidden below admin; NeedsApproval."""
    require_role(access, Role.ADMIN)
    rows = TeamSecret.objects.select_for_update(of=("self",))
    row = rows.filter(team=access.team, pk=secret).first()
    if row is None:
        raise NotFound("Secret", str(secret))
    _hold(access, "team_secret.remove", row, {"secret": secret}, [])
    _audit(AuditAction.TEAM_SECRET_REMOVED, access, row, ip)
    row.delete()
    return row.name


def _chosen(team: Team, projects: Sequence[str] | None) -> list[Project]:
    if projects is None:
        return []
    chosen = list(Project.objects.filter(team=team, pk__in=projects))
    if not chosen or len(chosen) != len(set(projects)):
        raise Invalid(
            _("Choose at least one project of this team, or all projects."), field="projects"
        )
    return chosen


def _hold(
    access: TeamAccess, what: str, row: TeamSecret, arguments: JsonObject, chosen: list[Project]
) -> None:
    before = sorted(row.projects.values_list("name", "pk")) if row.pk else []
    state: JsonObject = {"team": access.team.pk, "name": row.name}
    if row.pk:
        state["updated"] = row.updated_at.isoformat()
        state["projects"] = None if row.everywhere else [*(pk for _name, pk in before)]
    hold_for_approval(
        access,
        Change(
            kind=ChangeKind.SECRETS,
            what=what,
            need=Role.ADMIN,
            arguments=arguments,
            told={
                "name": row.name,
                "new": row.pk is None,
                "before": [*(name for name, _pk in before)],
                "after": [*sorted(one.name for one in chosen)],
            },
            state=state,
        ),
    )


def _audit(action: AuditAction, access: TeamAccess, row: TeamSecret, ip: str | None) -> None:
    names = sorted(row.projects.values_list("name", flat=True))
    record(
        action,
        actor=access.user,
        team=access.team,
        data={"name": row.name, "everywhere": row.everywhere, "projects": [*names]},
        ip=ip,
    )
