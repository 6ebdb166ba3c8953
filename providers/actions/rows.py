"""Rows of accounts as actions need them."""

from __future__ import annotations

from collections.abc import Mapping

from opencode_web.lib.errors import NotFound
from providers.account_settings import kind_settings
from providers.clouds import resource_of
from providers.credentials import forget_prefetched
from providers.kinds import ProviderKind
from providers.models import Credential, ProviderConfig


def lock_provider(row: ProviderConfig) -> ProviderConfig:
    """The row as it is now, until the transaction ends. Raises: NotFound when it is gone."""
    rows = ProviderConfig.objects.select_for_update(of=("self",)).select_related("team", "owner")
    locked = rows.filter(pk=row.pk).first()
    if locked is None:
        raise NotFound("Provider", row.provider_id)
    return locked


def fresh_row(row: ProviderConfig) -> ProviderConfig:
    """Returns: the row read again, with all that callers go on with."""
    rows = ProviderConfig.objects.select_related("team", "owner").prefetch_related("credentials")
    return rows.get(pk=row.pk)


def account_place(row: ProviderConfig) -> dict[str, str]:
    """Returns: where the account of a provider is, by the names of its settings.

    Settings that name an Azure resource with its key are stored as the address of that resource.
    """
    cloud = kind_settings(row.provider_id, ProviderKind(row.kind))
    named = resource_of(row.base_url)
    known = {**row.connection, **({"resourceName": named} if named else {})}
    return cloud.kept(known) if cloud else {}


def forget_moved_keys(row: ProviderConfig, *, before: Mapping[str, str]) -> bool:
    """Remove all credentials of an account that has moved from the place `before`.

    Must run inside an action's transaction, before what was given for the new place is stored.

    Returns: whether there were any.
    """
    cloud = kind_settings(row.provider_id, ProviderKind(row.kind))
    after = account_place(row)
    if cloud is None or all(after.get(key) == text for key, text in cloud.place(before).items()):
        return False
    removed = Credential.objects.filter(provider=row).delete()[0]
    forget_prefetched(row)
    return bool(removed)


def forget_test(row: ProviderConfig) -> None:
    """What a test and failed calls have found was about a key or an address that is gone."""
    nothing = {"failures": 0, "failure": "", "failed_by": "", "open_until": None}
    ProviderConfig.objects.filter(pk=row.pk).update(tested_at=None, test_fault="", **nothing)
