from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from sessions.forms.fields import agent_field, model_field
from sessions.integrations.rules import (
    DEFAULT_PER_HOUR,
    MAX_PER_HOUR,
    TRACKER_AUDIENCE,
    RuleDraft,
    triggers_of,
)
from sessions.integrations.templates import MAX_PROMPT_CHARS, NAMES
from sessions.models import Integration, IntegrationRule
from teams.models import User

_FIELDS = (
    *("trigger", "label", "prompt", "agent", "model", "audience", "takes_forks", "takes_bots"),
    *("cost_limit", "per_hour", "is_enabled"),
)


class IntegrationRuleForm(forms.Form):
    """What outside starts a session, and how."""

    trigger = forms.ChoiceField(label=_("Trigger"))
    label = forms.CharField(
        label=_("Label"), max_length=100, required=False, help_text=_("For “Issue labeled”.")
    )
    prompt = forms.CharField(
        label=_("Prompt"),
        max_length=MAX_PROMPT_CHARS,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    agent, model = agent_field(), model_field()
    audience = forms.ChoiceField(
        label=_("Who may start it"),
        choices=IntegrationRule.Audience.choices,
        help_text=_(
            "Sessions that a stranger starts only read files. They have no commands, no network "
            "and no secrets of the project."
        ),
    )
    account = forms.ModelChoiceField(
        User.objects.none(),
        label=_("Service account"),
        required=False,
        empty_label=_("None"),
        help_text=_("Sessions of people without a linked account run with its rights."),
    )
    cost_limit = forms.DecimalField(
        label=_("Cost limit of a session in USD"),
        max_digits=10,
        decimal_places=2,
        required=False,
    )
    per_hour = forms.IntegerField(
        label=_("Starts per hour"), min_value=1, max_value=MAX_PER_HOUR, initial=DEFAULT_PER_HOUR
    )
    takes_forks = forms.BooleanField(
        label=_("Include pull requests from forks, read-only"), required=False
    )
    takes_bots = forms.BooleanField(label=_("Include what bots do"), required=False)
    is_enabled = forms.BooleanField(label=_("Enabled"), required=False, initial=True)

    def __init__(
        self,
        data: Any = None,
        *,
        accounts: QuerySet[User],
        of: Integration,
        row: IntegrationRule | None = None,
    ) -> None:
        known: dict[str, object] = {}
        if row is not None:
            known = {name: getattr(row, name) for name in _FIELDS}
            known["account"] = row.account_id
        super().__init__(data, initial=known)
        self.fields["prompt"].help_text = _("Names that are filled in: {names}.").format(
            names=", ".join(f"{{{one}}}" for one in NAMES)
        )
        self.fields["trigger"].choices = list(triggers_of(of).items())  # type: ignore[attr-defined]
        if of.is_tracker:
            self.fields["audience"].choices = list(TRACKER_AUDIENCE.items())  # type: ignore[attr-defined]
            del self.fields["takes_forks"]
        self.fields["account"].queryset = accounts  # type: ignore[attr-defined]
        self.fields["account"].label_from_instance = lambda user: user.display_name  # type: ignore[attr-defined]

    @property
    def draft(self) -> RuleDraft:
        account = self.cleaned_data["account"]
        given = {name: self.cleaned_data[name] for name in _FIELDS if name in self.fields}
        return RuleDraft(**given, account_id=account.pk if account else None)
