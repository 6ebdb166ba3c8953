from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from opencode_web.lib.json import JsonObject
from teams.http import TeamRequest, team_view
from teams.models import AuditEntry, Role

PAGE_SIZE = 50


def _details(data: JsonObject, *, prefix: str = "") -> list[tuple[str, str]]:
    """Returns: names and values as shown, nested ones as `before.name`, without empty ones."""
    shown: list[tuple[str, str]] = []
    # PostgreSQL keeps no order of keys: what was, then what is.
    for key, value in sorted(data.items(), key=lambda item: (item[0] != "before", item[0])):
        if isinstance(value, dict):
            shown += _details(value, prefix=f"{prefix}{key}.")
        elif value not in ("", None, [], {}):
            shown.append((prefix + key, value if isinstance(value, str) else json.dumps(value)))
    return shown


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
        "entries": [(entry, _details(entry.data)) for entry in rows[:PAGE_SIZE]],
        "older": rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None,
        "is_first": not before,
    }
    return render(request, "teams/audit.html", context)
