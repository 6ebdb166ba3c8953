"""What commands of a project reach: the least of what server, team and project allow.

Nothing in force can be wider than any of the three. What cannot be read allows nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext_noop
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from opencode_web.lib.json import JsonObject
from sessions.models import Project
from teams.models import Team
from tools.sandbox.hosts import HostList, HostRules, Reach, parse_patterns

logger = logging.getLogger(__name__)

KEY = "network"
_SHOWN_HOSTS = 40
# What commands reach, in words for people.
REACHES = {
    Reach.NONE: gettext_noop("no hosts"),
    Reach.ALLOW_LIST: gettext_noop("listed hosts only"),
    Reach.OPEN: gettext_noop("all hosts this server can reach"),
}


class NetworkConfig(BaseModel):
    """The network of commands, under `network`. A project's can only be less than its team's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    policy: Reach
    """none, allow-list (through a proxy, to `hosts` only) or open (that of the server)."""
    hosts: list[str] = []
    """`example.org`, `*.example.org` for names below it, `host:port`; else ports 80 and 443."""

    @field_validator("hosts")
    @classmethod
    def _as_patterns(cls, hosts: list[str]) -> list[str]:
        return [str(pattern) for pattern in parse_patterns(hosts)]


@dataclass(frozen=True)
class Network:
    """What is in force. `hosts` are there for an allow-list only."""

    reach: Reach
    hosts: HostRules | None = None

    @property
    def sentence(self) -> str:
        """Say it to a model."""
        if self.reach is Reach.OPEN:
            return "that of the server"
        if self.hosts is None:
            return "none"
        innermost = [str(pattern) for pattern in self.hosts.lists[-1].patterns]
        more = len(innermost) - _SHOWN_HOSTS
        named = ", ".join(innermost[:_SHOWN_HOSTS]) + (f" and {more} more" if more > 0 else "")
        return (
            "only by the proxy that HTTP_PROXY and HTTPS_PROXY name (no ssh, no DNS), and only to "
            f"{named or 'nothing yet'}"
        )


@dataclass(frozen=True)
class _Level:
    owner: str
    reach: Reach
    # None: it has no list of its own.
    hosts: Sequence[str] | None = None


def ceiling() -> Reach:
    """The most that the operator lets any team have."""
    return Reach(settings.SANDBOX_NETWORK)


def team_network(team: Team) -> Network:
    """What projects of a team may have at most."""
    return _least([_server(), _team(team)])


def project_network(project: Project) -> Network:
    """What is in force in a project."""
    return _least([_server(), _team(project.team), *_project(project)])


def read_network(config: JsonObject) -> NetworkConfig | None:
    """Read `network` of one level's settings. Returns: None where there is none.

    Raises: pydantic.ValidationError.
    """
    stored = config.get(KEY)
    return None if stored is None else NetworkConfig.model_validate(stored)


def _server() -> _Level:
    hosts = settings.SANDBOX_HOSTS
    return _Level("server", ceiling(), hosts or None)


def _team(team: Team) -> _Level:
    found = _stored("team", team.pk, team.config)
    return found or _Level("team", Reach.NONE)


def _project(project: Project) -> list[_Level]:
    found = _stored("project", project.pk, project.config)
    return [found] if found else []


def _stored(owner: str, pk: str, config: JsonObject) -> _Level | None:
    try:
        found = read_network(config)
    except ValidationError:
        logger.warning("the network settings of %s %s cannot be read: none is allowed", owner, pk)
        return _Level(owner, Reach.NONE)
    if found is None:
        return None
    return _Level(owner, found.policy, found.hosts if found.policy is Reach.ALLOW_LIST else None)


def _least(levels: Sequence[_Level]) -> Network:
    reach = min((level.reach for level in levels), key=lambda one: one.rank)
    if reach is not Reach.ALLOW_LIST:
        return Network(reach)
    lists = tuple(
        HostList(level.owner, parse_patterns(level.hosts))
        for level in levels
        if level.hosts is not None
    )
    if not lists:
        # The server caps an open network at a list, and nobody has written one.
        return Network(Reach.NONE)
    return Network(reach, HostRules(lists))
