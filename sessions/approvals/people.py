"""Who may approve a change that somebody else asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Forbidden
from sessions.approvers import Approver, approvers, with_people_behind
from sessions.models import ChangeKind, ChangeRequest, Project
from teams.access import TeamAccess, has_role
from teams.models import Role, Team, User

# The least role that can make changes of a kind. Some of them need more.
ROLES = {
    ChangeKind.MERGE: Role.MEMBER,
    ChangeKind.PUSH: Role.MEMBER,
    ChangeKind.SECRETS: Role.ADMIN,
    ChangeKind.RULES: Role.ADMIN,
    ChangeKind.BUDGETS: Role.BILLING,
    ChangeKind.POLICY: Role.OWNER,
}


def approvers_for(
    team: Team, requests: Iterable[ChangeRequest]
) -> dict[str | None, list[Approver]]:
    """Returns: the `approvers` by the project of each request, or by None. Two queries a project at
    most."""
    places = {one.project_id: one.project for one in requests}
    return {pk: approvers(team, project) for pk, project in places.items()}


def askers_of(asker: User) -> frozenset[int]:
    """Returns: who cannot decide on what an account asks for. One query for a service account."""
    return frozenset({asker.pk}) if asker.service_of_id is None else with_people_behind({asker.pk})


def able(named: list[Approver], need: Role, *, but: Collection[int] = ()) -> list[User]:
    """Returns: which of the `approvers`, `but` for some, may decide on a change that needs a
    role."""
    return [one.user for one in named if has_role(one.role, need) and one.user.pk not in but]


def deciders(named: list[Approver], request: ChangeRequest) -> list[User]:
    """Returns: which of the `approvers` may decide on a request."""
    return able(named, Role(request.need), but=askers_of(request.asker))


def require_deciders(
    team: Team, need: Role, *, asker: User, what: str, project: Project | None = None
) -> None:
    """`what` names the kind of change. Raises: Conflict where nobody could decide."""
    if not able(approvers(team, project), need, but=askers_of(asker)):
        raise Conflict(
            _(
                "%(what)s: nobody else in the team could approve this. It takes a second person "
                "with the role %(role)s who is an approver, if the team has named any."
            )
            % {"what": what, "role": need.noun}
        )


def require_decider(access: TeamAccess, request: ChangeRequest) -> None:
    """Raises: Forbidden saying why the person may not decide."""
    require_other_than(request.asker, access.user)
    require_approver(access, Role(request.need), request.project)


def require_other_than(asker: User, user: User) -> None:
    """Raises: Forbidden where both are, or can be, the same person."""
    if asker.pk == user.pk:
        raise Forbidden(_("You have asked for this, so somebody else must decide."))
    if user.pk in askers_of(asker):
        raise Forbidden(
            _(
                "You have made a token of the service account that asks, so somebody else must "
                "decide."
            )
        )


def require_approver(access: TeamAccess, need: Role, project: Project | None = None) -> None:
    """Raises: Forbidden for who can approve nothing that takes a role."""
    if access.user.service_of_id is not None:
        raise Forbidden(_("A service account cannot decide this. A person must."))
    if access.membership.expires_at is not None:
        raise Forbidden(_("Emergency access cannot decide this."))
    if access.user not in able(approvers(access.team, project), need):
        raise Forbidden(
            _("Only an approver of the team with the role %(role)s can decide this.")
            % {"role": need.noun}
        )
