"""Forms of Settings → Models. Bounds of fields are here; what a value means, in the actions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from providers.cloud_forms import KeyField


def address_field(**kwargs: Any) -> forms.CharField:  # Django's own shape
    """Returns: the field of the address of a server."""
    attrs = {"inputmode": "url", "placeholder": "https://models.example.com/v1"}
    widget = forms.TextInput(attrs=attrs)
    return forms.CharField(label=_("Base URL"), max_length=500, widget=widget, **kwargs)


class AddressForm(forms.Form):
    """Name and address of a provider."""

    # Its page has other forms with fields of the same names.
    prefix = "address"

    name = forms.CharField(label=_("Name"), max_length=100, show_hidden_initial=True)
    base_url = address_field(
        required=False,
        show_hidden_initial=True,
        help_text=_("Changing the host removes the key, because a key is tied to its address."),
    )


class KeyForm(forms.Form):
    """A key, and what people call it where an account has several."""

    key = KeyField(
        help_text=_("Stored encrypted. You can replace it, but it is never shown again.")
    )
    label = forms.CharField(label=_("Label"), max_length=100, required=False)


class KeyLimitsForm(forms.Form):
    """How much a key may be used."""

    max_calls = forms.IntegerField(
        label=_("Concurrent calls"), min_value=1, max_value=10_000, required=False
    )
    tokens_per_minute = forms.IntegerField(
        label=_("Tokens per minute"), min_value=1, max_value=2_000_000_000, required=False
    )
