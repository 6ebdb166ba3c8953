"""The plugins of a team or the server: what each consists of, and what it does in projects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject
from sessions.actions.team_plugins import Holder, plugins_of
from sessions.models import TeamPlugin, ToolDescription
from sessions.present.plugins import PluginRow, known_plugins, rows_of
from sessions.repository.plugins import REFUSED
from sessions.visibility import projects_in
from teams.access import TeamAccess


@dataclass(frozen=True)
class Uses:
    """What a plugin does in a project."""

    project: str
    plugin: PluginRow


@dataclass(frozen=True)
class TeamPluginRow:
    """A package in one version. `differs` says what is other than in the one that it would
    replace, or which of the server is loaded instead, `packages` what it needs, with its digests.
    """

    pk: int
    name: str
    digest: str
    state: str
    chip: str
    problem: str
    hooks: list[str]
    unused: list[str]
    differs: list[str]
    packages: list[JsonObject]
    uses: list[Uses]
    is_trusted: bool
    trusted_by: str
    trusted_at: datetime | None


@dataclass(frozen=True)
class TeamPluginsPage:
    """`can_add`: whether there is a registry. `is_fetching`: a package is on its way.

    `of_server` are those that the server brings to a team.
    """

    plugins: list[TeamPluginRow]
    of_server: list[TeamPluginRow]
    can_add: bool
    is_fetching: bool


def build_team_plugins(holder: Holder) -> TeamPluginsPage:
    """Read the list of a team, with what it does in the projects that the person sees, or that of
    the server, with what it does in all."""
    rows = _read(plugins_of(holder))
    trusted = {row.name: row for row in rows if row.trusted_at}
    brought: list[TeamPlugin] = []
    uses: dict[str, list[Uses]] = {}
    if isinstance(holder, TeamAccess):
        brought = _read(TeamPlugin.objects.filter(team=None, trusted_at__isnull=False))
        projects = projects_in(holder)
        found = ToolDescription.objects.filter(project__in=projects).select_related("project")
        for description in found.order_by("project__name"):
            for one in rows_of(description):
                uses.setdefault(one.path, []).append(Uses(description.project.name, one))
    else:
        for known in known_plugins():
            where = Uses(f"{known.team} / {known.project}", known.plugin)
            uses.setdefault(known.plugin.path, []).append(where)
    of_server = {row.name: row for row in brought}
    return TeamPluginsPage(
        [
            _row(row, of_server.get(row.name) or trusted.get(row.name), uses.get(str(row), []))
            for row in rows
        ],
        [_row(row, None, uses.get(str(row), [])) for row in brought],
        bool(settings.NPM_REGISTRY),
        any(not row.digest and not row.problem for row in rows),
    )


def _read(rows: QuerySet[TeamPlugin]) -> list[TeamPlugin]:
    return list(rows.select_related("trusted_by").order_by("name", "added_at"))


def _row(row: TeamPlugin, now: TeamPlugin | None, uses: list[Uses]) -> TeamPluginRow:
    state, chip = _("Being fetched"), ""
    if row.problem:
        state, chip = _("Failed"), "chip-fail"
    elif row.trusted_at:
        state, chip = _("Trusted"), "chip-done"
    elif row.digest:
        state = _("Not trusted")
    return TeamPluginRow(
        pk=row.pk,
        name=str(row),
        digest=row.digest,
        state=state,
        chip=chip,
        problem=row.problem,
        hooks=[name for name in row.hooks if name not in REFUSED],
        unused=[f"{name}: {REFUSED[name]}" for name in row.hooks if name in REFUSED],
        differs=_differs(now, row) if now and now.pk != row.pk and row.digest else [],
        packages=sorted(row.packages, key=lambda one: str(one["path"])),
        uses=uses,
        is_trusted=row.trusted_at is not None,
        trusted_by=row.trusted_by.display_name if row.trusted_by else "",
        trusted_at=row.trusted_at,
    )


def _differs(old: TeamPlugin, new: TeamPlugin) -> list[str]:
    """Returns: what is other in a version, as sentences."""
    if old.team_id is None and new.team_id is not None:
        return [_("Not loaded: this server brings %(package)s to all teams.") % {"package": old}]
    said = [_("It replaces %(version)s.") % {"version": old.version}]
    more, less = set(new.hooks) - set(old.hooks), set(old.hooks) - set(new.hooks)
    if more:
        said.append(_("New hooks: %(names)s.") % {"names": ", ".join(sorted(more))})
    if less:
        said.append(_("Hooks no longer there: %(names)s.") % {"names": ", ".join(sorted(less))})
    was = {one["path"]: one["version"] for one in old.packages}
    now = {one["path"]: one["version"] for one in new.packages}
    changed = sorted(
        f"{_short(path)} {was.get(path, '')} → {now.get(path, '')}"
        for path in was.keys() | now.keys()
        if was.get(path) != now.get(path)
    )
    if changed:
        said.append(_("Packages: %(names)s.") % {"names": ", ".join(changed)})
    return said


def _short(path: str) -> str:
    return path.removeprefix("node_modules/")
