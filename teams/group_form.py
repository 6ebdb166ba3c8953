from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class GroupForm(forms.Form):
    """A group of people of a team."""

    name = forms.CharField(label=_("Name"), max_length=80)
    is_approver = forms.BooleanField(
        label=_("Approvers"),
        required=False,
        help_text=_("Its people can allow what the rules want a second person for."),
    )
