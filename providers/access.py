"""Fetch an account at a provider for somebody who may change it."""

from __future__ import annotations

from django.db.models import QuerySet

from opencode_web.lib.errors import NotFound
from providers.models import ProviderConfig
from teams.access import TeamAccess, is_operator, require_role
from teams.models import Role, User


def access_provider(
    access: TeamAccess, provider_id: str, *, need: Role = Role.ADMIN
) -> ProviderConfig:
    """Fetch one of a team with its credentials.

    Raises: NotFound when the team has none of this id; Forbidden when the role is below `need`.
    """
    require_role(access, need)
    return _one(ProviderConfig.objects.filter(team=access.team), provider_id)


def access_own_provider(user: User, provider_id: str) -> ProviderConfig:
    """Fetch one of a person's own. Raises: NotFound."""
    return _one(ProviderConfig.objects.filter(owner=user), provider_id)


def access_instance_provider(user: User, provider_id: str) -> ProviderConfig:
    """Fetch one of the instance, for an operator. Raises: NotFound, also for anybody else."""
    if not is_operator(user):
        raise NotFound("Provider", provider_id)
    return _one(ProviderConfig.objects.filter(team=None, owner=None), provider_id)


def _one(rows: QuerySet[ProviderConfig], provider_id: str) -> ProviderConfig:
    rows = rows.select_related("team", "owner").prefetch_related("credentials")
    row = rows.filter(provider_id=provider_id).first()
    if row is None:
        raise NotFound("Provider", provider_id)
    return row
