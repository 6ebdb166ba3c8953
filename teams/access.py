"""The only role logic: who may see a team, and who may do what in it.

Operators (`is_superuser`) are people like all others here: without a membership a team does not
exist for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypedDict

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.errors import Forbidden, NotFound
from teams.models import Membership, Role, Team, TeamCreation, User
from teams.policy import known_team_creation, require_instance_policy, require_policy

_MEMBERSHIP = CompiledQuery(
    lambda user_id, slug_or_id: (
        Membership.objects.current()
        .select_related("team")
        .filter(Q(team__slug=slug_or_id) | Q(team_id=slug_or_id), user=user_id)[:1]
    ),
    int,
    str,
)

ACCESS_CHANGED: Final = "access"


class AccessChanged(TypedDict):
    """What is published to the groups of a team's access and of a user."""

    t: Literal["access"]


@dataclass(frozen=True)
class TeamAccess:
    """A team, and what makes it visible to the person."""

    team: Team
    membership: Membership
    user: User
    # In one project. Nothing but that project's work may be judged by it: see `in_team`.
    role_here: Role | None = None
    project_id: str = ""

    @property
    def role(self) -> Role:
        return self.role_here or Role(self.membership.role)

    @property
    def in_team(self) -> TeamAccess:
        """The same person's access to what is the whole team's."""
        return replace(self, role_here=None, project_id="")

    def can(self, need: Role | None) -> bool:
        return need is None or has_role(self.role, need)

    @property
    def sees_work(self) -> bool:
        """Whether sessions, projects and all that belongs to them are there for the person."""
        return self.can(Role.VIEWER)

    @property
    def sees_spending(self) -> bool:
        """Whether the person sees what others spend, and sets what they may."""
        return self.can(Role.BILLING)


def access_group(team_id: str) -> str:
    """The bus group that hears of changed roles in a team, so that open sockets look again."""
    return f"access.{team_id}"


def settings_group(team_id: str) -> str:
    """The bus group that hears of changed settings of a team and of its projects."""
    return f"settings.{team_id}"


def user_group(user_id: int) -> str:
    """The bus group that hears when a browser of the person is signed out."""
    return f"user.{user_id}"


def has_role(role: Role | str, need: Role) -> bool:
    """Whether `role` is `need` or includes it."""
    return need in Role(role).includes


def roles_with(need: Role) -> list[Role]:
    """Returns: the roles that are `need` or include it."""
    return [role for role in Role if need in role.includes]


def require_role(access: TeamAccess, need: Role | None) -> None:
    """`need` is None for what everybody in the team may do, whatever their role.

    Raises: Forbidden when the person's role does not include `need`; NotFound, in the same words
    for all there is and is not, when it does not even see the team's work.
    """
    if need is None or access.can(need):
        return
    if not access.sees_work:
        raise WorkUnseen(access)
    raise RoleMissing(access, need)


def require_lasting(access: TeamAccess) -> None:
    """Raises: Forbidden for an operator in an emergency: what they set would outlast it."""
    if access.membership.expires_at is not None:
        raise Forbidden(
            _("Emergency access cannot set what would outlast it. Ask an admin of the team.")
        )


def refuse_outlasting(user: User, team: Team) -> None:
    """As `require_lasting`, by the person. No query for a team that has no emergency."""
    if team.emergency_until is None:
        return
    for row in Membership.objects.filter(team=team, user=user, expires_at__isnull=False):
        require_lasting(TeamAccess(team, row, user))


class RoleMissing(Forbidden):
    """Somebody of the team lacks a role."""

    def __init__(self, access: TeamAccess, need: Role) -> None:
        text = _("This requires the role %(needed)s in %(team)s. Your role is %(role)s.")
        names = {"needed": need.noun, "team": access.team.name, "role": access.role.noun}
        super().__init__(text % names)
        self.team, self.user, self.need = access.team, access.user, need


class WorkUnseen(NotFound):
    """Asked for by somebody who is in the team and sees nothing of its work."""

    has_no_sessions = True

    def __init__(self, access: TeamAccess) -> None:
        super().__init__("Page")
        self.message = _(
            "Your role in %(team)s is %(role)s. It gives access to usage, budgets and members, "
            "but not to sessions or settings."
        ) % {"team": access.team.name, "role": access.role.noun}
        self.args = (self.message,)


def access_team(
    user: User | AnonymousUser, slug_or_id: str, *, need: Role | None = Role.VIEWER
) -> TeamAccess:
    """Fetch a team for a person. `need` is None where every role will do.

    Raises: NotFound when there is none or the person is no active member of it, or sees nothing of
    its work; PolicyUnmet when the sign-in is not what the team wants; Forbidden when the role does
    not include `need`.
    """
    if not isinstance(user, User) or not user.is_active:
        raise NotFound("Team", slug_or_id)
    membership = _MEMBERSHIP.first(user.pk, slug_or_id)
    if membership is None:
        raise NotFound("Team", slug_or_id)
    access = TeamAccess(membership.team, membership, user)
    require_policy(user, membership.team)
    require_role(access, need)
    return access


def in_emergency(access: TeamAccess) -> list[Membership]:
    """Returns: the operators who are in the team now, the first to leave first. No query for a team
    that has none."""
    until = access.team.emergency_until
    if until is None or until <= timezone.now():
        return []
    rows = Membership.objects.current().filter(team=access.team, expires_at__isnull=False)
    return list(rows.select_related("user").order_by("expires_at"))


def may_create_team(user: User) -> bool:
    """Whether the instance's policy lets the person create teams, as pages say it."""
    return is_operator(user) or known_team_creation() == TeamCreation.EVERYONE


def is_operator(user: User) -> bool:
    """Whether the person runs the instance."""
    return user.is_active and user.is_superuser


def require_operator(user: User) -> None:
    """Raises: Forbidden for others than operators; PolicyUnmet when the sign-in is not what the
    server wants."""
    if not is_operator(user):
        raise Forbidden(_("Only operators of this server can do this."))
    require_instance_policy(user)


def access_operator(user: User | AnonymousUser) -> User:
    """Raises: NotFound for everybody who is no operator; PolicyUnmet as `require_operator`."""
    if not isinstance(user, User) or not is_operator(user):
        raise NotFound("Page", "ops")
    require_operator(user)
    return user


def operators() -> QuerySet[User]:
    """Returns: the operators of the instance by e-mail address."""
    return User.objects.filter(is_superuser=True, is_active=True).order_by("email")


def teams_of(user: User | AnonymousUser, *, need: Role | None = Role.VIEWER) -> QuerySet[Team]:
    """Returns: the teams by name in which the person's role includes `need`; None: any role."""
    if not isinstance(user, User) or not user.is_active:
        return Team.objects.none()
    roles = list(Role) if need is None else roles_with(need)
    own = Membership.objects.current().filter(user=user, role__in=roles)
    return Team.objects.filter(pk__in=own.values("team")).order_by("name", "id")
