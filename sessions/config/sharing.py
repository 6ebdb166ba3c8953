"""Which links to sessions there may be, as settings say it. What is in force: `share_policy`."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from django.conf import settings
from pydantic import BaseModel, ConfigDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.models import Share

KEY = "sharing"
MODE = "share"
Mode = Literal["manual", "auto", "disabled"]


class Links(StrEnum):
    """Which links there may be."""

    NONE = "none"
    TEAM = "team"
    PUBLIC = "public"

    def allows(self, scope: str) -> bool:
        """Whether a link of this scope may be made, and be opened."""
        return self is Links.PUBLIC or (self is Links.TEAM and scope == Share.Scope.TEAM)


class SharingConfig(BaseModel):
    """Links to sessions, under `sharing` of the server's or a team's settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    links: Links = Links.TEAM
    """none, team (whoever opens one has to be a member) or public (for anybody who has it)."""


def check_sharing(before: JsonObject, after: JsonObject, *, of_team: bool) -> None:
    """Refuse what would not count.

    Raises: Invalid for more than the server allows, and for a project, which has its team's.
    """
    wanted = after.get(KEY)
    if wanted == before.get(KEY) or wanted is None:
        return
    if not of_team:
        raise Invalid(
            f"{KEY} can only be set for the team. A project can only set {MODE}.", field=KEY
        )
    if SharingConfig.model_validate(wanted).links is Links.PUBLIC and not settings.PUBLIC_SHARES:
        raise Invalid(
            f"{KEY}: this server does not allow public links. Use team or less.", field=KEY
        )
