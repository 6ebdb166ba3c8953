from __future__ import annotations

from typing import Any

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
    """A secret. The value is never shown again, not even in a form that is wrong."""

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


class TeamSecretForm(SecretForm):
    """A secret of all projects of a team, or of some."""

    reach = forms.ChoiceField(
        label=_("Available to"),
        choices=[("all", _("All projects, also new ones")), ("some", _("Only these projects"))],
        initial="all",
        widget=forms.RadioSelect,
    )
    projects = forms.MultipleChoiceField(
        label=_("Projects"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: Any = None, *, projects: list[tuple[str, str]]) -> None:
        super().__init__(data)
        field = self.fields["projects"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = projects
        field.depends = True  # type: ignore[attr-defined]  # read by the template

    def to_arguments(self) -> dict[str, Any]:
        """Returns: what `set_team_secret` takes."""
        given = self.cleaned_data
        chosen = given["projects"] if given["reach"] == "some" else None
        return {"name": given["name"], "value": given["value"], "projects": chosen}
