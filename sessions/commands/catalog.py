from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NotRequired

from pydantic import ValidationError
from typing_extensions import TypedDict

from opencode_web.lib.shapes import drop_none
from sessions.agents.loader import BroughtFrom, brought_from
from sessions.commands.template import placeholders
from sessions.config.model import CommandConfig, Config
from sessions.mcp.servers import McpPrompt
from sessions.repository.brought import Brought, BroughtFile, BroughtKind
from sessions.repository.front_matter import BrokenHead, split_front_matter
from sessions.repository.problems import Problem
from sessions.repository.settings import RepositorySettings, read_repository_settings
from sessions.repository.skills import Skill
from tools.builtin.skill import base_lines

_BUILT_IN = ("init", "review")
_MAX_NAME_CHARS = 100
_WRONG_NAME = "is no name of a command: one word of 100 characters."


@dataclass(frozen=True)
class Command:
    """A prompt with a name. `path` is the file of the repository that it is from.

    `runs_shell`: what stands in its template as a shell part may be run; else it is not.
    """

    name: str
    config: CommandConfig
    source: Literal["command", "skill", "mcp"] = "command"
    path: str = ""
    runs_shell: bool = True
    by_plugin: bool = False
    # Of an MCP server's prompt: what is filled in, and how the server calls it.
    arguments: tuple[str, ...] = ()
    argument_names: tuple[str, ...] = ()

    @property
    def hints(self) -> list[str]:
        """What is filled in of what people type after the name."""
        return [*self.arguments] or placeholders(self.config.template)


def load_commands(
    config: Config, skills: Iterable[Skill] = (), prompts: Iterable[McpPrompt] = ()
) -> dict[str, Command]:
    """Returns: every command of a project by name: the settings' before the repository's, those
    before the built-in ones, skills and prompts of MCP servers where no command has the name.

    A repository replaces a built-in command only where it is trusted.
    """
    commands = dict(_built_in())
    for command in _brought(config):
        if command.runs_shell or command.name not in commands:
            commands[command.name] = command
    commands |= {name: Command(name, own) for name, own in config.command.items()}
    for skill in skills:
        commands.setdefault(skill.name, _of_skill(skill))
    for prompt in prompts:
        commands.setdefault(prompt.name, _of_prompt(prompt))
    return dict(sorted(commands.items()))


def command_problems(config: Config) -> list[Problem]:
    """Returns: files of commands that are not used, and why."""
    found = _found(config.brought)
    problems = [one for one in found if isinstance(one, Problem)]
    taken = _built_in()
    problems += [
        Problem(
            command.path,
            f"The built-in command {command.name} is replaced "
            + ("by no plugin." if command.by_plugin else "only with trust."),
        )
        for command in _brought(config)
        if command.name in taken and not command.runs_shell
    ]
    return problems


@cache
def _built_in() -> Mapping[str, Command]:
    commands = {}
    for name in _BUILT_IN:
        text = (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
        commands[name] = Command(name, _parse(text))
    return commands


def _parse(text: str) -> CommandConfig:
    head, body = split_front_matter(text)
    return CommandConfig.model_validate({**head, "template": body})


def _brought(config: Config) -> list[Command]:
    found = _found(config.brought)
    trusted = config.brought.is_trusted
    return [
        replace(one, runs_shell=trusted and not one.by_plugin)
        for one in found
        if isinstance(one, Command)
    ]


def _found(brought: Brought) -> list[Command | Problem]:
    """Those that plugins have set, then those of the settings, then those with a file of their own:
    of two with the same name the later counts."""
    settings = read_repository_settings(brought)
    files = (_read(file) for file in brought.of(BroughtKind.COMMAND))
    by_plugins = map(_read, brought.set_by_plugins(BroughtKind.COMMAND))
    return [*by_plugins, *_of_settings(settings), *files]


def _of_settings(found: RepositorySettings) -> Iterator[Command | Problem]:
    commands, path = found.data.get("command"), found.paths.get("command", "")
    for name, own in commands.items() if isinstance(commands, dict) else ():
        if _is_no_name(name):
            yield Problem(path, f"command.{name[:60]} {_WRONG_NAME}")
            continue
        try:
            yield Command(name, CommandConfig.model_validate(own), path=path)
        except ValidationError as exc:
            first = exc.errors()[0]
            where = ".".join(str(key) for key in ("command", name, *first["loc"]))
            yield Problem(path, f"{where}: {first['msg']}.")


def _is_no_name(name: str) -> bool:
    return not name or len(name) > _MAX_NAME_CHARS or any(char.isspace() for char in name)


@lru_cache(maxsize=256)
def _read(file: BroughtFile) -> Command | Problem:
    if _is_no_name(file.name):
        return Problem(file.path, f"Its name {_WRONG_NAME}")
    try:
        return Command(file.name, _parse(file.text), path=file.path, by_plugin=file.by_plugin)
    except BrokenHead as exc:
        return Problem(file.path, f"Its head is broken: {exc}.")
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(key) for key in first["loc"]) or "head"
        return Problem(file.path, f"{where}: {first['msg']}.")


def _of_skill(skill: Skill) -> Command:
    # A text, and no template: whatever looks like a shell part in it is not run.
    template = "\n".join([skill.text, *base_lines(skill.folder)]) if skill.folder else skill.text
    config = CommandConfig(template=template, description=skill.description or None)
    return Command(skill.name, config, "skill", runs_shell=False)


def _of_prompt(prompt: McpPrompt) -> Command:
    # What a server says is no more trusted than a skill: nothing in it is run.
    config = CommandConfig(template=prompt.template, description=prompt.description or None)
    return Command(
        prompt.name,
        config,
        "mcp",
        runs_shell=False,
        arguments=tuple(prompt.hints),
        argument_names=tuple(prompt.arguments),
    )


class CommandWire(TypedDict):
    """A slash command as the HTTP API has it."""

    name: str
    description: NotRequired[str | None]
    agent: NotRequired[str | None]
    model: NotRequired[str | None]
    source: Literal["command", "mcp", "skill"]
    template: str
    subtask: NotRequired[bool | None]
    hints: list[str]
    repository: NotRequired[BroughtFrom | None]


def command_to_wire(command: Command) -> CommandWire:
    """Returns: `Command` of the HTTP API."""
    config = command.config
    wire: CommandWire = {
        "name": command.name,
        "source": command.source,
        "template": config.template,
        "hints": [*command.hints],
        "description": config.description,
        "agent": config.agent,
        "model": config.model,
        "subtask": config.subtask,
        "repository": brought_from(
            command.path, () if command.runs_shell or command.by_plugin else ("shell",)
        ),
    }
    return drop_none(wire)
