from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from sessions.forms.fields import UNKEPT, SecretField
from sessions.forms.integration import IntegrationForm
from sessions.integrations.trackers import TrackerDraft
from sessions.models import Integration
from teams.models import User


class TrackerForm(IntegrationForm):
    """An issue tracker, and how comments there reach agents. Empty secrets stay as they are."""

    field_order = ("token", "path", "secret")

    token = SecretField(
        label=_("API key"),
        help_text=_("Comments are written as its account, so make it one of a member for agents."),
    )
    path = forms.CharField(
        label=_("Team key"),
        max_length=20,
        widget=forms.TextInput(attrs=UNKEPT),
        help_text=_("What the team's issues begin with, such as ENG for ENG-123."),
    )
    secret = SecretField(
        label=_("Signing secret"),
        help_text=_("Of the webhook, once it is made with the address that this page shows."),
    )
    pulls = forms.BooleanField(
        label=_("Publish changes"),
        required=False,
        help_text=_(
            "When a turn ends with changes, they are committed and pushed to a branch with a pull "
            "request that names the issue. The project needs an access token under Publishing."
        ),
    )

    def __init__(
        self, data: Any = None, *, accounts: QuerySet[User], row: Integration | None = None
    ) -> None:
        super().__init__(data, accounts=accounts, row=row)
        del self.fields["checks"], self.fields["approves"]
        self.fields["account"].help_text = _(
            "Comments of active members of the workspace can run as a service account instead. "
            "Comments of guests are never run."
        )

    @property
    def draft(self) -> TrackerDraft:
        given = dict(self.cleaned_data)
        account = given.pop("account")
        return TrackerDraft(**given, account_id=account.pk if account else None)
