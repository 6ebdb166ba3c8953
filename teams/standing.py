"""What the rights of people with open connections rest on, read for all of them at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.contrib.sessions.models import Session as StoredSession
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from teams.auth import Principal
from teams.models import ApiToken, IdentityProvider, User

# What single sign-on counts for; none while the provider is not enabled.
_PROVIDERS = IdentityProvider.objects.filter(
    slug=OuterRef("socialaccount__provider"), is_enabled=True
)
_POLICY = ("requires_mfa", "requires_sso", "instance_requires_mfa", "instance_requires_sso")
_FACTS = (
    *("password", "is_superuser", "memberships__role", "memberships__team"),
    *(f"memberships__team__{name}" for name in (*_POLICY, "sso_provider", "access_version")),
    *("authenticator__type", "socialaccount__provider", "counts_as_mfa"),
)


@dataclass(frozen=True)
class Rights:
    """Everything a principal's rights depend on. While two are equal, no right has changed."""

    # Password, roles, factors and providers of the person, what their teams want of these, and when
    # roles in projects have changed; empty without an active account.
    person: frozenset[tuple[object, ...]]
    # The token or the browser's session; empty when it is gone.
    credential: str
    expires_at: datetime | None

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()


def read_standings(principals: Collection[Principal]) -> dict[Principal, Rights]:
    """Returns: how each of them stands now. Two queries, however many there are."""
    people = defaultdict(set)
    now = timezone.now()
    accounts = User.objects.filter(pk__in={each.user.pk for each in principals}, is_active=True)
    accounts = accounts.annotate(counts_as_mfa=Subquery(_PROVIDERS.values("counts_as_mfa")))
    for user_id, until, *facts in accounts.values_list("pk", "memberships__expires_at", *_FACTS):
        # That of an operator in an emergency ends by itself.
        people[user_id].add((until is None or until > now, *facts))
    keys = {each.browser.key for each in principals if each.browser}
    sessions = StoredSession.objects.filter(session_key__in=keys)
    tokens = ApiToken.objects.filter(pk__in={each.token_id for each in principals}, revoked_at=None)
    credentials = {
        key: (content, expires_at)
        for key, content, expires_at in tokens.values_list("pk", "digest", "expires_at").union(
            sessions.values_list("session_key", "session_data", "expire_date"), all=True
        )
    }
    return {
        each: Rights(frozenset(people[each.user.pk]), *credentials.get(_key(each), ("", None)))
        for each in principals
    }


def _key(principal: Principal) -> str:
    return principal.browser.key if principal.browser else principal.token_id or ""
