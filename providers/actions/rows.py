"""Rows of accounts as actions need them."""

from __future__ import annotations

from opencode_web.lib.errors import NotFound
from providers.models import ProviderConfig


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


def forget_test(row: ProviderConfig) -> None:
    """What a test and failed calls have found was about a key or an address that is gone."""
    nothing = {"failures": 0, "failure": "", "failed_by": "", "open_until": None}
    ProviderConfig.objects.filter(pk=row.pk).update(tested_at=None, test_fault="", **nothing)
