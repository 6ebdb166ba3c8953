from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from sessions.forms.fields import UNKEPT, SecretField
from sessions.models import Project


class SlackForm(forms.Form):
    """The tokens of the Slack app; empty for what is to stay as it is."""

    bot_token = SecretField(
        label=_("Bot token"),
        help_text=_("Under OAuth & Permissions, once the app is installed. It begins with xoxb-."),
    )
    app_token = SecretField(
        label=_("App token"),
        help_text=_(
            "For Socket Mode, which needs no address that Slack can reach. Under Basic "
            "Information, with the scope connections:write. It begins with xapp-."
        ),
    )
    secret = SecretField(
        label=_("Signing secret"),
        help_text=_("Instead of an app token, where Slack can reach this server."),
    )


class ChannelForm(forms.Form):
    """Where agents may be talked to, and about what."""

    channel = forms.CharField(
        label=_("Channel ID"),
        max_length=40,
        required=False,
        widget=forms.TextInput(attrs=UNKEPT),
        help_text=_(
            "In Slack at the end of the channel's details, such as C0123456789. Leave it empty for "
            "direct messages."
        ),
    )
    project = forms.ModelChoiceField(Project.objects.none(), label=_("Project"), empty_label=None)

    def __init__(self, data: Any = None, *, projects: QuerySet[Project]) -> None:
        super().__init__(data)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
