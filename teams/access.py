"""The only role logic: who may see a team, and who may do what in it.

Operators (`is_superuser`) are people like all others here: without a membership a team does not
exist for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.errors import Forbidden, NotFound
from teams.models import Membership, Role, Team, User

_MEMBERSHIP = CompiledQuery(
    lambda user_id, slug_or_id: Membership.objects.select_related("team").filter(
        Q(team__slug=slug_or_id) | Q(team_id=slug_or_id), user=user_id
    )[:1],
    int,
    str,
)

# What is published to the groups below.
ACCESS_CHANGED = "access"


@dataclass(frozen=True)
class TeamAccess:
    """A team, and what makes it visible to the person."""

    team: Team
    membership: Membership
    user: User

    @property
    def role(self) -> Role:
        return Role(self.membership.role)

    def can(self, need: Role) -> bool:
        return has_role(self.role, need)


def access_group(team_id: str) -> str:
    """The bus group that hears of changed roles in a team, so that open sockets look again."""
    return f"access.{team_id}"


def user_group(user_id: int) -> str:
    """The bus group that hears when a browser of the person is signed out."""
    return f"user.{user_id}"


def has_role(role: Role | str, need: Role) -> bool:
    """Whether `role` is at least `need`."""
    return Role(role).rank >= need.rank


def require_role(access: TeamAccess, need: Role) -> None:
    """Raises: Forbidden when the person's role is below `need`."""
    if not access.can(need):
        raise Forbidden(
            _("This needs the role %(needed)s in %(team)s; yours is %(role)s.")
            % {"needed": need.noun, "team": access.team.name, "role": access.role.noun}
        )


def access_team(
    user: User | AnonymousUser, slug_or_id: str, *, need: Role = Role.VIEWER
) -> TeamAccess:
    """Fetch a team for a person.

    Raises: NotFound when there is none or the person is no active member of it; Forbidden when the
    role is below `need`.
    """
    if not isinstance(user, User) or not user.is_active:
        raise NotFound("Team", slug_or_id)
    membership = _MEMBERSHIP.first(user.pk, slug_or_id)
    if membership is None:
        raise NotFound("Team", slug_or_id)
    access = TeamAccess(membership.team, membership, user)
    require_role(access, need)
    return access


def teams_of(user: User | AnonymousUser) -> QuerySet[Team]:
    """Returns: the teams the person belongs to, by name."""
    if not isinstance(user, User) or not user.is_active:
        return Team.objects.none()
    return Team.objects.filter(memberships__user=user).order_by("name", "id")
