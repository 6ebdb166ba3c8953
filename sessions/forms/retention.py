from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from teams.models import LegalHold, Team
from teams.retention.days import MAX_DAYS, Days


class _DaysField(forms.IntegerField):
    def __init__(self, **more: Any) -> None:  # Django's own shape
        super().__init__(min_value=1, max_value=MAX_DAYS, required=False, **more)


class RetentionForm(forms.Form):
    """Days; an empty field is for as long as nobody deletes it."""

    sessions = _DaysField(
        label=_("Sessions"),
        help_text=_("Days since a session or one of its sub-agents was active."),
    )
    outputs = _DaysField(
        label=_("Large tool outputs"),
        help_text=_("Days to keep the file with the whole output. What the model received stays."),
    )
    audit = _DaysField(label=_("Audit log"), help_text=_("Days since an entry was written."))

    def __init__(self, data: Any = None, *, days: Days) -> None:  # Django's own shape
        super().__init__(
            data,
            initial={"sessions": days.sessions, "outputs": days.outputs, "audit": days.audit},
        )

    def to_days(self) -> Days:
        """Returns: what a valid form says."""
        return Days(**self.cleaned_data)


class HoldForm(forms.Form):
    """What is to be held. Operators choose the team as well."""

    team = forms.ModelChoiceField(
        Team.objects.order_by("name", "pk"),
        label=_("Team"),
        required=False,
        empty_label=_("All teams"),
        help_text=_("Required for a team and for a session."),
    )
    scope = forms.ChoiceField(label=_("What to hold"), choices=LegalHold.Scope.choices)
    what = forms.CharField(
        label=_("Session or person"),
        required=False,
        max_length=1000,
        help_text=_(
            "The ID or link of a session, or the e-mail address of a person. Leave it empty for "
            "the whole team."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=500,
        help_text=_("Shown to anyone who tries to delete it, and kept in the audit log."),
    )

    def __init__(self, data: Any = None, *, of_server: bool = False) -> None:  # Django's own shape
        super().__init__(data)
        if not of_server:
            del self.fields["team"]
