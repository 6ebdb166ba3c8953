"""The accounts of the server as its operators see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.core.paginator import Page, Paginator
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from opencode_web.ops.audit import AuditLine, to_lines
from teams.actions.browsers import browsers_of
from teams.models import ApiToken, AuditEntry, IdentityProvider, Membership, Role, Team, User
from teams.views.devices import name_of

PER_PAGE = 50
_ENTRIES = 10


@dataclass(frozen=True)
class AccountRow:
    """A line of the list."""

    user: User
    memberships: list[Membership]
    methods: list[str]
    used_at: datetime | None
    """Of its API tokens; of browsers `user.last_seen_on` has the day."""


@dataclass(frozen=True)
class AccountPage:
    """Everything of one account that is no secret."""

    row: AccountRow
    tokens: list[ApiToken]
    made: list[ApiToken]
    """Of service accounts: the person has seen their secrets."""
    browsers: list[UserSession]
    entries: list[AuditLine]
    ownerless: list[Team]
    """Those that nobody else owns who can sign in."""

    @property
    def named_browsers(self) -> list[tuple[UserSession, str]]:
        return [(browser, name_of(browser)) for browser in self.browsers]


def find_people(asked: Mapping[str, Any]) -> QuerySet[User]:
    """Returns: the accounts that match what a valid `PeopleForm` asks for, by e-mail address."""
    people = User.objects.filter(service_of=None)
    for word in asked["q"].split():
        people = people.filter(Q(email__icontains=word) | Q(name__icontains=word))
    match asked["show"]:
        case "active":
            people = people.filter(is_active=True)
        case "deactivated":
            people = people.filter(is_active=False)
        case "operators":
            people = people.filter(is_superuser=True)
    if since := asked["unused_since"]:
        tokens = ApiToken.objects.filter(user=OuterRef("pk"), last_used_at__date__gte=since)
        people = people.exclude(
            Q(last_login__date__gte=since) | Q(last_seen_on__gte=since) | Exists(tokens)
        )
    return people.order_by("email")


def load_people(people: QuerySet[User], number: str) -> tuple[Page[User], list[AccountRow]]:
    """Returns: a page and its lines. The queries do not grow with either."""
    page = Paginator(people, PER_PAGE).get_page(number)
    return page, _rows(page.object_list)


def load_account(user: User) -> AccountPage:
    """Returns: what the page of one account shows."""
    (row,) = _rows([user])
    tokens = ApiToken.objects.live().filter(user=user).select_related("team")
    made = ApiToken.objects.made_for_services(user).select_related("team", "user")
    entries = AuditEntry.objects.filter(team=None, target_type="user", target_id=str(user.pk))
    owned = [one.team for one in row.memberships if one.role == Role.OWNER]
    return AccountPage(
        row,
        list(tokens.order_by("team__name", "name")),
        list(made.order_by("team__name", "name")),
        browsers_of(user),
        to_lines(list(entries.order_by("-pk")[:_ENTRIES])),
        [team for team in owned if not _has_other_owner(team, user)],
    )


def candidates_of(team: Team) -> list[Membership]:
    """Returns: the members who can be its owner."""
    rows = team.memberships.filter(
        user__is_active=True, user__service_of=None, expires_at=None
    ).exclude(role=Role.OWNER)
    return list(rows.select_related("user").order_by("user__email"))


def _has_other_owner(team: Team, user: User) -> bool:
    owners = team.memberships.filter(role=Role.OWNER, expires_at=None, user__is_active=True)
    return owners.exclude(user=user).exists()


def _rows(users: Iterable[User]) -> list[AccountRow]:
    people = list(users)
    ids = [user.pk for user in people]
    memberships = _grouped(
        Membership.objects.current()
        .filter(user__in=ids)
        .select_related("team", "user")
        .order_by("team__name")
    )
    used = dict(
        ApiToken.objects.filter(user__in=ids)
        .values_list("user")
        .annotate(at=Max("last_used_at"))
        .values_list("user", "at")
    )
    methods = _methods(people)
    return [
        AccountRow(user, memberships.get(user.pk, []), methods[user.pk], used.get(user.pk))
        for user in people
    ]


def _grouped(rows: Iterable[Membership]) -> dict[int, list[Membership]]:
    groups: dict[int, list[Membership]] = {}
    for row in rows:
        groups.setdefault(row.user_id, []).append(row)
    return groups


def _methods(people: list[User]) -> dict[int, list[str]]:
    """Returns: by account, how it can sign in, in words."""
    names = dict(IdentityProvider.objects.values_list("slug", "name"))
    found = {user.pk: [_("Password")] if user.has_usable_password() else [] for user in people}
    linked = SocialAccount.objects.filter(user__in=found).order_by("provider")
    for user_id, provider in linked.values_list("user", "provider"):
        found[user_id].append(names.get(provider, provider))
    labels = dict(Authenticator.Type.choices)
    factors = Authenticator.objects.filter(user__in=found).order_by("type")
    for user_id, kind in factors.values_list("user", "type").distinct():
        if kind != Authenticator.Type.RECOVERY_CODES:
            found[user_id].append(str(labels[kind]))
    return found
