"""The page by which operators get into a team in an emergency."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.ops.access import operator_view
from teams.actions.break_glass import MAX_HOURS, break_glass, end_break_glass
from teams.http import UserRequest, attempt, client_ip, done, show
from teams.models import Membership, Role, Team


class EmergencyForm(forms.Form):
    """Which team, what for, how far and how long."""

    team = forms.ModelChoiceField(
        Team.objects.order_by("name"),
        label=gettext_lazy("Team"),
        empty_label=gettext_lazy("Choose a team"),
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=500,
        help_text=gettext_lazy("Everyone in the team reads it, and the audit trail keeps it."),
    )
    role = forms.ChoiceField(
        label=gettext_lazy("Access"),
        choices=[
            (Role.VIEWER.value, gettext_lazy("Read")),
            (Role.ADMIN.value, gettext_lazy("Read and write")),
        ],
        help_text=gettext_lazy(
            "To write is to work in sessions and to remove things. Settings that would outlast the "
            "access stay with the admins of the team."
        ),
    )
    hours = forms.IntegerField(
        label=gettext_lazy("Hours"), min_value=1, max_value=MAX_HOURS, initial=1
    )


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def emergency(request: UserRequest) -> HttpResponse:
    """List who is in a team this way, and get into one."""
    form = EmergencyForm(request.POST or None)
    row = attempt(
        form,
        lambda: break_glass(
            request.user,
            form.cleaned_data["team"],
            reason=form.cleaned_data["reason"],
            role=Role(form.cleaned_data["role"]),
            hours=form.cleaned_data["hours"],
            ip=client_ip(request),
        ),
    )
    if row is not None:
        said = _("You are in %(team)s until %(time)s UTC. The team sees it on every page.")
        assert row.expires_at is not None
        until = date_format(row.expires_at, "DATETIME_FORMAT")
        texts = {"team": row.team.name, "time": until}
        return done(request, said % texts, to=reverse("team_home", args=[row.team.slug]))
    rows = Membership.objects.current().filter(expires_at__isnull=False)
    context: dict[str, object] = {
        "form": form,
        "rows": rows.select_related("user", "team").order_by("expires_at"),
    }
    status = 422 if request.method == "POST" else 200
    return show(request, "ops/emergency.html", "ops/_emergency.html", context, status=status)


@require_POST
@operator_view
def emergency_end(request: UserRequest, member: int) -> HttpResponse:
    """End one before its time."""
    rows = Membership.objects.filter(expires_at__isnull=False).select_related("user", "team")
    row = get_object_or_404(rows, pk=member)
    end_break_glass(row, by=request.user, ip=client_ip(request))
    return done(request, _("The access has ended."), to=reverse("ops:emergency"))
