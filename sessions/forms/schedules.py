from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from sessions.actions.prompts import MAX_TEXT_CHARS
from sessions.actions.schedules import MAX_NAME_CHARS, ScheduleDraft
from sessions.cron_times import zone_names
from sessions.models import Schedule

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
    cron = forms.CharField(
        label=_("When"),
        max_length=120,
        widget=forms.TextInput(
            attrs={"placeholder": "30 6 * * 1-5", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text=_(
            "Minute, hour, day of the month, month, day of the week. “30 6 * * 1-5” is 6:30 am "
            "from Monday to Friday."
        ),
    )
    timezone = forms.ChoiceField(label=_("Time zone"), initial="UTC")
    agent = forms.CharField(
        label=_("Agent"),
        max_length=60,
        required=False,
        help_text=_("Leave it empty for the project's default."),
    )
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        required=False,
        help_text=_("provider/model. Leave it empty for the project's default."),
    )

    def __init__(self, data: Any = None, *, row: Schedule | None = None) -> None:
        known = {name: getattr(row, name) for name in _FIELDS} if row else {}
        super().__init__(data, initial=known)
        zones = sorted(zone_names(), key=lambda name: (name != "UTC", name))
        self.fields["timezone"].choices = [(name, name) for name in zones]  # type: ignore[attr-defined]

    @property
    def draft(self) -> ScheduleDraft:
        return ScheduleDraft(**self.cleaned_data)
