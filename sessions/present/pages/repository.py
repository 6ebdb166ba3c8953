"""What a repository brings for agents, as its page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from sessions.agents.brought import AgentFile, read_agents
from sessions.agents.loader import load_agents
from sessions.commands.catalog import command_problems
from sessions.config.effective import config_data, project_config
from sessions.config.model import Config
from sessions.models import Project, RepositoryTrust
from sessions.present.plugins import PluginRow, plugin_rows
from sessions.repository.brought import BroughtFile, BroughtKind
from sessions.repository.custom_tools import Described, described
from sessions.repository.globs import forget_found
from sessions.repository.problems import Problem
from sessions.repository.settings import Ignored, read_repository_settings, sift
from sessions.repository.wanted_packages import unmet
from sessions.skills import project_skills
from tools.permissions.rules import Action

_KINDS = {
    BroughtKind.AGENT: gettext_noop("Agent"),
    BroughtKind.MODE: gettext_noop("Agent"),
    BroughtKind.COMMAND: gettext_noop("Command"),
    BroughtKind.TOOL: gettext_noop("Tool"),
    BroughtKind.PART_OF_TOOLS: gettext_noop("Beside tools"),
    BroughtKind.PLUGIN: gettext_noop("Plugin"),
    BroughtKind.PART_OF_PLUGINS: gettext_noop("Beside plugins"),
    BroughtKind.SETTINGS: gettext_noop("Settings"),
    BroughtKind.TAKEN_IN: gettext_noop("Part of settings"),
}


@dataclass(frozen=True)
class FileRow:
    """`would` is what it may do once it is trusted; `state` how it differs from what was."""

    path: str
    kind: str
    # Its name says more than its kind.
    is_named: bool
    name: str
    would: list[str]
    state: str


@dataclass(frozen=True)
class RepositoryPage:
    """`trust` is empty, `current` or `outdated`."""

    files: list[FileRow]
    gone: list[str]
    plugins: list[PluginRow]
    skills: list[tuple[str, str]]
    problems: list[Problem]
    digest: str
    trust: str
    trusted_by: str
    trusted_at: datetime | None


def build_repository_page(project: Project) -> RepositoryPage:
    """Look at the files of a project's folder as they are now."""
    forget_found()
    config = project_config(project)
    brought = config.brought
    found_tools = described(project, brought)
    tools = found_tools or Described()
    agents, skills = read_agents(brought), project_skills(project)
    row = RepositoryTrust.objects.select_related("trusted_by").filter(project=project).first()
    trusted: dict[str, str] = dict(row.files) if row else {}
    found = {agent.path: agent for agent in agents.agents.values()}
    settings = read_repository_settings(brought)
    waiting = sift(settings, config_data(project), is_trusted=False).ignored
    files = [
        FileRow(
            path=file.path,
            kind=_(_KINDS[file.kind]),
            is_named=file.kind
            in (
                BroughtKind.AGENT,
                BroughtKind.MODE,
                BroughtKind.COMMAND,
                BroughtKind.TOOL,
                BroughtKind.PLUGIN,
            ),
            name=file.name,
            would=list(_would(file, found.get(file.path), config, waiting)),
            state=_state(trusted.get(file.path), file.digest) if row else "",
        )
        for file in brought.files
    ]
    there = {file.path for file in brought.files}
    plugins = plugin_rows(brought, found_tools)
    plugin_paths = {plugin.path for plugin in plugins}
    return RepositoryPage(
        files=files,
        gone=sorted(path for path in trusted if path not in there),
        plugins=plugins,
        skills=[
            (
                skill.name,
                skill.folder.relative_to(project.directory).as_posix()
                if skill.folder
                else skill.address,
            )
            for skill in skills.skills.values()
            if skill.folder or skill.address
        ],
        problems=[
            *brought.problems,
            *settings.problems,
            *_ignored(config),
            *unmet(brought),
            *agents.problems,
            *command_problems(config),
            *(one for one in tools.problems if one.path not in plugin_paths),
            *skills.problems,
        ],
        digest=brought.digest,
        trust="" if row is None else "current" if brought.is_trusted else "outdated",
        trusted_by=row.trusted_by.display_name if row and row.trusted_by else "",
        trusted_at=row.trusted_at if row else None,
    )


def _ignored(config: Config) -> Iterator[Problem]:
    for one in config.ignored:
        if not one.waits:
            yield Problem(
                one.path,
                _("%(key)s is ignored. %(reason)s") % {"key": one.key, "reason": one.reason},
            )


def _would(
    file: BroughtFile, agent: AgentFile | None, config: Config, waiting: Iterable[Ignored]
) -> Iterator[str]:
    match file.kind:
        case BroughtKind.SETTINGS:
            yield from _would_set(file, config, waiting)
        case BroughtKind.TOOL:
            yield _(
                "be offered to agents and run in the sandbox, with permission requests under its "
                "own name"
            )
        case BroughtKind.PLUGIN:
            yield _(
                "run in the sandbox during turns, and write and act in a session in the name of "
                "who has prompted"
            )
        case BroughtKind.COMMAND:
            yield _("run its shell parts in the sandbox, under the rules for bash")
        case BroughtKind.AGENT | BroughtKind.MODE if agent is not None:
            known = load_agents(config).get(agent.name)
            if known is not None and known.native:
                yield _("change the built-in agent %(names)s") % {"names": agent.name}
            # What it denies holds without trust.
            for rule in agent.rules:
                if rule.action is Action.DENY:
                    continue
                yield f"{rule.action.value} {rule.permission}: {rule.pattern}"
            if agent.config.model:
                yield _("use the model %(model)s") % {"model": agent.config.model}
        case _:
            return


def _would_set(file: BroughtFile, config: Config, waiting: Iterable[Ignored]) -> Iterator[str]:
    keys = [one.key for one in waiting if one.path == file.path and one.waits]
    if keys:
        yield _("set %(keys)s") % {"keys": ", ".join(keys)}
    paths = read_repository_settings(config.brought).paths
    if paths.get("agent") == file.path:
        agents = load_agents(config).values()
        changed = [one.name for one in agents if one.native and one.path == file.path]
        if changed:
            yield ngettext(
                "change the built-in agent %(names)s",
                "change the built-in agents %(names)s",
                len(changed),
            ) % {"names": ", ".join(changed)}
    if paths.get("command") == file.path:
        yield _("run the shell parts of its commands in the sandbox, under the rules for bash")


def _state(was: str | None, now: str) -> str:
    if was is None:
        return "new"
    return "" if was == now else "changed"
