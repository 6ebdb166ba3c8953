from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from sessions.actions.prompts import MAX_TEXT_CHARS
from sessions.actions.schedules import MAX_NAME_CHARS, ScheduleDraft
from sessions.cron_times import DAYS, cron_of, weekly_of, zone_names
from sessions.forms.fields import agent_field, model_field
from sessions.models import Schedule

_DAYS = [
    ("1", _("Monday")),
    ("2", _("Tuesday")),
    ("3", _("Wednesday")),
    ("4", _("Thursday")),
    ("5", _("Friday")),
    ("6", _("Saturday")),
    ("0", _("Sunday")),
]
_FIELDS = ("name", "prompt", "cron", "timezone", "agent", "model")


class ScheduleForm(forms.Form):
    """What to send, and when."""

    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_NAME_CHARS,
        help_text=_("Used as the title of its sessions."),
    )
    prompt = forms.CharField(
        label=_("Prompt"),
        max_length=MAX_TEXT_CHARS,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_("A command such as “/review” also works."),
    )
    days = forms.MultipleChoiceField(
        label=_("Days"),
        choices=_DAYS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        initial=list(DAYS[:5]),
    )
    time = forms.TimeField(
        label=_("Time of day"),
        required=False,
        input_formats=["%H:%M"],
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        initial="06:30",
    )
    cron = forms.CharField(
        label=_("Cron expression"),
        max_length=120,
        required=False,
        widget=forms.TextInput(
            attrs={"placeholder": "0 6 1 * *", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text=_(
            "Replaces the days and the time: minute, hour, day of the month, month, day of the "
            "week. “0 6 1 * *” is 6 am on the first of each month."
        ),
    )
    timezone = forms.ChoiceField(label=_("Time zone"), initial="UTC")
    agent, model = agent_field(), model_field()

    def __init__(self, data: Any = None, *, row: Schedule | None = None) -> None:
        known = {name: getattr(row, name) for name in _FIELDS} if row else {}
        weekly = weekly_of(row.cron) if row else None
        if weekly:
            known |= {"days": weekly[0], "time": weekly[1], "cron": ""}
        elif row:
            known |= {"days": [], "time": ""}
        super().__init__(data, initial=known)
        # Not where there is an expression.
        self.fields["time"].depends = True  # type: ignore[attr-defined]  # `_field.html` reads it
        if row is None and data is None:
            # Nobody has chosen one yet.
            self.fields["timezone"].widget.attrs["data-own-zone"] = ""
        zones = sorted(zone_names(), key=lambda name: (name != "UTC", name))
        self.fields["timezone"].choices = [(name, name) for name in zones]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Raises: ValidationError without any time."""
        data: dict[str, Any] = super().clean() or {}
        days, time = data.pop("days", []), data.pop("time", None)
        if data.get("cron") or self.errors:
            return data
        if not days:
            self.add_error("days", gettext("Choose at least one day."))
        elif time is None:
            self.add_error("time", gettext("Enter a time."))
        else:
            data["cron"] = cron_of(days, f"{time:%H:%M}")
        return data

    @property
    def draft(self) -> ScheduleDraft:
        return ScheduleDraft(**self.cleaned_data)
