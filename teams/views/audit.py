from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.csv_text import csv_download
from opencode_web.lib.errors import Invalid
from teams.actions.break_glass import dismiss_emergency
from teams.audit import AuditAction, record
from teams.audit_chain.state import state_of
from teams.audit_sentences import Details, described, details_of, load_known, name_of, sentence_of
from teams.audit_texts import kind_label
from teams.audit_trail import NONE, csv_of, find_entries, page_of
from teams.forms import AuditForm
from teams.http import TeamRequest, team_view
from teams.models import AuditEntry, Role, Team


@dataclass(frozen=True)
class Line:
    """An entry in words: what happened, what it was about, and what the entry keeps."""

    entry: AuditEntry
    sentence: str
    kind: str
    name: str
    details: Details


def _shown(team: Team, entries: list[AuditEntry]) -> list[Line]:
    known = load_known(team, entries)
    return [
        Line(
            entry,
            sentence_of(entry, known),
            kind_label(entry.target_type),
            name_of(entry, known),
            described(entry.told),
        )
        for entry in entries
    ]


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
        "lines": _shown(request.team, page.rows),
        "older": page.older,
        "is_first": page.is_first,
        "asked": urlencode(asked),
        "chain": state_of(request.team.pk),
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
    record(AuditAction.AUDIT_EXPORTED, actor=request.user, team=team, data={"format": "csv"})
    pieces = csv_of(entries, lambda rows: [_cells(line) for line in _shown(team, rows)])
    return csv_download(pieces, f"audit-{team.slug}")


@require_POST
@team_view(need=None)
def emergency_dismiss(request: TeamRequest, *, entry: int) -> HttpResponse:
    """Show the person the notice of an emergency access no longer."""
    dismiss_emergency(request.access, entry)
    return redirect("team_home", team=request.team.slug)


def _cells(line: Line) -> list[str]:
    entry = line.entry
    return [
        f"{entry.time:%Y-%m-%dT%H:%M:%SZ}",
        entry.actor_email,
        entry.action,
        line.kind,
        line.name,
        entry.target_id,
        ", ".join(f"{key}: {value}" for key, value in details_of(entry.told)),
        entry.ip or "",
    ]
