"""What the account of a provider has beside a key, as its adapter or its address asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


def named_for(provider_id: str, kind: ProviderKind, given: Mapping[str, str]) -> dict[str, str]:
    """Returns: answers to the prompts of a sign-in by the names that an account has for them.

    An address names its parts as variables are named: `CLOUDFLARE_ACCOUNT_ID` is the `accountId`.
    """
    cloud = kind_settings(provider_id, kind)
    found = {}
    for name in (one.name for one in cloud.settings) if cloud else ():
        plain = name.replace("_", "").lower()
        value = next((text for key, text in given.items() if plain.endswith(key.lower())), "")
        if value:
            found[name] = value
    return found


def labels_of(names: Iterable[str]) -> str:
    """Returns: what the page calls these settings, in the reader's language."""
    labels = {one.name: one.label for cloud in CLOUDS for one in cloud.settings}
    return ", ".join(str(labels.get(name) or label_of(name)) for name in names)
