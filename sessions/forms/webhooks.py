from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.signed_posts import MAX_RECEIVER_CHARS
from sessions.events.outbox import Happening
from sessions.models import Project, Webhook
from teams.models import Team

EVENTS = {
    Happening.IDLE.value: _("A turn has ended"),
    Happening.ERROR.value: _("A turn has failed"),
    Happening.PERMISSION.value: _("An agent requests a permission"),
    Happening.QUESTION.value: _("An agent asks a question"),
    Happening.AUDIT.value: _("An entry is added to the audit log"),
}
assert EVENTS.keys() == {one.value for one in Happening}


class ReceiverForm(forms.Form):
    """Where signed messages go."""

    url = forms.CharField(
        label=_("Address"),
        max_length=MAX_RECEIVER_CHARS,
        widget=forms.TextInput(
            attrs={"inputmode": "url", "placeholder": "https://example.com/hooks/agents"}
        ),
        help_text=_(
            "Receives POST requests with JSON. It must respond with a 2xx status within ten "
            "seconds."
        ),
    )


class WebhookForm(ReceiverForm):
    """Which address hears of what."""

    events = forms.MultipleChoiceField(
        label=_("Events"), choices=[*EVENTS.items()], widget=forms.CheckboxSelectMultiple
    )
    project = forms.ModelChoiceField(
        Project.objects.none(),
        label=_("Project"),
        required=False,
        empty_label=_("All projects of the team"),
    )

    def __init__(self, data: Any = None, *, team: Team, row: Webhook | None = None) -> None:
        initial: dict[str, Any] = {
            # The audit log has its own readers.
            "events": [name for name in EVENTS if name != Happening.AUDIT]
        }
        if row is not None:
            initial = {"url": row.url, "events": row.events, "project": row.project_id}
        super().__init__(data, initial=initial)
        projects = team.projects.exclude(status=Project.Status.FAILED).order_by("name")
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
