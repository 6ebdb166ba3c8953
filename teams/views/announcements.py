from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from teams.announcements import HIDDEN, MAX_HIDDEN
from teams.http import UserRequest, user_view


@require_POST
@user_view
def announcement_hide(request: UserRequest, *, announcement: int) -> HttpResponse:
    """Hide it in this browser."""
    hidden = [*request.session.get(HIDDEN, []), announcement]
    request.session[HIDDEN] = hidden[-MAX_HIDDEN:]
    if request.htmx:
        return HttpResponse()
    return redirect("home")
