from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class GroupForm(forms.Form):
    """A group of people of a team."""

    name = forms.CharField(label=_("Name"), max_length=80)
    is_approver = forms.BooleanField(
        label=_("Approvers"),
        required=False,
        help_text=_(
            "Its people allow calls of agents that need a second person, and decide on requests "
            "under Approvals."
        ),
    )
