from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from teams.http import TeamRequest, team_view
from teams.rights import RIGHTS, ROLES


@require_GET
@team_view(need=None)
def roles(request: TeamRequest) -> HttpResponse:
    context = {"roles": ROLES, "rights": RIGHTS, "mine": request.access.role}
    return render(request, "teams/roles.html", context)
