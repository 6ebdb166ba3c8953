"""Fields of cloud accounts: where they are, and their secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from providers.clouds import Cloud, SecretPart, Setting
from providers.credentials import MAX_KEY_CHARS

MAX_SETTING_CHARS = 200


class KeyField(forms.CharField):
    """A key: write-only, and never remembered by the browser."""

    def __init__(self, *, label: Any = "", **kwargs: Any) -> None:  # Django's shape
        attrs = {"autocomplete": "off", "spellcheck": "false", "data-1p-ignore": ""}
        widget = forms.PasswordInput(attrs=attrs)
        super().__init__(label=label or _("Key"), max_length=MAX_KEY_CHARS, widget=widget, **kwargs)


def add_fields(form: forms.Form, cloud: Cloud, *, initial: Mapping[str, str] | None = None) -> None:
    """Give a form the fields of an account. With `initial` it says what the page showed."""
    for setting in cloud.settings:
        field = _setting_field(setting, with_initial=initial is not None)
        field.initial = (initial or {}).get(setting.name, "")
        form.fields[setting.name] = field
    for secret in cloud.secrets:
        form.fields[secret.name] = _secret_field(secret)


def bound_fields(form: forms.Form, cloud: Cloud) -> list[forms.BoundField]:
    """Returns: the fields of an account, in order."""
    return [form[name] for name in cloud.names]


def given_account(form: forms.Form, cloud: Cloud) -> dict[str, dict[str, str]]:
    """Returns: `connection` and `secrets` of the account as they were entered."""
    data = form.cleaned_data
    return {
        "connection": {one.name: data.get(one.name, "") for one in cloud.settings},
        "secrets": {one.name: data.get(one.name, "") for one in cloud.secrets},
    }


def add_faults(form: forms.Form, cloud: Cloud) -> None:
    """Say at each field what is wrong with it."""
    given = given_account(form, cloud)
    key = form.cleaned_data.get("key", "")
    for name, fault in cloud.faults(given["connection"], key=key, secrets=given["secrets"]).items():
        form.add_error(name, fault)


def _setting_field(setting: Setting, *, with_initial: bool) -> forms.CharField:
    attrs = {"autocomplete": "off", "spellcheck": "false", "placeholder": setting.example}
    texts: Any = {"label": setting.label, "help_text": setting.help_text}  # lazy, typed in stubs
    field = forms.CharField(
        **texts,
        max_length=MAX_SETTING_CHARS,
        required=False,
        show_hidden_initial=with_initial,
        widget=forms.TextInput(attrs=attrs),
    )
    field.depends = setting.is_needed  # type: ignore[attr-defined]  # for its template
    return field


def _secret_field(secret: SecretPart) -> KeyField:
    field = KeyField(label=secret.label, help_text=secret.help_text, required=False)
    field.depends = secret.is_needed  # type: ignore[attr-defined]  # for its template
    return field


class ConnectionForm(forms.Form):
    """Where an account is, and other keys for it. What is stored of keys is never shown."""

    # Its page has other forms.
    prefix = "connection"

    def __init__(self, data: Any = None, *, cloud: Cloud, shown: Mapping[str, str]) -> None:
        super().__init__(data)
        self.cloud = cloud
        add_fields(self, cloud, initial=shown)
        if cloud.takes_key:
            self.fields["key"] = KeyField(label=_("API key"), required=False)
            self.fields["key"].depends = True  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        add_faults(self, self.cloud)
        return data

    @property
    def rows(self) -> list[forms.BoundField]:
        """Its fields in the order of the page."""
        return [*bound_fields(self, self.cloud), *([self["key"]] if "key" in self.fields else [])]

    def to_arguments(self) -> dict[str, Any]:
        """Returns: keyword arguments of `update_connection`."""
        names = [one.name for one in self.cloud.settings]
        sent = {name: self.data.get(self.add_initial_prefix(name)) for name in names}
        return {
            **given_account(self, self.cloud),
            "key": self.cleaned_data.get("key", ""),
            # Whoever sends no page has seen none.
            "seen": None if None in sent.values() else sent,
        }
