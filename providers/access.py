"""Fetch a team's provider for somebody who is a member of the team."""

from __future__ import annotations

from opencode_web.lib.errors import NotFound
from providers.models import ProviderConfig
from teams.access import TeamAccess, require_role
from teams.models import Role


def access_provider(
    access: TeamAccess, provider_id: str, *, need: Role = Role.ADMIN
) -> ProviderConfig:
    """Fetch one with its credential.

    Raises: NotFound when the team has none of this id; Forbidden when the role is below `need`.
    """
    require_role(access, need)
    row = (
        ProviderConfig.objects.select_related("team", "credential")
        .filter(team=access.team, provider_id=provider_id)
        .first()
    )
    if row is None:
        raise NotFound("Provider", provider_id)
    return row
