from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.approvals.hold import Change, NoLongerFits, hold_for_approval
from sessions.models import ChangeKind, TeamPlugin
from sessions.wake import wake_pinning
from teams.access import TeamAccess, require_operator, require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team, User
from tools.plugins.registry import Pinned, digest_of, read_wanted

MAX_PLUGINS = 30
# The list of a team, by the access to it, or that of the server, by its operator.
Holder = TeamAccess | User


@transaction.atomic
def add_team_plugin(holder: Holder, *, package: str, ip: str | None = None) -> TeamPlugin:
    """Have a package pinned, so that somebody can review it. Nothing of it runs.

    `package` is name@version. One that could not be pinned is tried again.
    Raises: Invalid; Conflict; Forbidden for who may not change the list.
    """
    _require_change(holder)
    if not settings.NPM_REGISTRY:
        raise Conflict(_("No npm registry is set up. An operator can set NPM_REGISTRY."))
    wanted = read_wanted(package)
    if wanted is None:
        raise Invalid(
            _("Enter the name of a package with an exact version, such as name@1.2.3."),
            field="package",
        )
    rows = plugins_of(holder).select_for_update()
    row = rows.filter(name=wanted[0], version=wanted[1]).first()
    if row is not None and row.digest:
        raise Conflict(_("{package} is in the list already.").format(package=row))
    if row is None:
        if rows.count() >= MAX_PLUGINS:
            raise Conflict(
                _("There can be at most {count} plugins. Remove one first.").format(
                    count=MAX_PLUGINS
                )
            )
        row = TeamPlugin(team=_team(holder), name=wanted[0], version=wanted[1])
        _record(AuditAction.TEAM_PLUGIN_ADDED, holder, row, ip)
    row.problem, row.added_by, row.added_at = "", _user(holder), timezone.now()
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
    holder: Holder, *, plugin: int, digest: str, ip: str | None = None
) -> TeamPlugin:
    """Let the projects load exactly this; another version of it is removed.

    Raises: NoLongerFits when it is not what the person has seen; Conflict for a team when the
    server has the package; NotFound; Forbidden for who may not change the list; NeedsApproval.
    """
    _require_change(holder)
    # The whole list is locked: one version of a name is trusted at a time.
    rows = {one.pk: one for one in plugins_of(holder).select_for_update().order_by("pk")}
    row = _known(rows.get(plugin), plugin)
    if not row.digest or row.digest != digest:
        raise NoLongerFits(_("The package has changed. Review it again."))
    if row.trusted_at is not None:
        return row
    replaced = [one for one in rows.values() if one.name == row.name and one.trusted_at]
    if isinstance(holder, TeamAccess):
        _hold(holder, row, replaced)
    plugins_of(holder).filter(pk__in=[one.pk for one in replaced]).delete()
    row.trusted_by, row.trusted_at = _user(holder), timezone.now()
    row.save(update_fields=["trusted_by", "trusted_at"])
    _record(AuditAction.TEAM_PLUGIN_TRUSTED, holder, row, ip, *replaced)
    return row


def _hold(access: TeamAccess, row: TeamPlugin, replaced: list[TeamPlugin]) -> None:
    servers = TeamPlugin.objects.filter(team=None, name=row.name, trusted_at__isnull=False)
    if (brought := servers.first()) is not None:
        raise Conflict(_("This server brings {package} to all teams.").format(package=brought))
    change = Change(
        kind=ChangeKind.RULES,
        what="trust.plugin",
        need=Role.ADMIN,
        arguments={"plugin": row.pk, "digest": row.digest},
        told={"name": str(row)},
        state={"team": access.team.pk, "name": row.name, "now": [one.digest for one in replaced]},
    )
    hold_for_approval(access, change)


@transaction.atomic
def remove_team_plugin(holder: Holder, *, plugin: int, ip: str | None = None) -> str:
    """Load a package no more. Returns: its name.

    Raises: NotFound; Forbidden for who may not change the list.
    """
    _require_change(holder)
    row = _row(holder, plugin)
    _record(AuditAction.TEAM_PLUGIN_REMOVED, holder, row, ip)
    row.delete()
    return str(row)


@transaction.atomic
def reload_team_plugin(holder: Holder, *, plugin: int, ip: str | None = None) -> TeamPlugin:
    """Have a package loaded anew in all projects, also where it was switched off.

    Raises: NotFound; Forbidden for who may not change the list.
    """
    _require_change(holder)
    row = _row(holder, plugin)
    row.reloads += 1
    row.save(update_fields=["reloads"])
    _record(AuditAction.TEAM_PLUGIN_RELOADED, holder, row, ip)
    return row


def plugins_of(holder: Holder) -> QuerySet[TeamPlugin]:
    """Returns: the list of a team or of the server."""
    return TeamPlugin.objects.filter(team=_team(holder))


def _team(holder: Holder) -> Team | None:
    return None if isinstance(holder, User) else holder.team


def _user(holder: Holder) -> User:
    return holder if isinstance(holder, User) else holder.user


def _require_change(holder: Holder) -> None:
    if isinstance(holder, User):
        require_operator(holder)
    else:
        require_role(holder, Role.ADMIN)


def _row(holder: Holder, plugin: int) -> TeamPlugin:
    return _known(plugins_of(holder).select_for_update().filter(pk=plugin).first(), plugin)


def _known(row: TeamPlugin | None, plugin: int) -> TeamPlugin:
    if row is None:
        raise NotFound("Plugin", str(plugin))
    return row


def _record(
    action: AuditAction, holder: Holder, row: TeamPlugin, ip: str | None, *before: TeamPlugin
) -> None:
    data: JsonObject = {"name": str(row), "digest": row.digest}
    if before:
        data["replaced"] = [str(one) for one in before]
    team = _team(holder)
    record(action, actor=_user(holder), team=team, target=team, data=data, ip=ip)
