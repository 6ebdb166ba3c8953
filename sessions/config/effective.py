"""The settings in force: of this server, over them of the team, the project and its repository.

All are optional, in the shape of `opencode.json`. What is stored was checked when it was saved, and
the server's when it started; a repository's count as far as `sessions.repository.settings` says.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from opencode_web.lib.config_references import TEXTS, fill_files
from opencode_web.lib.instance_config import instance_config
from opencode_web.lib.json import JsonObject
from providers.model_names import ModelNames
from sessions.config.known_keys import UNKNOWN, join_keys, split_unknown
from sessions.config.model import Config, Limits, merge
from sessions.config.reference_hints import ignored_references
from sessions.models import Project, Session
from sessions.repository.brought import Brought, BroughtKind
from sessions.repository.references import read_referenced
from sessions.repository.settings import Ignored, Sifted, read_repository_settings, sift
from sessions.repository.trust import brought_by, files_of
from sessions.secrets import project_redactor
from teams.models import Team

logger = logging.getLogger(__name__)

_Number = TypeVar("_Number", int, Decimal)


def team_data(team: Team) -> JsonObject:
    """Returns: the server's settings with the team's over them, as they were written."""
    return merge(instance_config(), team.config)


def config_data(project: Project) -> JsonObject:
    """Returns: what people have set, down to the project, as it was written.

    Models, their addresses and keys are looked up with these: no repository has a say in that.
    """
    return merge(team_data(project.team), project.config)


def model_names(project: Project) -> ModelNames:
    """Returns: what the models are called that are used in a project."""
    return ModelNames(project.team, partial(config_data, project))


def effective_data(project: Project, directory: str = "") -> JsonObject:
    """Returns: everything in force, with the repository's as it is in `directory`."""
    data = config_data(project)
    return merge(data, _sifted(brought_by(project, directory), data).data)


def project_config(project: Project, directory: str = "") -> Config:
    """The settings in force in a project, and what its repository brings besides.

    They are those in `directory`, by default the project's own.
    """
    brought = brought_by(project, directory)
    data, missing = _with_files(config_data(project), project, directory)
    sifted = _sifted(brought, data)
    _tell(project.pk, sifted.ignored)
    config = _parse_stored(merge(data, sifted.data), project)
    return config.with_repository(brought, (*sifted.ignored, *missing))


def session_config(session: Session) -> Config:
    """Like `project_config`, with what the worktree brings that the session works in.

    One that only reads has no MCP servers and no other repositories to read.
    """
    config = project_config(session.project, files_of(session))
    if session.is_read_only:
        return config.model_copy(update={"mcp": {}, "references": {}, "reference": {}})
    return config


def project_limits(project: Project) -> Limits:
    """The limits in force in a project. Except for the timeout, the lowest counts."""
    levels = [
        Limits.model_validate(config.get("limits") or {})
        for config in (project.config, project.team.config, instance_config())
    ]
    timeouts = (one.permission_timeout_s for one in levels if one.permission_timeout_s)
    return Limits(
        session_cost=_lowest(one.session_cost for one in levels),
        turn_cost=_lowest(one.turn_cost for one in levels),
        turn_steps=_lowest(one.turn_steps for one in levels),
        equal_calls=_lowest(one.equal_calls for one in levels),
        retry_wait_s=_lowest(one.retry_wait_s for one in levels),
        permission_timeout_s=next(timeouts, None),
        command_memory_mb=_lowest(one.command_memory_mb for one in levels),
        command_processes=_lowest(one.command_processes for one in levels),
        terminals=_lowest(one.terminals for one in levels),
    )


def _with_files(
    data: JsonObject, project: Project, directory: str
) -> tuple[JsonObject, tuple[Ignored, ...]]:
    """Take in the files that people's settings name, as they are in a folder of the project.

    Returns: the settings, and the files that there are not or that may not be taken in.
    """
    missing: list[Ignored] = []
    if project.status != Project.Status.READY or not project.directory:
        return data, ()

    def read(path: str) -> str | None:
        found = read_referenced(Path(directory or project.directory), "", path)
        if found.reason:
            missing.append(Ignored(f"{{file:{path[:100]}}}", found.path[:100], found.reason))
            return None
        return project_redactor(project.pk).text(found.text)

    return fill_files(data, TEXTS, read), tuple(dict.fromkeys(missing))


def _lowest(values: Iterable[_Number | None]) -> _Number | None:
    return min((value for value in values if value is not None), default=None)


def _sifted(brought: Brought, below: JsonObject) -> Sifted:
    if not brought.of(BroughtKind.SETTINGS):
        return Sifted({})
    found = read_repository_settings(brought)
    data, unknown = split_unknown(found.data)
    found = replace(found, data=data)
    sifted = sift(found, below, is_trusted=brought.is_trusted)
    broken = {key: reason for key, value in sifted.data.items() if (reason := _wrong(key, value))}
    said = [Ignored(key, found.paths[key], reason) for key, reason in broken.items()]
    for path in dict.fromkeys(found.paths[key] for key, *_rest in unknown):
        keys = join_keys(one for one in unknown if found.paths[one[0]] == path)
        said.append(Ignored(keys, path, UNKNOWN))
    said += ignored_references(found)
    kept = {key: value for key, value in sifted.data.items() if key not in broken}
    return Sifted(kept, (*sifted.ignored, *said))


def _wrong(key: str, value: object) -> str:
    """Returns: what is wrong with one setting, as a sentence; nothing when it can be used."""
    try:
        Config.model_validate({key: value})
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or key
        return f"{where}: {first['msg']}."
    return ""


@lru_cache(maxsize=1024)
def _tell(project_id: str, ignored: tuple[Ignored, ...]) -> None:
    """Log it, once in a process for as long as it stays the same."""
    if ignored:
        keys = ", ".join(sorted({one.key for one in ignored}))
        logger.warning("settings of the repository of project %s are ignored: %s", project_id, keys)


def _parse_stored(data: JsonObject, project: Project) -> Config:
    """Read settings as they stand; keys that cannot be read (any more) are left out and logged."""
    try:
        return Config.model_validate(data)
    except ValidationError as exc:
        wrong = {str(error["loc"][0]) for error in exc.errors() if error["loc"]}
        logger.error("settings of project %s cannot be read: %s", project.pk, sorted(wrong))
        return Config.model_validate({key: data[key] for key in data if key not in wrong})
