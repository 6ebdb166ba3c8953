from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.utils.translation import gettext_lazy as _

from sessions.models import ChangeKind


class ApprovalsForm(forms.Form):
    """Which changes of a team a second person approves."""

    merge = forms.BooleanField(
        label=_("Merges"),
        help_text=_("Merging the branch of a session, also by an agent."),
        required=False,
    )
    push = forms.BooleanField(
        label=_("Pushes and pull requests"),
        help_text=_("Pushing a branch and opening a pull request, also by an agent."),
        required=False,
    )
    secrets = forms.BooleanField(
        label=_("Secrets"),
        help_text=_(
            "Adding, replacing, sharing and removing secrets of the team and its projects."
        ),
        required=False,
    )
    rules = forms.BooleanField(
        label=_("Permission rules"),
        help_text=_(
            "Changing the rules of the team and its projects. Permissions can then only be "
            "allowed once."
        ),
        required=False,
    )
    budgets = forms.BooleanField(
        label=_("Higher budgets"),
        help_text=_(
            "Raising and removing budgets, and lowering prices of models. Lower budgets need no "
            "approval."
        ),
        required=False,
    )

    def __init__(self, data: object = None, *, kinds: Sequence[str] = ()) -> None:
        super().__init__(data, initial=dict.fromkeys(kinds, True))  # type: ignore[arg-type]

    def to_kinds(self) -> list[ChangeKind]:
        return [ChangeKind(name) for name, is_on in self.cleaned_data.items() if is_on]
