"""Which account at a provider answers for whom.

    own, of the person who prompts  before  the team's  before  the instance's

An account that is not complete (no credential, or no address) counts after one that is. What a team
has switched off is off for every account, and the models that its admins have picked are all that
there are, whoever pays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from opencode_web.lib.compiled import CompiledQuery
from providers.models import Credential, ProviderConfig
from teams.models import OwnAccounts, Team, User

# No account of a person has this for its owner.
NOBODY = 0


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts at one provider that a person can use in a team, with their credentials."""

    own: ProviderConfig | None = None
    team: ProviderConfig | None = None
    instance: ProviderConfig | None = None

    @property
    def is_off(self) -> bool:
        """Whether admins of the team have switched the provider off."""
        return self.team is not None and not self.team.enabled

    def ordered(self) -> list[ProviderConfig]:
        """Returns: those that are switched on, the one to be preferred first."""
        return [row for row in (self.own, self.team, self.instance) if row and row.enabled]


NO_ACCOUNTS = Accounts()


def _usable_in(team_id: str, user_id: int) -> Q:
    shares = ProviderConfig.shared_with.through.objects
    shared = Exists(shares.filter(providerconfig=OuterRef("pk"), team=team_id))
    instance = Q(team=None, owner=None) & (Q(for_all_teams=True) | Q(shared))
    return Q(team=team_id) | Q(owner=user_id) | instance


_ROWS = CompiledQuery(
    lambda team_id, user_id, provider_id: (
        ProviderConfig.objects.filter(_usable_in(team_id, user_id), provider_id=provider_id)
        .select_related("team")
        .order_by()
    ),
    str,
    int,
    str,
)
_CREDENTIALS = CompiledQuery(
    lambda row_id: Credential.objects.filter(provider=row_id).order_by("pk"), int
)


def accounts_at(
    team: Team, user: User | None, provider_id: str, *, is_configured: bool = False
) -> Accounts:
    """Fetch the accounts at one provider.

    `is_configured`: the team's settings name the provider, which lets people use their own accounts
    there under the policy `OwnAccounts.TEAM`.
    """
    rows = _ROWS.all(team.pk, user.pk if user else NOBODY, provider_id)
    for row in rows:
        found = _CREDENTIALS.all(row.pk)
        # What `prefetch_related` would put there, for a third of its time.
        row._prefetched_objects_cache = {"credentials": found}  # type: ignore[attr-defined]
    return _gathered(team, rows, is_configured=is_configured)


def accounts_by_provider(
    team: Team, user: User | None, *, configured: Iterable[str] = ()
) -> dict[str, Accounts]:
    """Fetch all accounts. `configured`: providers that the team's settings name."""
    usable = _usable_in(team.pk, user.pk if user else NOBODY)
    rows = ProviderConfig.objects.filter(usable).select_related("team")
    grouped: dict[str, list[ProviderConfig]] = defaultdict(list)
    for row in rows.prefetch_related("credentials"):
        grouped[row.provider_id].append(row)
    named = frozenset(configured)
    return {
        key: _gathered(team, found, is_configured=key in named) for key, found in grouped.items()
    }


def _gathered(team: Team, rows: Iterable[ProviderConfig], *, is_configured: bool) -> Accounts:
    found = {"own" if row.owner_id else "team" if row.team_id else "instance": row for row in rows}
    accounts = Accounts(**found)
    if accounts.own is None or _may_use_own(team, accounts, is_configured=is_configured):
        return accounts
    return Accounts(team=accounts.team, instance=accounts.instance)


def _may_use_own(team: Team, accounts: Accounts, *, is_configured: bool) -> bool:
    if team.own_accounts == OwnAccounts.TEAM:
        return is_configured or accounts.team is not None or accounts.instance is not None
    return team.own_accounts == OwnAccounts.ANY
