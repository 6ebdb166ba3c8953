"""What stands in an archive of a team."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from opencode_web.backup.manifest import StoredFile
from opencode_web.lib.json import JsonObject
from sessions.models import Project
from teams.models import OwnAccounts, Role

# Rises when an older import could not read what is written.
FORMAT = 1
MANIFEST, TEAM, EVENTS = "manifest.json", "team.json", "events.jsonl"
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,40}$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TeamManifest(_Frozen):
    """The first file of an archive."""

    format: int
    kind: Literal["team"] = "team"
    id: str
    app_version: str
    taken_at: datetime
    files: list[StoredFile]
    encrypted: Literal[False] = False


class PersonShape(_Frozen):
    """Somebody who is or was in the team. `role` is empty for who is not any more."""

    id: int
    email: str = Field(max_length=254)
    name: str = Field(max_length=120)
    role: Role | None
    is_service: bool = False


class ProjectShape(_Frozen):
    """`archive`: the name of the tar of its folder, empty without one."""

    id: Id
    name: str = Field(min_length=1, max_length=120)
    source: Project.Source
    git_url: str = Field(max_length=1000)
    config: JsonObject
    icon: JsonObject
    created_at: datetime
    archive: str


class SkillShape(_Frozen):
    """A skill of the team."""

    name: str = Field(max_length=64)
    description: str = Field(max_length=1024)
    text: str = Field(max_length=200_000)


class RuleShape(_Frozen):
    """A saved permission, of a project, of one of its sessions, or of the team."""

    project: str = Field(max_length=40)
    session: str = Field(max_length=40)
    permission: str = Field(max_length=100)
    pattern: str = Field(max_length=10_000)


class TeamShape(_Frozen):
    """The team. `again`: what has to be set again, since no secret is in the archive."""

    name: str = Field(min_length=1, max_length=80)
    slug: str = Field(max_length=40)
    config: JsonObject
    own_accounts: OwnAccounts
    people: list[PersonShape]
    projects: list[ProjectShape]
    # Parents come before their sub-agents.
    sessions: list[Id]
    skills: list[SkillShape]
    rules: list[RuleShape]
    again: list[str]


class EventShape(_Frozen):
    """A line of the events: those of a session in order."""

    session: Id
    seq: int = Field(ge=1)
    type: str = Field(max_length=60)
    version: int = Field(ge=1)
    data: JsonObject
    time: datetime
