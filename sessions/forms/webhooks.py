from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from sessions.actions.webhooks import MAX_URL_CHARS
from sessions.events.outbox import Happening
from sessions.models import Project, Webhook
from teams.models import Team

_CHOICES = [
    (Happening.IDLE.value, _("A session has ended its turn")),
    (Happening.ERROR.value, _("A session has failed")),
    (Happening.PERMISSION.value, _("A permission is asked for")),
    (Happening.QUESTION.value, _("An agent has a question")),
]
assert {name for name, _ in _CHOICES} == {one.value for one in Happening}


class WebhookForm(forms.Form):
    """Which address hears of what."""

    url = forms.CharField(
        label=_("Address"),
        max_length=MAX_URL_CHARS,
        widget=forms.TextInput(
            attrs={"inputmode": "url", "placeholder": "https://example.com/hooks/agents"}
        ),
        help_text=_("It gets a POST with JSON, and has ten seconds to answer with a 2xx status."),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"), choices=_CHOICES, widget=forms.CheckboxSelectMultiple
    )
    project = forms.ModelChoiceField(
        Project.objects.none(),
        label=_("Project"),
        required=False,
        empty_label=_("Every project of the team"),
    )

    def __init__(self, data: Any = None, *, team: Team, row: Webhook | None = None) -> None:
        initial: dict[str, Any] = {"events": [name for name, _label in _CHOICES]}
        if row is not None:
            initial = {"url": row.url, "events": row.events, "project": row.project_id}
        super().__init__(data, initial=initial)
        self.fields["project"].queryset = team.projects.order_by("name")  # type: ignore[attr-defined]
