from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from sessions.secrets import MAX_NAME_CHARS, MAX_VALUE_BYTES

_PLAIN = {"autocomplete": "off", "spellcheck": "false", "data-1p-ignore": ""}


class _Unseen(forms.Textarea):
    def format_value(self, value: object) -> str:
        """Nothing: what was typed is not sent back."""
        del value
        return ""


class SecretForm(forms.Form):
    """A secret of a project. The value is never shown again, not even in a form that is wrong."""

    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_NAME_CHARS,
        help_text=_("Letters, digits and _. If the name exists, its value is replaced."),
        widget=forms.TextInput(attrs={**_PLAIN, "class": "mono", "placeholder": "DEPLOY_TOKEN"}),
    )
    value = forms.CharField(
        label=_("Value"),
        max_length=MAX_VALUE_BYTES,
        strip=False,
        help_text=_("At least 6 characters, in one or more lines. Stored encrypted."),
        widget=_Unseen(attrs={**_PLAIN, "rows": 3, "class": "mono"}),
    )
