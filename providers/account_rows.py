"""Accounts and their models as the list of settings shows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from django.db.models import Q

from providers.account_settings import labels_of
from providers.accounts import accounts_by_provider
from providers.catalog import Model
from providers.condition import Condition, condition_of
from providers.config import parse_blocks
from providers.credentials import mask
from providers.effective import effective_providers, row_missing, row_needs_key, used_names
from providers.effective import used_models as models_of_row
from providers.kinds import ProviderKind
from providers.models import ProviderConfig
from providers.tally import account_hours
from teams.access import teams_of
from teams.models import OwnAccounts, Role, Team, User

# Further teams of a person are left out of a page.
SHOWN_TEAMS = 20


@dataclass(frozen=True, slots=True)
class Account:
    """One line of the list. `is_shared`: operators of the server share it with the team."""

    config: ProviderConfig
    model_names: tuple[str, ...]
    missing: str = ""
    is_shared: bool = False
    condition: Condition = field(default_factory=Condition)

    @property
    def key(self) -> str:
        """What is shown of its credential: whose it is, or the end of a key."""
        one = self.config.credential
        return (one.account or mask(one.last4)) if one else ""

    @property
    def needs_key(self) -> bool:
        return self.config.credential is None and row_needs_key(self.config)

    @property
    def is_unproven(self) -> bool:
        """Whether no call with it has gone well yet; the demo always answers."""
        row = self.config
        return row.kind != ProviderKind.SCRIPTED and row.answered_at is None

    @property
    def is_signed_out(self) -> bool:
        one = self.config.credential
        return one is not None and bool(one.fault)


@dataclass(frozen=True, slots=True)
class OwnUse:
    """Which of a person's accounts count in a team, by its policy."""

    team: Team
    policy: str
    names: tuple[str, ...]


def load_accounts(team: Team | None, rows: Iterable[ProviderConfig]) -> list[Account]:
    """Returns: the accounts by name, enabled or not; after a team's those shared with it."""
    hours = account_hours()
    found = [replace(_account(row), condition=condition_of(row, hours)) for row in rows]
    if team is not None:
        shared = ProviderConfig.objects.filter(team=None, owner=None, enabled=True)
        shared = shared.filter(Q(for_all_teams=True) | Q(shared_with=team)).distinct()
        found += [
            _account(row, is_shared=True)
            for row in shared.select_related("team").prefetch_related("credentials")
        ]
    return found


def _account(row: ProviderConfig, *, is_shared: bool = False) -> Account:
    names = tuple(used_names(row).values())
    return Account(row, names, labels_of(row_missing(row, row.config)), is_shared)


def models_of(team: Team | None, rows: Iterable[ProviderConfig]) -> list[Model]:
    """Returns: what a team can use, with what its settings say; else the models of the accounts."""
    if team is not None:
        return [
            model for one in effective_providers(team).values() for model in one.models.values()
        ]
    return [model for row in rows if row.enabled for model in models_of_row(row).values()]


def load_own_uses(user: User, accounts: Iterable[Account]) -> list[OwnUse]:
    """Returns: of each team that a person works in, which of these accounts pay for turns there."""
    named = {one.config.provider_id: one.config.name for one in accounts if one.config.enabled}
    found = []
    for team in teams_of(user, need=Role.MEMBER)[:SHOWN_TEAMS]:
        usable = accounts_by_provider(team, user, configured=parse_blocks(team.config))
        names = tuple(
            named[key]
            for key, one in usable.items()
            if key in named and one.own is not None and not one.is_off
        )
        label = str(OwnAccounts(team.own_accounts).label)
        found.append(OwnUse(team, label, tuple(sorted(names))))
    return found
