from __future__ import annotations

import json
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from opencode_web.lib.json import JsonObject
from teams.http import TeamRequest, team_view
from teams.models import AuditEntry, Role, Team, User

PAGE_SIZE = 50
# Names of models that people would not know.
_KINDS = {"apitoken": "API token", "providerconfig": "provider", "savedrule": "rule"}

Details = list[tuple[str, str]]


@dataclass(frozen=True)
class Target:
    """What an entry is about, in words."""

    kind: str
    name: str


def _details(data: JsonObject, *, prefix: str = "") -> Details:
    """Returns: names and values as shown, nested ones as `before.name`, without empty ones."""
    shown: Details = []
    # PostgreSQL keeps no order of keys: what was, then what is.
    for key, value in sorted(data.items(), key=lambda item: (item[0] != "before", item[0])):
        if isinstance(value, dict):
            shown += _details(value, prefix=f"{prefix}{key}.")
        elif value not in ("", None, [], {}):
            shown.append((prefix + key, value if isinstance(value, str) else json.dumps(value)))
    return shown


def _shown(team: Team, entries: list[AuditEntry]) -> list[tuple[AuditEntry, Target, Details]]:
    ids = [int(row.target_id) for row in entries if row.target_type == "user"]
    people = {str(user.pk): user.email for user in User.objects.filter(pk__in=ids)}
    return [(entry, _target(team, entry, people), _details(entry.data)) for entry in entries]


def _target(team: Team, entry: AuditEntry, people: dict[str, str]) -> Target:
    """What is gone has no name but the one that the entry has kept."""
    name = people.get(entry.target_id, "") if entry.target_type == "user" else ""
    if entry.target_type == "team" and entry.target_id == str(team.pk):
        name = team.name
    kept = entry.data.get("name") or entry.data.get("provider") or entry.data.get("email")
    if not name and isinstance(kept, str):
        name = kept
    return Target(_KINDS.get(entry.target_type, entry.target_type), name or entry.target_id)


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
        "entries": _shown(request.team, rows[:PAGE_SIZE]),
        "older": rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None,
        "is_first": not before,
    }
    return render(request, "teams/audit.html", context)
