"""What a team, or the whole server, asks of a sign-in: a second factor (MFA), an identity provider
(SSO).

A browser is judged by how it was signed in, a token by what its person has set up. Service
accounts are programs and are asked for neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.core.cache import cache
from django.db.models import Q
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Forbidden
from teams.models import IdentityProvider, SignIn, SignInPolicy, Team, TeamCreation, User

# As allauth's `record_authentication` keeps it: a list of what the person has shown, and who it is.
_METHODS = "account_authentication_methods"
_METHODS_OF = "account_authentication_methods_user"
_TEAM_CREATION = "policy.team_creation"
# So long may pages of another process go on to offer what the policy no longer allows.
_KNOWN_S = 30
_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class PolicyUnmet(Forbidden):
    """The person may do it, once they are signed in as the policy wants it."""


def sign_in_of(session: SessionBase | Mapping[str, Any], user: User) -> SignIn:
    """Returns: what the sign-in of a browser's session has shown."""
    if str(session.get(_METHODS_OF)) != str(user.pk):
        return SignIn()
    records = session.get(_METHODS) or ()
    by = [str(row.get("provider")) for row in records if row.get("method") == "socialaccount"]
    # That a provider asks for a second factor was once a record, too; now its row says so.
    factors = (row for row in records if row.get("method") == "mfa")
    return SignIn(any(row.get("type") != "provider" for row in factors), frozenset(by))


def instance_policy() -> SignInPolicy:
    """The policy of the whole server."""
    return SignInPolicy.objects.first() or SignInPolicy()


def team_creation() -> TeamCreation:
    """Who may create teams: what operators have chosen here, or else `TEAM_CREATION`."""
    chosen = instance_policy().team_creation or settings.TEAM_CREATION
    cache.set(_TEAM_CREATION, chosen, _KNOWN_S)
    return TeamCreation(chosen)


def forget_team_creation() -> None:
    """Have the pages of this process read it anew."""
    cache.delete(_TEAM_CREATION)


def known_team_creation() -> TeamCreation:
    """As `team_creation`, for pages: it may be half a minute old, and mostly costs no query."""
    known = cache.get(_TEAM_CREATION)
    return team_creation() if known is None else TeamCreation(known)


def require_policy(user: User, team: Team) -> None:
    """Costs no query where nothing is asked for, or the browser's sign-in shows it.

    Raises: PolicyUnmet.
    """
    provider = team.sso_provider if team.requires_sso else ""
    _require(user, mfa=team.needs_mfa, sso=team.needs_sso, provider=provider, name=team.name)


def require_instance_policy(user: User) -> None:
    """For what operators do, which belongs to no team. Raises: PolicyUnmet."""
    policy = instance_policy()
    _require(user, mfa=policy.requires_mfa, sso=policy.requires_sso, name=_("This server"))


def meets_policy(user: User, team: Team) -> bool:
    """Whether `require_policy` lets the person through."""
    try:
        require_policy(user, team)
    except PolicyUnmet:
        return False
    return True


def meets_instance_policy(user: User) -> bool:
    """Whether `require_instance_policy` lets the person through."""
    try:
        require_instance_policy(user)
    except PolicyUnmet:
        return False
    return True


def unmet_teams(user: User, prefix: str = "") -> Q:
    """Returns: the condition for teams whose policy a browser's sign-in does not meet.

    `prefix` leads to the team. For a token there are none: its one team was judged before.
    """
    sign_in = user.sign_in
    unmet = Q(pk__in=())
    if sign_in is None or user.service_of_id is not None:
        return unmet
    shown = _enabled(sign_in.providers)
    if not (sign_in.mfa or any(shown.values())):
        unmet |= Q(**{f"{prefix}requires_mfa": True}) | Q(
            **{f"{prefix}instance_requires_mfa": True}
        )
    if _is_exempt(user):
        return unmet
    if not shown:
        unmet |= Q(**{f"{prefix}instance_requires_sso": True})
    accepted = Q(**{f"{prefix}sso_provider__in": ["", *shown] if shown else []})
    return unmet | Q(**{f"{prefix}requires_sso": True}) & ~accepted


def asks_for_mfa(user: User) -> bool:
    """Whether the server or a team of the person asks for a second factor."""
    teams = Team.objects.filter(memberships__user=user)
    asking = teams.filter(Q(requires_mfa=True) | Q(instance_requires_mfa=True))
    return instance_policy().requires_mfa or asking.exists()


def has_factor(user: User) -> bool:
    """Whether the person has set up a second factor here."""
    return bool(Authenticator.objects.filter(user=user, type__in=_FACTORS).exists())


def _require(user: User, *, mfa: bool, sso: bool, name: str, provider: str = "") -> None:
    if not (mfa or sso) or user.service_of_id is not None:
        return
    sign_in = user.sign_in or _sign_in_of_person(user)
    if not sso and sign_in.mfa:
        return
    # What it has shown counts as long as the provider does.
    shown = _enabled(sign_in.providers)
    if sso and not (provider in shown if provider else shown) and not _is_exempt(user):
        row = IdentityProvider.objects.filter(slug=provider).first()
        if row is None:
            raise PolicyUnmet(_("%(name)s requires single sign-on.") % {"name": name})
        names = {"name": name, "provider": row.name}
        raise PolicyUnmet(_("%(name)s requires single sign-on with %(provider)s.") % names)
    if mfa and not (sign_in.mfa or any(shown.values())):
        raise PolicyUnmet(_("%(name)s requires multi-factor authentication.") % {"name": name})


def _sign_in_of_person(user: User) -> SignIn:
    """What the sign-ins of a person can show at best, for their tokens."""
    linked = SocialAccount.objects.filter(user=user).values_list("provider", flat=True)
    return SignIn(has_factor(user), frozenset(linked))


def _enabled(slugs: frozenset[str]) -> dict[str, bool]:
    """Returns: of identity providers, those that are enabled, and whether each counts as MFA."""
    if not slugs:
        return {}
    rows = IdentityProvider.objects.filter(slug__in=slugs, is_enabled=True)
    return dict(rows.values_list("slug", "counts_as_mfa"))


def _is_exempt(user: User) -> bool:
    return user.is_superuser and instance_policy().exempts_operators
