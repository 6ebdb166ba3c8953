from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from providers.actions import absorb_keys
from sessions.access import ProjectAccess
from sessions.actions.held_settings import hold_settings
from sessions.actions.mcp_servers import forget_removed_servers
from sessions.actions.mcp_sign_ins import erase_removed_grants
from sessions.config.known_keys import split_unknown
from sessions.config.model import parse_settings
from sessions.config.network import KEY as NETWORK
from sessions.config.network import ceiling, read_network, team_network
from sessions.config.public import keep_masked
from sessions.config.sharing import check_sharing
from sessions.mcp.servers import KEY as MCP
from sessions.mcp.servers import WRONG_NAME, is_name, servers_in
from sessions.models import McpServer, Project
from sessions.wake import signal_servers
from teams.access import TeamAccess
from teams.audit import AuditAction, record
from teams.models import Team, User
from tools.sandbox.hosts import Reach

# Rules and choices, which have no secret in them.
_SHOWN = frozenset(
    {
        *("default_agent", "model", "small_model", "permission", "sharing", "snapshot", "worktree"),
        NETWORK,
    }
)


@transaction.atomic
def update_team_settings(
    access: TeamAccess, data: JsonObject, *, replace: bool = False, ip: str | None = None
) -> JsonObject:
    """Change a team's settings by a merge patch, or with `replace` as a whole.

    Keys of providers are taken out and kept as credentials of the team.

    Returns: the settings as stored.
    A value that is masked in what people read stays as it is when the mask comes back, and keys
    that nobody knows are left out.

    Raises: Invalid naming what is wrong; NeedsApproval. Nothing is changed then.
    """
    team = Team.objects.select_for_update().get(pk=access.team.pk)
    before = team.config
    data = keep_masked(data, before)
    team.config = _checked(team, {} if replace else before, data, actor=access.user, ip=ip)
    _check_network(before, team.config, most=ceiling(), of=_("this server"))
    check_sharing(before, team.config, of_team=True)
    hold_settings(access, before, team.config)
    team.save(update_fields=["config"])
    if before.get(MCP) != team.config.get(MCP):
        forget_removed_servers(McpServer.objects.filter(project__team=team))
        erase_removed_grants(team)
        signal_servers()
    record(
        AuditAction.CONFIG_CHANGED,
        actor=access.user,
        team=team,
        target=team,
        data=_told(before, team.config),
        ip=ip,
    )
    return team.config


@transaction.atomic
def update_project_settings(
    access: ProjectAccess, data: JsonObject, *, replace: bool = False, ip: str | None = None
) -> JsonObject:
    """Like `update_team_settings`, for one project. Keys become the team's credentials here too."""
    rows = Project.objects.select_for_update(of=("self",)).select_related("team")
    project = rows.get(pk=access.project.pk)
    before: JsonObject = project.config
    user = access.principal.user
    data = keep_masked(data, before)
    after = _checked(project.team, {} if replace else before, data, actor=user, ip=ip)
    _check_network(before, after, most=team_network(project.team).reach, of=_("the team"))
    check_sharing(before, after, of_team=False)
    hold_settings(access.team, before, after, project=project)
    project.config = after
    project.save(update_fields=["config"])
    if before.get(MCP) != after.get(MCP):
        forget_removed_servers(McpServer.objects.filter(project=project))
        erase_removed_grants(project.team)
        signal_servers()
    record(
        AuditAction.CONFIG_CHANGED,
        actor=user,
        team=project.team,
        target=project,
        data=_told(before, after),
        ip=ip,
    )
    return after


def _checked(
    team: Team, base: JsonObject, data: JsonObject, *, actor: User, ip: str | None
) -> JsonObject:
    merged, _unknown = split_unknown(apply_patch(base, data))
    parse_settings(merged)
    for name in servers_in(merged).keys() - servers_in(base).keys():
        if not is_name(name):
            raise Invalid(f"{MCP}.{name[:60]!a}: {_(WRONG_NAME)}", field=MCP)
    return absorb_keys(team, merged, actor=actor, ip=ip)


def _check_network(before: JsonObject, after: JsonObject, *, most: Reach, of: str) -> None:
    """Refuse a network wider than the level above allows: it would not count anyway."""
    if before.get(NETWORK) == after.get(NETWORK):
        return
    wanted = read_network(after)
    if wanted is not None and wanted.policy.rank > most.rank:
        raise Invalid(
            _("network: {policy} exceeds what {of} allows, which is {most}.").format(
                policy=wanted.policy.value, of=of, most=most.value
            ),
            field=NETWORK,
        )


def apply_patch(base: JsonObject, patch: JsonObject) -> JsonObject:
    """Apply a JSON merge patch: objects deep, null removes, anything else replaces.

    Source: RFC 7396.
    """
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            known = result.get(key)
            result[key] = apply_patch(known if isinstance(known, dict) else {}, value)
        else:
            result[key] = value
    return result


def _told(before: JsonObject, after: JsonObject) -> JsonObject:
    """What the audit trail has: names, as values may be private, and those that cannot be."""
    keys = _changed(before, after)
    told: JsonObject = {"keys": keys}
    shown = [key for key in keys if key in _SHOWN]
    if shown:
        told["before"] = {str(key): before.get(str(key)) for key in shown}
        told["after"] = {str(key): after.get(str(key)) for key in shown}
    if changed := _changed(servers_in(before), servers_in(after)):
        told["servers"] = changed
    return told


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> list[JsonValue]:
    keys = before.keys() | after.keys()
    return [*sorted(key for key in keys if before.get(key) != after.get(key))]
