"""Who can be a second person in a team."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import CharField, Exists, OuterRef, Value

from sessions.models import Project
from sessions.visibility import given_to, given_to_member, role_in
from teams.models import ApiToken, Membership, Role, Team, TeamGroup, User


@dataclass(frozen=True)
class Approver:
    """A person with their role in the project that is asked about, or in the team."""

    membership: Membership
    role: Role

    @property
    def user(self) -> User:
        return self.membership.user


def approvers(team: Team, project: Project | None = None) -> list[Approver]:
    """Returns: those whom the team has named, themselves or by a group, or everybody where it has
    named nobody, but for who has no access to the project. Nobody takes the place of those who were
    named and cannot approve any more. Service accounts never are, as anybody who holds their token
    could answer, nor are operators in an emergency."""
    people = Membership.objects.filter(team=team, user__service_of=None, expires_at=None)
    people = people.select_related("user")
    given = (
        given_to_member(project.pk)
        if project is not None
        else Value(None, output_field=CharField(null=True))
    )
    groups = TeamGroup.objects.filter(is_approver=True, members=OuterRef("pk"))
    people = people.annotate(given_role=given, of_approvers=Exists(groups))
    is_restricted = project is not None and project.is_restricted
    rows = [
        (row, role_in(row, given=given_to(row), is_restricted=is_restricted), _is_named(row))
        for row in people.order_by("created_at", "pk")
    ]
    if any(is_named for _, _, is_named in rows):
        rows = [one for one in rows if one[2] and one[1] != Role.VIEWER]
    return [Approver(row, role) for row, role, _ in rows if role is not None and row.user.is_active]


def _is_named(row: Membership) -> bool:
    return row.is_approver or bool(vars(row)["of_approvers"])


def with_people_behind(accounts: Collection[int]) -> frozenset[int]:
    """Returns: the accounts, and who has made tokens of the service accounts among them, also by
    way of another one: they can do by those what they would then allow themselves."""
    known, new = set[int](), set(accounts)
    while new:
        known |= new
        tokens = ApiToken.objects.filter(user__in=new).exclude(user__service_of=None)
        makers = tokens.exclude(made_by=None).values_list("made_by", flat=True)
        new = {*makers} - known
    return frozenset(known)
