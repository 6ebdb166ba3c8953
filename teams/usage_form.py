from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.errors import Forbidden
from teams.access import TeamAccess
from teams.usage import MAX_DAYS, Asked

MONTH = "month"
RANGES = (
    ("7", gettext_lazy("7 days")),
    ("30", gettext_lazy("30 days")),
    ("90", gettext_lazy("90 days")),
    (MONTH, gettext_lazy("This month")),
)
USUAL = "30"
_DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
# Around them days can still be counted.
_SANE = (MinValueValidator(date(1970, 1, 1)), MaxValueValidator(date(2999, 12, 31)))


class UsageForm(forms.Form):
    """What of the usage is asked for. Days of one's own go before a range."""

    range = forms.ChoiceField(choices=RANGES, required=False, widget=forms.HiddenInput)
    since = forms.DateField(
        label=gettext_lazy("From"), required=False, widget=_DAY, validators=_SANE
    )
    until = forms.DateField(label=gettext_lazy("To"), required=False, widget=_DAY, validators=_SANE)
    member = forms.IntegerField(
        required=False, min_value=0, max_value=2**31, widget=forms.HiddenInput
    )
    model = forms.CharField(required=False, max_length=400, widget=forms.HiddenInput)
    project = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if not self.errors:
            since, until = _days(data)
            if until < since:
                self.add_error("until", _("This is before the start date."))
            elif (until - since).days >= MAX_DAYS:
                said = _("Choose at most %(days)s days.") % {"days": MAX_DAYS}
                self.add_error("since", said)
        return data

    def asked(self, access: TeamAccess) -> Asked:
        """What a valid form asks for; who sees no spending of others is shown their own.

        Raises: Forbidden when they ask for somebody else.
        """
        data = self.cleaned_data
        member = data["member"]
        if not access.sees_spending:
            if member not in (None, access.user.pk):
                raise Forbidden(_("Only admins and billing contacts can see what others use."))
            member = access.user.pk
        since, until = _days(data)
        return Asked(since, until, member, data["model"], data["project"])


def _days(data: dict[str, Any]) -> tuple[date, date]:
    today = timezone.now().date()
    until = data["until"] or max(today, data["since"] or today)
    if data["since"]:
        return data["since"], until
    name = data["range"] or USUAL
    if name == MONTH and not data["until"]:
        return today.replace(day=1), today
    count = int(name) if name != MONTH else int(USUAL)
    return until - timedelta(days=count - 1), until
