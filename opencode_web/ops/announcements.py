"""The page of announcements and maintenance."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.ops.access import operator_view
from teams.actions.announcements import Draft, end_announcement, post_announcement
from teams.announcements import planned_announcements
from teams.http import UserRequest, attempt, client_ip, done, show
from teams.models import Announcement


class AnnouncementForm(forms.Form):
    """What to tell, how, and when. Times are in UTC."""

    text = forms.CharField(
        label=gettext_lazy("Text"), max_length=500, widget=forms.Textarea({"rows": 2})
    )
    level = forms.ChoiceField(label=gettext_lazy("Level"), choices=Announcement.Level)
    starts_at = forms.DateTimeField(
        label=gettext_lazy("Start (UTC)"),
        required=False,
        help_text=gettext_lazy("Leave empty to start now."),
        widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    ends_at = forms.DateTimeField(
        label=gettext_lazy("End (UTC)"),
        required=False,
        help_text=gettext_lazy("Leave empty to end it yourself."),
        widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    stops_prompts = forms.BooleanField(
        label=gettext_lazy("Maintenance: accept no new messages"),
        required=False,
        help_text=gettext_lazy(
            "Running turns and messages that were already accepted finish. People can sign in and "
            "read."
        ),
    )


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def announcements(request: UserRequest) -> HttpResponse:
    """List what is shown or planned, and post another."""
    form = AnnouncementForm(request.POST or None)
    row = attempt(
        form,
        lambda: post_announcement(request.user, Draft(**form.cleaned_data), ip=client_ip(request)),
    )
    if row is not None:
        return done(request, _("Announcement posted."), to=reverse("ops:announcements"))
    context: dict[str, object] = {"form": form, "rows": planned_announcements()}
    status = 422 if request.method == "POST" else 200
    page, part = "ops/announcements.html", "ops/_announcements.html"
    return show(request, page, part, context, status=status)


@require_POST
@operator_view
def announcement_end(request: UserRequest, announcement: int) -> HttpResponse:
    """Show it no longer."""
    end_announcement(request.user, announcement, ip=client_ip(request))
    return done(request, _("Announcement ended."), to=reverse("ops:announcements"))
