from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from sessions.actions.publishing import MAX_TOKEN_CHARS
from sessions.forges.registry import NAMES

_PLAIN = {"autocomplete": "off", "spellcheck": "false", "data-1p-ignore": ""}
_URL = {**_PLAIN, "class": "mono", "inputmode": "url"}


class PublishingForm(forms.Form):
    """Where a project is published. The token is never shown again."""

    remote_url = forms.CharField(
        label=_("Repository"),
        max_length=1000,
        required=False,
        widget=forms.TextInput(attrs=_URL),
    )
    kind = forms.ChoiceField(
        label=_("Forge"),
        required=False,
        choices=[
            ("", _("Detect from host")),
            *((kind.value, name) for kind, name in NAMES.items()),
        ],
        help_text=_(
            "Needed for your own server. github.com, gitlab.com and Codeberg are detected."
        ),
    )
    api_url = forms.CharField(
        label=_("API address"),
        max_length=500,
        required=False,
        help_text=_("Only if the API does not have its usual address on the repository's host."),
        widget=forms.TextInput(attrs={**_URL, "placeholder": "https://git.example.com/api/v1"}),
    )
    token = forms.CharField(
        label=_("Access token"),
        max_length=MAX_TOKEN_CHARS,
        required=False,
        strip=True,
        help_text=_(
            "Stored encrypted and never shown again. Leave it empty to keep the stored token. "
            "It is only sent to this host, and commands of agents cannot read it."
        ),
        widget=forms.PasswordInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "data-1p-ignore": ""}
        ),
    )
    forget = forms.BooleanField(label=_("Remove the stored token"), required=False)
