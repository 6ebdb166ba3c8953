"""Forms of Settings → Models. Bounds of fields are here; what a value means, in the actions."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.json import JsonObject
from providers.catalog import KnownProvider, known_provider, known_providers
from providers.cloud_forms import (
    Group,
    KeyField,
    add_faults,
    add_fields,
    bound_fields,
    given_account,
)
from providers.clouds import CLOUDS, Cloud, cloud_of
from providers.kinds import ProviderKind

OWN_SERVER = "custom"
_FIRST = ("openai", "anthropic")


def _address_field(**kwargs: Any) -> forms.CharField:  # Django's own shape
    attrs = {"inputmode": "url", "placeholder": "https://models.example.com/v1"}
    widget = forms.TextInput(attrs=attrs)
    return forms.CharField(label=_("Base URL"), max_length=500, widget=widget, **kwargs)


def _preset_choices() -> list[tuple[str | Promise, Any]]:
    known = known_providers()
    first = [(one.id, one.name) for key in _FIRST for one in known if one.id == key]
    rest = [(one.id, one.name) for one in known if one.id not in _FIRST]
    own = (OWN_SERVER, _("OpenAI-compatible server (own address)"))
    return [*first, own, (_("From the catalog"), rest)]


class PresetSelect(forms.Select):
    """It marks the clouds, so that the page shows the fields of the chosen one."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        cloud = _cloud_of_preset(str(value))
        if cloud is not None:
            option["attrs"]["data-cloud"] = cloud.id
        return option


def _cloud_of_preset(preset: str) -> Cloud | None:
    known = known_provider(preset)
    # What an address asks for is set on the provider's own page.
    return cloud_of(known.npm) if known else None


class ProviderForm(forms.Form):
    """A new provider. The fields of every cloud are there; those of the chosen one count."""

    preset = forms.ChoiceField(label=_("Provider"), choices=_preset_choices, widget=PresetSelect)
    base_url = _address_field(
        required=False,
        help_text=_(
            "An own server needs it. A known provider only to be reached through a gateway."
        ),
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        required=False,
        help_text=_("How it is shown. Else the catalog's name, or the host of an own server."),
    )
    key = KeyField(
        required=False,
        help_text=_("OpenAI and Anthropic need one. Stored encrypted, and never shown again."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Django's own shape
        super().__init__(*args, **kwargs)
        # Only some providers need them, so their labels do not call them optional.
        for name in ("base_url", "key"):
            self.fields[name].depends = True  # type: ignore[attr-defined]
        for cloud in CLOUDS:
            add_fields(self, cloud)

    @property
    def groups(self) -> list[Group]:
        """The fields of each kind of account."""
        found = {cloud.id: Group(cloud.id, bound_fields(self, cloud)) for cloud in CLOUDS}
        return [*found.values()]

    @property
    def cloud(self) -> Cloud | None:
        """The chosen one."""
        return _cloud_of_preset(self.cleaned_data.get("preset", ""))

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        is_own = data.get("preset") == OWN_SERVER
        if is_own and not data.get("base_url") and "base_url" not in self.errors:
            self.add_error("base_url", _("An own server needs this."))
        if self.cloud:
            add_faults(self, self.cloud)
        return data

    @property
    def known(self) -> KnownProvider | None:
        """The chosen provider of the catalog; None for an own server."""
        return known_provider(self.cleaned_data["preset"])

    def to_arguments(self) -> dict[str, Any]:
        """Returns: keyword arguments of `create_provider`."""
        data, known = self.cleaned_data, self.known
        return {
            "kind": known.kind if known else ProviderKind.COMPATIBLE,
            "provider_id": known.id if known else "",
            "name": data["name"] or (known.name if known else _host(data["base_url"])),
            "base_url": data["base_url"] or (known.base_url if known else ""),
            "key": data["key"],
            **(given_account(self, self.cloud) if self.cloud else {}),
        }


def _host(base_url: str) -> str:
    # The action judges the address; here it only lends its name.
    return urlsplit(base_url).netloc.rpartition("@")[2]


class AddressForm(forms.Form):
    """Name and address of a provider."""

    # Its page has other forms with fields of the same names.
    prefix = "address"

    name = forms.CharField(label=_("Name"), max_length=100, show_hidden_initial=True)
    base_url = _address_field(
        required=False,
        show_hidden_initial=True,
        help_text=_("Changing the host removes the key, because a key is bound to its address."),
    )


class KeyForm(forms.Form):
    """A new key."""

    key = KeyField(help_text=_("Stored encrypted. It is never shown again, only replaced."))


class KeyLimitsForm(forms.Form):
    """What one of several keys is called, and how much it may be used."""

    label = forms.CharField(label=_("Name"), max_length=100, required=False)
    max_calls = forms.IntegerField(
        label=_("Calls at once"), min_value=1, max_value=10_000, required=False
    )
    tokens_per_minute = forms.IntegerField(
        label=_("Tokens per minute"), min_value=1, max_value=2_000_000_000, required=False
    )


class NewKeyForm(KeyForm):
    """A further key."""

    label = forms.CharField(label=_("Name"), max_length=100, required=False)


def _price(label: Any, help_text: Any = "") -> forms.DecimalField:  # lazy texts, typed in stubs
    return forms.DecimalField(
        label=label,
        help_text=help_text,
        required=False,
        min_value=0,
        max_value=1_000_000,
        decimal_places=4,
        widget=forms.NumberInput(attrs={"inputmode": "decimal", "step": "any"}),
    )


class ModelForm(forms.Form):
    """A model that the catalog does not know."""

    prefix = "model"

    id = forms.CharField(
        label=_("Model id"),
        max_length=200,
        help_text=_("As the server names it, for example qwen3-coder:30b."),
    )
    name = forms.CharField(label=_("Name"), max_length=200, required=False)
    context = forms.IntegerField(
        label=_("Context tokens"),
        min_value=1_000,
        max_value=100_000_000,
        initial=128_000,
        help_text=_("How much it can read; the conversation is summarised before this is full."),
    )
    output = forms.IntegerField(
        label=_("Output tokens"),
        min_value=100,
        max_value=10_000_000,
        initial=16_000,
        help_text=_("The longest answer."),
    )
    input_price = _price(
        _("Price of a million tokens read"),
        help_text=_("In US dollars, 0 if it is free. A budget can hold only models with a price."),
    )
    output_price = _price(_("Price of a million tokens written"))
    images = forms.BooleanField(label=_("It can see pictures"), required=False)
    reasoning = forms.BooleanField(label=_("It can reason before it answers"), required=False)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        given = {name: data.get(name) is not None for name in ("input_price", "output_price")}
        for name, is_given in given.items():
            if not is_given and any(given.values()) and name not in self.errors:
                self.add_error(name, _("Give both prices, or neither."))
        return data

    def to_override(self) -> JsonObject:
        """Returns: the model's description in the shape of opencode.json."""
        data = self.cleaned_data
        override: JsonObject = {
            "name": data["name"] or data["id"],
            "limit": {"context": data["context"], "output": data["output"]},
            "reasoning": data["reasoning"],
            "temperature": True,
        }
        prices = {"input": data["input_price"], "output": data["output_price"]}
        if None not in prices.values():
            override["cost"] = {name: float(price) for name, price in prices.items()}
        if data["images"]:
            override["attachment"] = True
            override["modalities"] = {"input": ["text", "image"], "output": ["text"]}
        return override
