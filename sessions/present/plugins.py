"""What plugins do now: those of repositories, for the people of a project and for operators, and
those that operators have installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from opencode_web.lib.plugins.loading import PluginState, plugin_states
from sessions.models import TeamPlugin, ToolDescription
from sessions.processes import living_processes, process_name
from sessions.repository.brought import ROOT, Brought, BroughtKind
from sessions.repository.custom_tools import Described, to_described
from sessions.repository.plugins import Plugin, assumed, named_in

_MOST_SHOWN = 100
_WORST = (
    *(PluginState.FAILED, PluginState.RESTING),
    *(PluginState.LOADED, PluginState.NOT_ALLOWED),
)
_MOST_REASONS = 20


@dataclass(frozen=True)
class PluginRow:
    """`chip` is the class of its `state`, `why` says why it does nothing, `unused` what of it is
    not used. `sets` has the names of its agents and commands."""

    path: str
    state: str
    chip: str
    why: str
    hooks: list[str]
    tools: list[str]
    unused: list[str]
    sets: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class OpsPlugin:
    """A plugin, and where it is."""

    team: str
    project: str
    plugin: PluginRow


@dataclass(frozen=True)
class InstalledPlugin:
    """A package beside the server. `version` lists those that processes run; `why` says why it does
    nothing, what went wrong last, and which processes have to be restarted."""

    name: str
    version: str
    state: str
    chip: str
    why: str
    hooks: str


def plugin_rows(brought: Brought, found: Described | None) -> list[PluginRow]:
    """Returns: the plugins of a project. `found`: None while they have not been loaded."""
    found = found or Described()
    known = {plugin.path: plugin for plugin in found.plugins}
    rows = [
        _row(known[one.path], found)
        if one.path in known
        else PluginRow(one.path, _("Loads in the next turn"), "", "", [*one.hooks], [], [])
        for one in assumed(brought)
    ]
    if not brought.is_trusted:
        rows += [
            PluginRow(file.path, _("Not trusted"), "", "", named_in(file.text), [], [])
            for file in brought.of(BroughtKind.PLUGIN)
        ]
    return rows


def known_plugins() -> list[OpsPlugin]:
    """Returns: the plugins of all projects that were loaded, with those that do nothing first, for
    operators. Two queries."""
    trusted = TeamPlugin.objects.filter(team__isnull=False, trusted_at__isnull=False)
    own = {(one.team_id, str(one)) for one in trusted.defer("packages")}
    rows = ToolDescription.objects.exclude(plugins=[]).select_related("project__team")
    found = [
        OpsPlugin(
            row.project.team.name,
            row.project.name,
            plugin
            if plugin.path.startswith(ROOT) or (row.project.team_id, plugin.path) in own
            else _untold(plugin),
        )
        for row in rows.order_by("-described_at")[:_MOST_SHOWN]
        for plugin in rows_of(row)
    ]
    return sorted(found, key=lambda one: not one.plugin.why)[:_MOST_SHOWN]


def _untold(plugin: PluginRow) -> PluginRow:
    """Without what a plugin says itself, where its team has not chosen its code: it could so show
    operators the files of the team."""
    why = plugin.why and _("Members of the team see why on its page Plugins.")
    return replace(plugin, why=why, tools=[], unused=[], sets=[])


def rows_of(description: ToolDescription) -> list[PluginRow]:
    """Returns: the plugins of a project as they were when they were loaded."""
    found = to_described(description)
    return [_row(plugin, found) for plugin in found.plugins]


def _row(plugin: Plugin, found: Described) -> PluginRow:
    state, chip, why = _("Loaded"), "chip-done", ""
    if plugin.is_off:
        state, chip = _("Switched off"), "chip-fail"
        why = _("It took too long three times. Fix it, or reload the plugins to try again.")
    elif plugin.failed:
        state, chip, why = _("Failed"), "chip-fail", plugin.failed
    return PluginRow(
        plugin.path,
        state,
        chip,
        why,
        sorted(plugin.hooks),
        [tool.name for tool in found.tools if tool.path == plugin.path],
        _unused(plugin.path, found),
        [
            f"/{file.name}" if file.kind is BroughtKind.COMMAND else file.name
            for file in found.files
            if file.path == plugin.path
        ],
    )


def _unused(path: str, found: Described) -> list[str]:
    return [one.reason for one in found.problems if one.path == path][:_MOST_REASONS]


def installed_rows() -> list[InstalledPlugin]:
    """Returns: what all processes tell of the packages beside them, the worst of each. One query.

    A process that has just begun has not told anything yet, and this one knows its own.
    """
    told = {
        **dict(living_processes().values_list("name", "plugins")),
        process_name(): plugin_states(),
    }
    found: dict[str, dict[str, dict[str, str]]] = {}
    for process, states in sorted(told.items()):
        for name, one in states.items():
            found.setdefault(name, {})[process] = one
    return [_installed(name, states) for name, states in sorted(found.items())]


def _rank(one: dict[str, str]) -> tuple[int, bool]:
    return _WORST.index(PluginState(one["state"])), not one["why"]


def _installed(name: str, by_process: dict[str, dict[str, str]]) -> InstalledPlugin:
    one = min(by_process.values(), key=_rank)
    state, chip = {
        PluginState.FAILED: (_("Failed"), "chip-fail"),
        PluginState.RESTING: (_("Switched off for ten minutes"), "chip-fail"),
        PluginState.NOT_ALLOWED: (_("Not allowed"), ""),
        PluginState.LOADED: (_("Loaded"), "chip-done"),
    }[PluginState(one["state"])]
    why = " ".join(filter(None, [one["why"], *_restarts(by_process)]))
    versions = sorted({one["version"] for one in by_process.values()})
    return InstalledPlugin(name, ", ".join(versions), state, chip, why, one["hooks"])


def _restarts(by_process: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yields: which processes run another version than the one that is installed beside them."""
    old: dict[str, list[str]] = {}
    for process, one in by_process.items():
        # A process of an earlier version of the server does not tell it.
        if (installed := one.get("installed", one["version"])) != one["version"]:
            old.setdefault(installed, []).append(process)
    for installed, processes in old.items():
        named = {"version": installed, "processes": ", ".join(processes)}
        if installed:
            yield _("Version %(version)s is installed. Restart %(processes)s to load it.") % named
        else:
            yield _("It is no longer installed. Restart %(processes)s to unload it.") % named
