"""What stands in an archive of a team."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from opencode_web.backup.manifest import StoredFile
from opencode_web.lib.json import JsonObject
from sessions.models import ChangeKind, Project
from teams.models import OwnAccounts, Period, Role

# Rises when an older import could not read what is written.
FORMAT = 5
MANIFEST, TEAM, EVENTS = "manifest.json", "team.json", "events.jsonl"
OUTPUTS = "outputs.tar"
# What no archive has, as its manifest says.
LEFT_OUT = (
    "keys, secrets and sign-ins",
    "signing secrets of webhooks",
    "pending requests for approval",
    "share links",
    "trust in repositories",
    "files of projects and large tool outputs on other hosts",
    "worktrees and snapshots of sessions: merge first, and nothing can be rolled back to before",
)
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
    # In words; empty in archives of before.
    left_out: list[str] = []


class PersonShape(_Frozen):
    """Somebody who is or was in the team. `role` is empty for who is not any more."""

    id: int
    email: str = Field(max_length=254)
    name: str = Field(max_length=120)
    role: Role | None
    is_service: bool = False
    is_approver: bool = False


class GroupShape(_Frozen):
    """A group of the team. `people`: the numbers of those in it."""

    name: str = Field(min_length=1, max_length=80)
    is_approver: bool
    people: list[int]


class MemberShape(_Frozen):
    """A role in a project: of a person, by their number, or of a group, by its name."""

    person: int | None
    group: str = Field(max_length=80)
    role: Literal[Role.VIEWER, Role.MEMBER]


class ProjectShape(_Frozen):
    """`archive`: the name of the tar of its folder, empty without one."""

    id: Id
    name: str = Field(min_length=1, max_length=120)
    source: Project.Source
    git_url: str = Field(max_length=1000)
    config: JsonObject
    icon: JsonObject
    created_at: datetime
    is_restricted: bool = False
    members: list[MemberShape] = []
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


class ScheduleShape(_Frozen):
    """A prompt at times. `author`: the name of who wrote it."""

    project: str = Field(max_length=40)
    name: str = Field(max_length=120)
    prompt: str
    cron: str = Field(max_length=120)
    timezone: str = Field(max_length=64)
    agent: str = Field(max_length=60)
    model: str = Field(max_length=200)
    author: str = Field(max_length=120)
    created_at: datetime


class WebhookShape(_Frozen):
    """An address that hears of events of one project, or of all of them."""

    url: str = Field(max_length=2000)
    events: list[str] = Field(max_length=20)
    project: str = Field(max_length=40)


class BudgetShape(_Frozen):
    """What may be spent in a period, of one person by their number in the archive. Units: USD."""

    scope: Literal["team", "project", "each", "service", "member", "model"]
    person: int | None
    project: str = Field(max_length=40)
    model: str = Field(default="", max_length=200)
    period: Period
    is_soft: bool
    amount: Decimal = Field(ge=0, max_digits=12, decimal_places=2)
    warn_percent: int = Field(ge=1, le=100)


class RetentionShape(_Frozen):
    """What a team has chosen. Units: days; None for as long as nobody deletes it."""

    sessions: int | None
    outputs: int | None
    audit: int | None


class ArrangementsShape(_Frozen):
    """What the team has set up beside its settings."""

    schedules: list[ScheduleShape] = []
    webhooks: list[WebhookShape] = []
    budgets: list[BudgetShape] = []
    allows_unpriced_models: bool = False
    needs_approval: list[ChangeKind] = []
    requires_mfa: bool = False
    requires_sso: bool = False
    sso_provider: str = Field("", max_length=40)
    # None where the team has chosen nothing.
    retention: RetentionShape | None = None


class TeamShape(_Frozen):
    """The team. `again`: what has to be set again, since no secret is in the archive."""

    name: str = Field(min_length=1, max_length=80)
    slug: str = Field(max_length=40)
    config: JsonObject
    own_accounts: OwnAccounts
    people: list[PersonShape]
    groups: list[GroupShape] = []
    projects: list[ProjectShape]
    # Parents come before their sub-agents.
    sessions: list[Id]
    # Who has given a session words of which no message says so.
    writers: dict[Id, list[int]] = {}
    # Where large tool outputs were kept; empty in archives that have none.
    outputs: str = Field("", max_length=4096, pattern=r"^(/.*/tool-output)?$")
    skills: list[SkillShape]
    rules: list[RuleShape]
    arrangements: ArrangementsShape = ArrangementsShape()
    again: list[str]


class EventShape(_Frozen):
    """A line of the events: those of a session in order."""

    session: Id
    seq: int = Field(ge=1)
    type: str = Field(max_length=60)
    version: int = Field(ge=1)
    data: JsonObject
    time: datetime
