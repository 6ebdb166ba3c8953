"""Fetch an account at a provider for somebody who may change it."""

from __future__ import annotations

from django.db.models import QuerySet

from opencode_web.lib.errors import Forbidden, NotFound
from providers.models import ProviderConfig, SignInAttempt
from teams.access import TeamAccess, access_team, is_operator, require_role
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


def access_attempt(user: User, attempt_id: str) -> SignInAttempt:
    """Fetch a sign-in that the person has begun, and may still end. Raises: NotFound."""
    found = _attempts(user).filter(pk=attempt_id).first()
    if found is None or not _may_end(user, found):
        raise NotFound("Sign-in", attempt_id)
    return found


def newest_attempt(user: User, provider_id: str) -> SignInAttempt | None:
    """Returns: the last sign-in at a provider that the person has begun, and may still end."""
    found = _attempts(user).filter(provider_id=provider_id).order_by("-created_at").first()
    return found if found is not None and _may_end(user, found) else None


def attempts_led_back(user: User, redirect_uri: str) -> list[SignInAttempt]:
    """Returns: what a browser that a provider leads back here may be about, newest first."""
    rows = _attempts(user).filter(status=SignInAttempt.Status.PENDING, redirect_uri=redirect_uri)
    return [one for one in rows.order_by("-created_at") if _may_end(user, one)]


def _attempts(user: User) -> QuerySet[SignInAttempt]:
    rows = SignInAttempt.objects.filter(started_by=user)
    return rows.select_related("team", "owner", "started_by")


def _may_end(user: User, attempt: SignInAttempt) -> bool:
    """Whether the person may still set up accounts of who it is for."""
    if attempt.owner_id is not None:
        return attempt.owner_id == user.pk
    if attempt.team is None:
        return is_operator(user)
    try:
        access_team(user, attempt.team.pk, need=Role.ADMIN)
    except (Forbidden, NotFound):
        return False
    return True


def _one(rows: QuerySet[ProviderConfig], provider_id: str) -> ProviderConfig:
    rows = rows.select_related("team", "owner").prefetch_related("credentials")
    row = rows.filter(provider_id=provider_id).first()
    if row is None:
        raise NotFound("Provider", provider_id)
    return row
