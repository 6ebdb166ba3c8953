"""Have a person or a team erased for good, and the jobs so far."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import Invalid
from opencode_web.ops.access import operator_view
from sessions.actions.erasure import request_person_erasure, request_team_erasure
from sessions.forms.erasure import EraseByOperatorForm
from teams.http import UserRequest, attempt, go
from teams.models import Erasure, Team

_SHOWN = 100


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def erasures(request: UserRequest) -> HttpResponse:
    """List the jobs, and begin one."""
    form = EraseByOperatorForm(request.POST if request.method == "POST" else None)
    row = attempt(form, lambda: _request(request, **form.cleaned_data))
    if row is not None:
        return go(request, to=reverse("sessions:erasure", args=[row.pk]))
    rows = Erasure.objects.select_related("requested_by").order_by("-created_at")[:_SHOWN]
    status = 422 if request.method == "POST" else 200
    return render(request, "ops/erasures.html", {"form": form, "rows": rows}, status=status)


def _request(request: UserRequest, *, kind: str, what: str, confirm: str) -> Erasure:
    if kind == Erasure.Kind.PERSON:
        return request_person_erasure(request.user, email=what, confirm=confirm)
    team = Team.objects.filter(slug=what.strip()).first()
    if team is None:
        raise Invalid(_("There is no team with this address."), field="what")
    return request_team_erasure(request.user, team, confirm=confirm)
