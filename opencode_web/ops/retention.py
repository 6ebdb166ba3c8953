"""The most that teams keep, what each of them has chosen, and all legal holds."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.ops.access import operator_view
from sessions.actions.holds import hold_named
from sessions.forms.retention import HoldForm, RetentionForm
from sessions.present.pages.retention import load_holds
from teams.actions.holds import release_hold
from teams.actions.retention import set_retention_limit
from teams.http import UserRequest, attempt, done
from teams.models import Team
from teams.retention.days import all_days_in_force, server_limit


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def retention(request: UserRequest) -> HttpResponse:
    """Read the limits, or set them."""
    form = RetentionForm(request.POST or None, days=server_limit())
    if request.method == "GET":
        return _page(request, form)

    def act() -> bool:
        set_retention_limit(request.user, form.to_days())
        return True

    if not attempt(form, act):
        return _page(request, form, status=422)
    said = _("Saved. Older data of all teams is removed within an hour.")
    return done(request, said, to=reverse("ops:retention"))


@require_POST
@operator_view
def hold(request: UserRequest) -> HttpResponse:
    """Set a legal hold in any team."""
    form = HoldForm(request.POST, of_server=True)
    if attempt(form, lambda: hold_named(request.user, **form.cleaned_data)) is None:
        return _page(request, RetentionForm(days=server_limit()), form, status=422)
    return done(request, _("The legal hold is set."), to=reverse("ops:retention"))


@require_POST
@operator_view
def hold_release(request: UserRequest, hold: str) -> HttpResponse:
    """Release any legal hold."""
    release_hold(request.user, hold)
    return done(request, _("The legal hold is released."), to=reverse("ops:retention"))


def _page(
    request: UserRequest,
    form: RetentionForm,
    hold_form: HoldForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    days = all_days_in_force()
    context = {
        "form": form,
        "teams": [(team, days[team.pk]) for team in Team.objects.order_by("name", "pk")],
        "holds": load_holds(None, may_release=True),
        "hold_form": hold_form or HoldForm(of_server=True),
        "hold_url": reverse("ops:hold"),
    }
    return render(request, "ops/retention.html", context, status=status)
