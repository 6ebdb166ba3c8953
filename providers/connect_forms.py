"""Forms that connect a provider: one of the catalog, or a server of one's own."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from providers.account_settings import account_settings
from providers.catalog import KnownProvider
from providers.cloud_forms import KeyField, add_faults, add_fields, bound_fields, given_account
from providers.clouds import Cloud, missing_settings
from providers.effective import needs_key
from providers.forms import address_field
from providers.kinds import ProviderKind
from providers.llm.sign_in import Grant, Method, methods_of, sign_in_of
from providers.llm.sign_in.errors import BadInput
from providers.llm.sign_in.methods import MISSING
from providers.sign_in_forms import prompt_field
from providers.sign_ins import key_grant


class AccountForm(forms.Form):
    """The key or the cloud account of a provider of the catalog.

    `takes_address`: whether it may be reached through a gateway. `is_of_instance`: whether it may
    act as what this server itself is.
    """

    key = KeyField(
        label=_("API key"),
        required=False,
        help_text=_("Stored encrypted and never shown again."),
    )

    def __init__(
        self, data: Any = None, *, known: KnownProvider, takes_address: bool, is_of_instance: bool
    ) -> None:
        super().__init__(data)
        cloud = account_settings(known.id, known.npm)
        self.known = known
        self.cloud = cloud.without_host() if cloud and not is_of_instance else cloud
        self.fields["key"].depends = True  # type: ignore[attr-defined]  # for its template
        if self.cloud is not None:
            add_fields(self, self.cloud)
            if not self.cloud.takes_key:
                del self.fields["key"]
        self.asked = _asked_with_key(known.id) if self.cloud is None else None
        for prompt in self.asked.prompts if self.asked else ():
            self.fields[prompt.key] = prompt_field(prompt)
        if takes_address and self.asked is None:
            self.fields["base_url"] = address_field(
                required=False,
                help_text=_("Only needed with a gateway. Otherwise, leave it empty."),
            )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if self.cloud is not None:
            add_faults(self, self.cloud)
            self._check_whole(self.cloud, data)
        elif self.asked is not None:
            self._check_answers(self.asked, data)
        if (
            self.cloud is None
            and self._needs_key()
            and not data.get("key")
            and "key" not in self.errors
        ):
            self.add_error("key", _("Paste the key of your account."))
        return data

    def _check_whole(self, cloud: Cloud, data: dict[str, Any]) -> None:
        """What is left out here would only be found out by a call."""
        given = given_account(self, cloud)
        for name in missing_settings(cloud, given["connection"], data.get("base_url", "")):
            if name not in self.errors:
                self.add_error(name, gettext(MISSING))
        if not data.get("key") and not any(given["secrets"].values()) and not self.errors:
            self.add_error(None, _("Enter the account's key, or the secrets that replace it."))

    def _check_answers(self, method: Method, data: dict[str, Any]) -> None:
        try:
            method.checked({name: str(data.get(name, "")) for name in self.fields})
        except BadInput as exc:
            for name, fault in exc.faults.items():
                self.add_error(name, gettext(fault))

    def _needs_key(self) -> bool:
        # A program on the same machine wants none, whatever the catalog names for it.
        is_local = self.known.base_url.startswith("http://")
        return needs_key(self.known.npm) or bool(self.known.env and not is_local)

    @property
    def rows(self) -> list[forms.BoundField]:
        """Its fields but the address, in the order of the page."""
        asked = [self[one.key] for one in self.asked.prompts] if self.asked else []
        cloud = bound_fields(self, self.cloud) if self.cloud else asked
        return [*cloud, *([self["key"]] if "key" in self.fields else [])]

    def to_arguments(self) -> dict[str, Any]:
        """Returns: keyword arguments of `create_provider`."""
        data = self.cleaned_data
        return {
            "kind": self.known.kind,
            "provider_id": self.known.id,
            "name": self.known.name,
            "base_url": data.get("base_url") or self.known.base_url,
            "key": data.get("key", ""),
            **(given_account(self, self.cloud) if self.cloud else {}),
        }

    def to_grant(self) -> Grant | None:
        """Returns: what the key becomes; None where it is itself what calls are made with.

        Raises: Invalid.
        """
        data, sign_in = self.cleaned_data, sign_in_of(self.known.id)
        if self.cloud is not None or sign_in is None:
            return None
        if self.asked is None:
            return key_grant(self.known.id, data["key"], {})
        answers = {one.key: str(data.get(one.key, "")) for one in self.asked.prompts}
        return sign_in.with_key(self.asked.id, answers, data["key"])


def _asked_with_key(provider_id: str) -> Method | None:
    """Returns: the method of a provider whose key is not enough to reach an account."""
    methods = (one for one in methods_of(provider_id) if one.kind == "key" and one.prompts)
    return next(methods, None)


class ServerForm(forms.Form):
    """A server that speaks Chat Completions, by its address."""

    base_url = address_field(help_text=_("The address before /chat/completions and /models."))
    key = KeyField(required=False, help_text=_("If the server requires one. Stored encrypted."))
    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        required=False,
        help_text=_("The display name. Defaults to the host of the address."),
    )

    def to_arguments(self) -> dict[str, Any]:
        """Returns: keyword arguments of `create_provider`."""
        data = self.cleaned_data
        # The action judges the address; here it only lends its name.
        host = urlsplit(data["base_url"]).netloc.rpartition("@")[2]
        return {
            "kind": ProviderKind.COMPATIBLE,
            "name": data["name"] or host,
            "base_url": data["base_url"],
            "key": data["key"],
        }
