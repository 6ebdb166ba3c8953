"""The keys of a provider that take turns, as its page has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from providers.credentials import mask
from providers.forms import KeyLimitsForm
from providers.models import Credential, ProviderConfig


@dataclass(frozen=True)
class KeyItem:
    """A key as the page has it. `paused_until`: it is not used before."""

    id: int
    name: str
    masked: str
    form: KeyLimitsForm
    paused_until: datetime | None = None


def key_items(row: ProviderConfig, form: KeyLimitsForm | None = None) -> list[KeyItem]:
    """Returns: the keys of an account; `form` takes the place of the one with its prefix."""
    items = []
    for number, key in enumerate(row.credentials.all(), start=1):
        fresh = form if form and form.prefix == prefix_of(key.pk) else _form_of(key)
        until = key.open_until if key.open_until and key.open_until > timezone.now() else None
        name = key.label or key.account or _("Key %(number)s") % {"number": number}
        items.append(KeyItem(key.pk, name, mask(key.last4), fresh, until))
    return items


def _form_of(key: Credential) -> KeyLimitsForm:
    initial = {name: getattr(key, name) for name in KeyLimitsForm.base_fields}
    return KeyLimitsForm(initial=initial, prefix=prefix_of(key.pk))


def prefix_of(key_id: int) -> str:
    """Returns: what the names of a key's fields begin with."""
    return f"key-{key_id}"
