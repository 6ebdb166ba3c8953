"""The forms of an identity provider and of its rules."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.validators import DomainNameValidator
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.errors import Invalid
from opencode_web.lib.outbound_policy import is_listed
from teams.identity.discovery import check_issuer, read_metadata
from teams.identity.providers import ISSUERS, Kind, is_openid
from teams.models import DOMAIN_CLAIM, IdentityProvider, IdentityRule, Role, Team

_PORTS = {"https": 443, "http": 80}


class ProviderForm(forms.Form):
    """A provider; what its kind does not have is left out."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=60,
        help_text=gettext_lazy("Shown on the sign-in button."),
    )
    slug = forms.SlugField(
        label=gettext_lazy("Identifier"),
        max_length=40,
        required=False,
        help_text=gettext_lazy("Part of the redirect address. Cannot be changed later."),
    )
    server_url = forms.URLField(
        label=gettext_lazy("Issuer"),
        max_length=500,
        assume_scheme="https",
        help_text=gettext_lazy(
            "The address of the server, without /.well-known/openid-configuration. Cannot be "
            "changed later."
        ),
    )
    client_id = forms.CharField(label=gettext_lazy("Client ID"), max_length=200)
    secret = forms.CharField(
        label=gettext_lazy("Client secret"),
        max_length=2000,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("Stored encrypted. Leave empty to keep the current one."),
    )
    metadata = forms.CharField(
        label=gettext_lazy("Metadata"),
        max_length=200_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text=gettext_lazy("The XML of the identity provider, or its address."),
    )
    domains = forms.CharField(
        label=gettext_lazy("E-mail domains"),
        max_length=2000,
        required=False,
        help_text=gettext_lazy(
            "Separated by commas. People with a confirmed address in these domains are connected "
            "to their account by it."
        ),
    )
    trusts_email = forms.BooleanField(
        label=gettext_lazy("Treat addresses in these domains as confirmed"),
        required=False,
        help_text=gettext_lazy(
            "For a provider that does not say so itself. Only if people cannot choose their "
            "address there."
        ),
    )
    allows_signup = forms.BooleanField(
        label=gettext_lazy("Create accounts for people in these domains"), required=False
    )
    counts_as_mfa = forms.BooleanField(
        label=gettext_lazy("Counts as multi-factor authentication"),
        required=False,
        help_text=gettext_lazy("If the provider asks everyone for a second factor."),
    )
    is_enabled = forms.BooleanField(label=gettext_lazy("Enabled"), required=False)

    def __init__(self, row: IdentityProvider, data: Any = None) -> None:  # as the base class
        names = ("name", "server_url", "client_id", "trusts_email", "allows_signup")
        initial = {name: getattr(row, name) for name in (*names, "counts_as_mfa", "is_enabled")}
        initial["domains"] = ", ".join(row.domains)
        initial["server_url"] = row.server_url or ISSUERS.get(Kind(row.kind), "")
        super().__init__(data, initial=initial)
        self._row = row
        kind = row.kind
        unused = set() if row.pk is None else {"slug", "server_url"}
        unused |= set() if kind == Kind.SAML else {"metadata"}
        unused |= {"client_id", "secret"} if kind == Kind.SAML else set()
        unused |= set() if is_openid(kind) else {"server_url"}
        for name in unused:
            del self.fields[name]
        if kind == Kind.GITLAB:
            self.fields["client_id"].help_text = _(
                "The application at GitLab needs the scopes openid, profile and email."
            )

    def clean_server_url(self) -> str:
        """Raises: ValidationError."""
        url = str(self.cleaned_data["server_url"]).rstrip("/")
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
        # The client secret goes there.
        if parts.scheme != "https" and not is_listed(parts.hostname or "", port):
            raise forms.ValidationError(_("Enter an address that begins with https://."))
        try:
            check_issuer(url)
        except Invalid as exc:
            raise forms.ValidationError(exc.message) from exc
        return url

    def clean_metadata(self) -> Any:
        """Returns: what it says. Raises: ValidationError."""
        text = self.cleaned_data["metadata"]
        if not text and self._row.metadata:
            return self._row.metadata
        try:
            return read_metadata(text)
        except Invalid as exc:
            raise forms.ValidationError(exc.message) from exc

    def clean_domains(self) -> list[str]:
        """Raises: ValidationError."""
        names = self.cleaned_data["domains"].replace(",", " ").lower().split()
        for name in names:
            DomainNameValidator()(name)
        return sorted(set(names))

    def clean(self) -> dict[str, Any]:
        """Name a provider that has no identifier yet after itself."""
        data: dict[str, Any] = super().clean() or {}
        if "slug" in self.fields:
            data["slug"] = data.get("slug") or slugify(data.get("name", ""))[:40].strip("-")
            if not data["slug"] and "name" in data:
                self.add_error("slug", _("Enter an identifier."))
        wants_domain = data.get("allows_signup") or data.get("trusts_email")
        if wants_domain and not data.get("domains") and "domains" in data:
            self.add_error("domains", _("Enter the domains that this is for."))
        return data


def to_provider(row: IdentityProvider, data: dict[str, Any]) -> IdentityProvider:
    """Returns: the row with what the form says, not stored yet."""
    for name, value in data.items():
        if name != "secret":
            setattr(row, name, value)
    return row


class RuleForm(forms.Form):
    """Who gets which role in which team."""

    claim = forms.CharField(
        label=gettext_lazy("Claim"),
        max_length=200,
        initial="groups",
        help_text=gettext_lazy(
            "The name of a claim or SAML attribute, such as groups or realm_access.roles. Enter "
            "“domain” for the domain of the e-mail address."
        ),
    )
    value = forms.CharField(label=gettext_lazy("Value"), max_length=300)
    team = forms.ModelChoiceField(
        Team.objects.order_by("name", "pk"), label=gettext_lazy("Team"), empty_label=None
    )
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Role.choices, initial=Role.MEMBER)

    def to_rule(self, row: IdentityProvider) -> IdentityRule:
        """Returns: the rule of a valid form, not stored yet."""
        rule = IdentityRule(provider=row, **self.cleaned_data)
        if rule.claim == DOMAIN_CLAIM:
            rule.value = rule.value.lower().removeprefix("@")
        return rule
