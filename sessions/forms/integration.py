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
    checks = forms.BooleanField(
        label=_("Check on pull requests"),
        required=False,
        help_text=_(
            "The newest commit of a pull request shows that an agent is working on it, and how "
            "that ended. On GitHub this is a check run with the token of a GitHub App (Checks: "
            "write), and a commit status with any other token (Commit statuses: write). GitLab "
            "needs the scope api, Gitea and Forgejo write:repository."
        ),
    )
    pulls = forms.BooleanField(
        label=_("Publish changes"),
        required=False,
        help_text=_(
            "When a turn ends with changes, they are committed and pushed: for an issue to a "
            "branch with a pull request that closes the issue, for a pull request to its branch. "
            "The token needs to write contents and pull requests on GitHub, the scopes api and "
            "write_repository on GitLab, and write:repository on Gitea and Forgejo."
        ),
    )
    approves = forms.BooleanField(
        label=_("Let agents approve"),
        required=False,
        help_text=_(
            "A review may approve a pull request. Otherwise, agents only comment and request "
            "changes. Reviews need no more of the token than comments do."
        ),
    )

    def __init__(
        self, data: Any = None, *, accounts: QuerySet[User], row: Integration | None = None
    ) -> None:
        known: dict[str, object] = dict(row.outside) if row else {}
        for name in ("command", "account", "checks", "pulls", "approves") if row else ():
            known[name] = getattr(row, name)
        super().__init__(data, initial=known)
        self.fields["account"].queryset = accounts  # type: ignore[attr-defined]
        self.fields["account"].label_from_instance = lambda user: user.display_name  # type: ignore[attr-defined]
