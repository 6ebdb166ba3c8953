from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.csv_text import csv_download
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from teams.audit_trail import NONE, csv_of, find_entries, page_of
from teams.forms import AuditForm
from teams.http import TeamRequest, team_view
from teams.models import AuditEntry, Role, Team, User

# Names of models that people would not know.
_KINDS = {
    "apitoken": gettext_noop("API token"),
    "providerconfig": gettext_noop("provider"),
    "savedrule": gettext_noop("rule"),
    "serverprocess": gettext_noop("process"),
    "teamfolder": gettext_noop("folder"),
}

Details = list[tuple[str, str]]


@dataclass(frozen=True)
class Target:
    """What an entry is about, in words."""

    kind: str
    name: str


def details_of(data: JsonObject, *, prefix: str = "") -> Details:
    """Returns: names and values as shown, nested ones as `before.name`, without empty ones."""
    shown: Details = []
    # PostgreSQL keeps no order of keys: what was, then what is.
    for key, value in sorted(data.items(), key=lambda item: (item[0] != "before", item[0])):
        if isinstance(value, dict):
            shown += details_of(value, prefix=f"{prefix}{key}.")
        elif value not in ("", None, [], {}):
            shown.append((prefix + key, value if isinstance(value, str) else json.dumps(value)))
    return shown


def _shown(team: Team, entries: list[AuditEntry]) -> list[tuple[AuditEntry, Target, Details]]:
    ids = [int(row.target_id) for row in entries if row.target_type == "user"]
    people = {str(user.pk): user.email for user in User.objects.filter(pk__in=ids)}
    return [(entry, _target(team, entry, people), details_of(entry.data)) for entry in entries]


def _target(team: Team, entry: AuditEntry, people: dict[str, str]) -> Target:
    """What is gone has no name but the one that the entry has kept."""
    name = people.get(entry.target_id, "") if entry.target_type == "user" else ""
    if entry.target_type == "team" and entry.target_id == str(team.pk):
        name = team.name
    kept = entry.data.get("name") or entry.data.get("provider") or entry.data.get("email")
    if not name and isinstance(kept, str):
        name = kept
    return Target(kind_of(entry), name or entry.target_id)


def kind_of(entry: AuditEntry) -> str:
    """Returns: what people call that which the entry is about."""
    return _(_KINDS[entry.target_type]) if entry.target_type in _KINDS else entry.target_type


@require_GET
@team_view(need=Role.ADMIN)
def audit(request: TeamRequest) -> HttpResponse:
    form = AuditForm(request.GET)
    is_valid = form.is_valid()
    entries = find_entries(request.team, form.cleaned_data) if is_valid else NONE
    page = page_of(entries, request.GET.get("before", ""))
    asked = {name: request.GET[name] for name in form.fields if request.GET.get(name)}
    context: dict[str, object] = {
        "team": request.team,
        "form": form,
        "people": request.team.memberships.values_list("user__email", flat=True),
        "entries": _shown(request.team, page.rows),
        "older": page.older,
        "is_first": page.is_first,
        "asked": urlencode(asked),
    }
    return render(request, "teams/audit.html", context, status=200 if is_valid else 422)


@require_GET
@never_cache
@team_view(need=Role.ADMIN)
def audit_csv(request: TeamRequest) -> HttpResponseBase:
    form = AuditForm(request.GET)
    if not form.is_valid():
        raise Invalid(_("The filter is not valid."))
    team = request.team
    entries = find_entries(team, form.cleaned_data)
    pieces = csv_of(entries, lambda rows: [_line(*shown) for shown in _shown(team, rows)])
    return csv_download(pieces, f"audit-{team.slug}")


def _line(entry: AuditEntry, target: Target, details: Details) -> list[str]:
    return [
        f"{entry.time:%Y-%m-%dT%H:%M:%SZ}",
        entry.actor_email,
        entry.action,
        target.kind,
        target.name,
        entry.target_id,
        ", ".join(f"{key}: {value}" for key, value in details),
        entry.ip or "",
    ]
