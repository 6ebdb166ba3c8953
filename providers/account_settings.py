"""What the account of a provider has beside a key, as its adapter or its address asks for it."""

from __future__ import annotations

from collections.abc import Iterable

from providers.address_templates import account_of, label_of
from providers.catalog import known_provider, npm_of
from providers.clouds import CLOUDS, Cloud, cloud_of
from providers.kinds import ProviderKind


def account_settings(provider_id: str, npm: str) -> Cloud | None:
    """Returns: what accounts have that are called by this SDK package; None for a plain key."""
    known = known_provider(provider_id)
    if known is not None and known.template and known.npm == npm:
        return account_of(provider_id, known.template)
    return cloud_of(npm)


def kind_settings(provider_id: str, kind: ProviderKind) -> Cloud | None:
    """The same for a row, of which only the kind is stored."""
    return account_settings(provider_id, npm_of(provider_id, kind))


def labels_of(names: Iterable[str]) -> str:
    """Returns: what the page calls these settings, in the reader's language."""
    labels = {one.name: one.label for cloud in CLOUDS for one in cloud.settings}
    return ", ".join(str(labels.get(name) or label_of(name)) for name in names)
