from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from sessions.integrations.setup import DEFAULT_COMMAND
from sessions.models import Integration
from teams.models import User


class IntegrationForm(forms.Form):
    """How comments reach agents, and as whom."""

    command = forms.CharField(
        label=_("Command"),
        max_length=20,
        initial=DEFAULT_COMMAND,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("A comment is for the agent when it begins with this word."),
    )
    account = forms.ModelChoiceField(
        User.objects.none(),
        label=_("People without a linked account"),
        required=False,
        empty_label=_("Tell them how to link their account"),
        help_text=_(
            "On GitHub, comments of the repository's owner, members and collaborators can run as "
            "a service account instead. Comments of others are never run."
        ),
    )

    def __init__(
        self, data: Any = None, *, accounts: QuerySet[User], row: Integration | None = None
    ) -> None:
        known = {"command": row.command, "account": row.account_id} if row else None
        super().__init__(data, initial=known)
        self.fields["account"].queryset = accounts  # type: ignore[attr-defined]
        self.fields["account"].label_from_instance = lambda user: user.display_name  # type: ignore[attr-defined]
