from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from teams.models import Erasure, Team


class EraseForm(forms.Form):
    """What an owner has erased: the team or one of its projects, by their choice."""

    what = forms.ChoiceField(label=_("What to erase"))
    confirm = forms.CharField(
        label=_("Name"),
        max_length=300,
        help_text=_("Type the name of the project, or the address of the team."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, data: Any = None, *, team: Team) -> None:  # Django's own shape
        super().__init__(data)
        projects = team.projects.order_by("name", "pk").values_list("pk", "name")
        whole = ("", _("The whole team"))
        self.fields["what"].choices = [*projects, whole]  # type: ignore[attr-defined]
        self.fields["what"].required = False


class EraseByOperatorForm(forms.Form):
    """What an operator has erased."""

    kind = forms.ChoiceField(
        label=_("What to erase"),
        choices=[
            (Erasure.Kind.PERSON.value, Erasure.Kind.PERSON.label),
            (Erasure.Kind.TEAM.value, Erasure.Kind.TEAM.label),
        ],
    )
    what = forms.CharField(
        label=_("Address"),
        max_length=300,
        help_text=_("The e-mail address of the person, or the address of the team."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    confirm = forms.CharField(
        label=_("Address, again"),
        max_length=300,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
