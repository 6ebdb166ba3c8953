from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.approvals.hold import Change, NoLongerFits, hold_for_approval
from sessions.models import ChangeKind, TeamPlugin
from sessions.wake import wake_pinning
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team
from tools.plugins.registry import Pinned, digest_of, read_wanted

MAX_PLUGINS = 30


@transaction.atomic
def add_team_plugin(access: TeamAccess, *, package: str, ip: str | None = None) -> TeamPlugin:
    """Have a package pinned, so that somebody can review it. Nothing of it runs.

    `package` is name@version. One that could not be pinned is tried again.
    Raises: Invalid; Conflict; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    if not settings.NPM_REGISTRY:
        raise Conflict(_("No npm registry is set up. An operator can set NPM_REGISTRY."))
    wanted = read_wanted(package)
    if wanted is None:
        raise Invalid(
            _("Enter the name of a package with an exact version, such as name@1.2.3."),
            field="package",
        )
    rows = TeamPlugin.objects.select_for_update().filter(team=access.team)
    row = rows.filter(name=wanted[0], version=wanted[1]).first()
    if row is not None and row.digest:
        raise Conflict(_("{package} is in the list already.").format(package=row))
    if row is None:
        if rows.count() >= MAX_PLUGINS:
            raise Conflict(
                _("A team can have at most {count} plugins. Remove one first.").format(
                    count=MAX_PLUGINS
                )
            )
        row = TeamPlugin(team=access.team, name=wanted[0], version=wanted[1])
        _record(AuditAction.TEAM_PLUGIN_ADDED, access, row, ip)
    row.problem, row.added_by, row.added_at = "", access.user, timezone.now()
    row.save()
    wake_pinning(row.pk)
    return row


def keep_pins(plugin: int, *, pinned: list[Pinned], hooks: list[str]) -> None:
    """Note what a package consists of. Nothing happens where that is known, or it was removed."""
    TeamPlugin.objects.filter(pk=plugin, digest="").update(
        digest=digest_of(pinned),
        packages=[one.to_json() for one in pinned],
        hooks=hooks,
        problem="",
    )


def keep_problem(plugin: int, problem: str) -> None:
    """Note why a package could not be pinned."""
    TeamPlugin.objects.filter(pk=plugin, digest="").update(problem=problem[:1000])


@transaction.atomic
def trust_team_plugin(
    access: TeamAccess, *, plugin: int, digest: str, ip: str | None = None
) -> TeamPlugin:
    """Let the projects of the team load exactly this; another version of it is removed.

    Raises: NoLongerFits when it is not what the person has seen; NotFound; Forbidden below admin;
    NeedsApproval.
    """
    require_role(access, Role.ADMIN)
    Team.objects.select_for_update().get(pk=access.team.pk)  # one version of a name at a time
    row = _row(access, plugin)
    if not row.digest or row.digest != digest:
        raise NoLongerFits(_("The package has changed. Review it again."))
    if row.trusted_at is not None:
        return row
    others = TeamPlugin.objects.filter(team=access.team, name=row.name, trusted_at__isnull=False)
    replaced = list(others.select_for_update())
    change = Change(
        kind=ChangeKind.RULES,
        what="trust.plugin",
        need=Role.ADMIN,
        arguments={"plugin": row.pk, "digest": digest},
        told={"name": str(row)},
        state={"team": access.team.pk, "name": row.name, "now": [one.digest for one in replaced]},
    )
    hold_for_approval(access, change)
    others.delete()
    row.trusted_by, row.trusted_at = access.user, timezone.now()
    row.save(update_fields=["trusted_by", "trusted_at"])
    _record(AuditAction.TEAM_PLUGIN_TRUSTED, access, row, ip, *replaced)
    return row


@transaction.atomic
def remove_team_plugin(access: TeamAccess, *, plugin: int, ip: str | None = None) -> str:
    """Load a package no more. Returns: its name. Raises: NotFound; Forbidden below admin."""
    require_role(access, Role.ADMIN)
    row = _row(access, plugin)
    _record(AuditAction.TEAM_PLUGIN_REMOVED, access, row, ip)
    row.delete()
    return str(row)


@transaction.atomic
def reload_team_plugin(access: TeamAccess, *, plugin: int, ip: str | None = None) -> TeamPlugin:
    """Have a package loaded anew in all projects, also where it was switched off.

    Raises: NotFound; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    row = _row(access, plugin)
    row.reloads += 1
    row.save(update_fields=["reloads"])
    _record(AuditAction.TEAM_PLUGIN_RELOADED, access, row, ip)
    return row


def _row(access: TeamAccess, plugin: int) -> TeamPlugin:
    rows = TeamPlugin.objects.select_for_update(of=("self",))
    row = rows.filter(team=access.team, pk=plugin).first()
    if row is None:
        raise NotFound("Plugin", str(plugin))
    return row


def _record(
    action: AuditAction, access: TeamAccess, row: TeamPlugin, ip: str | None, *before: TeamPlugin
) -> None:
    data: JsonObject = {"name": str(row), "digest": row.digest}
    if before:
        data["replaced"] = [str(one) for one in before]
    record(action, actor=access.user, team=access.team, target=access.team, data=data, ip=ip)
