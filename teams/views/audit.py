from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from teams.http import TeamRequest, team_view
from teams.models import AuditEntry, Role

PAGE_SIZE = 50


@require_GET
@team_view(need=Role.ADMIN)
def audit(request: TeamRequest) -> HttpResponse:
    entries = AuditEntry.objects.filter(team=request.team).order_by("-id")
    before = request.GET.get("before", "")
    # A cursor, not a page number: new entries must not move old ones to the next page.
    if before.isdecimal() and len(before) < 19:
        entries = entries.filter(pk__lt=int(before))
    rows = list(entries[: PAGE_SIZE + 1])
    context: dict[str, object] = {
        "team": request.team,
        "entries": rows[:PAGE_SIZE],
        "older": rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None,
        "is_first": not before,
    }
    return render(request, "teams/audit.html", context)
