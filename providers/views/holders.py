"""Whose accounts a page is about: a team's, a person's own, or the instance's.

The same views and templates serve all three. A holder says what it may do, and where its pages are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from providers.access import access_instance_provider, access_own_provider, access_provider
from providers.models import ProviderConfig
from teams.access import TeamAccess, access_operator
from teams.http import TeamRequest, UserRequest, team_view, user_view
from teams.models import Role, Team, User

P = ParamSpec("P")
TEAM, OWN, INSTANCE = "team", "own", "instance"
NAMESPACES = {TEAM: "providers", OWN: "my_models", INSTANCE: "instance_models"}
_BASES = {TEAM: "base_settings.html", OWN: "teams/base_me.html", INSTANCE: "ops/base_ops.html"}


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds accounts, as the person who asks may see them. `access` is of a team."""

    kind: str
    user: User
    access: TeamAccess | None = None

    @property
    def team(self) -> Team | None:
        return self.access.team if self.access else None

    @property
    def owner(self) -> Team | User | None:
        """Whom actions name as the holder; None is the instance."""
        return self.user if self.is_own else self.team

    @property
    def is_own(self) -> bool:
        return self.kind == OWN

    @property
    def is_instance(self) -> bool:
        return self.kind == INSTANCE

    @property
    def may_change(self) -> bool:
        return self.access is None or self.access.can(Role.ADMIN)

    @property
    def base(self) -> str:
        """The template that its pages extend."""
        return _BASES[self.kind]

    @property
    def title(self) -> str:
        """What stands behind the name of a page in the title of the window."""
        return self.access.team.name if self.access else "OpenCode Web"

    def url(self, name: str, **kwargs: object) -> str:
        """Returns: the address of a page of these accounts."""
        place = {"team": self.access.team.slug} if self.access else {}
        return reverse(f"{NAMESPACES[self.kind]}:{name}", kwargs={**place, **kwargs})

    def rows(self) -> QuerySet[ProviderConfig]:
        """Returns: the accounts by name, with their credentials."""
        owner = self.user if self.is_own else None
        rows = ProviderConfig.objects.filter(team=self.team, owner=owner)
        return rows.select_related("team", "owner").prefetch_related("credentials__created_by")

    def account(self, provider_id: str) -> ProviderConfig:
        """Fetch one of the accounts to change it. Raises: NotFound; Forbidden."""
        if self.access is not None:
            return access_provider(self.access, provider_id)
        if self.is_own:
            return access_own_provider(self.user, provider_id)
        return access_instance_provider(self.user, provider_id)


class HolderRequest(UserRequest):
    """A request about the accounts of a holder."""

    holder: Holder


def holder_view(
    *, need: Role = Role.ADMIN
) -> Callable[
    [Callable[Concatenate[HolderRequest, P], HttpResponse]], Callable[..., HttpResponseBase]
]:
    """Resolve `of` of the URL to `request.holder`. `need` is the role in a team.

    Raises, when called: NotFound and Forbidden as `team_view`; NotFound for what is the instance's
    and somebody who is no operator.
    """

    def decorate(
        view: Callable[Concatenate[HolderRequest, P], HttpResponse],
    ) -> Callable[..., HttpResponseBase]:
        held: Callable[..., HttpResponse] = view

        @team_view(need=need)
        def of_team(request: TeamRequest, /, **kwargs: Any) -> HttpResponse:  # of the view
            return held(_with(request, Holder(TEAM, request.user, request.access)), **kwargs)

        @user_view
        def of_person(request: UserRequest, /, **kwargs: Any) -> HttpResponse:  # of the view
            return held(_with(request, Holder(OWN, request.user)), **kwargs)

        @user_view
        def of_instance(request: UserRequest, /, **kwargs: Any) -> HttpResponse:  # of the view
            return held(_with(request, Holder(INSTANCE, access_operator(request.user))), **kwargs)

        views = {TEAM: of_team, OWN: of_person, INSTANCE: of_instance}

        @wraps(view)
        def wrapped(request: HttpRequest, *, of: str, **kwargs: Any) -> HttpResponseBase:
            return views[of](request, **kwargs)

        return wrapped

    return decorate


def _with(request: UserRequest, holder: Holder) -> UserRequest:
    request.holder = holder  # type: ignore[attr-defined]  # the typed request is made here
    return request
