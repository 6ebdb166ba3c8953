from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.csv_text import csv_download, to_csv
from opencode_web.lib.errors import Invalid
from sessions.actions.exports import note_usage_export
from sessions.present.approvals import load_for_inbox
from sessions.present.pages.budgets.limits import load_paces
from sessions.present.pages.usage import load_names, load_usage, require_seen
from sessions.views.budgets import warning_context
from teams.http import TeamRequest, team_view
from teams.usage import add_up, by, find_usage
from teams.usage_form import UsageForm

_COUNTS = ("calls", "turns", "input", "output", "reasoning", "cache_read", "cache_write")
COLUMNS = (
    *("day", "name", "email", "provider", "model", "project"),
    *(*_COUNTS, "cost", "unpriced"),
)


@require_GET
@team_view(need=None)
def usage(request: TeamRequest) -> HttpResponse:
    form, given = UsageForm(request.GET), request.GET
    is_valid = form.is_valid()
    shown = form
    if not is_valid:
        shown, given = UsageForm({}), QueryDict()
        shown.is_valid()
    asked = shown.asked(request.access)
    require_seen(request.access, asked)
    if is_valid:
        # The days that are shown, also where a range has named them.
        days = {"since": f"{asked.since:%Y-%m-%d}", "until": f"{asked.until:%Y-%m-%d}"}
        form.data = {**given.dict(), **days}
    for_all = request.access.sees_spending
    # Who is shown their own is told what part of the whole it is.
    together = None if for_all else add_up(find_usage(request.team, replace(asked, member=None)))
    context: dict[str, object] = {
        "team": request.team,
        "form": form,
        "usage": load_usage(request.access, asked, given, for_all=for_all),
        "together": together,
        "paces": load_paces(request.access),
        # Who has no inbox is told here.
        "changes": [] if request.access.sees_work else load_for_inbox(request.access).mine,
        **warning_context(request, "usage"),
    }
    return render(request, "sessions/usage.html", context, status=200 if is_valid else 422)


@require_GET
@never_cache
@team_view(need=None)
def usage_csv(request: TeamRequest) -> HttpResponseBase:
    form = UsageForm(request.GET)
    if not form.is_valid():
        raise Invalid(_("The filter is not valid."))
    team = request.team
    note_usage_export(request.access)
    entries = find_usage(team, form.asked(request.access))
    names = load_names(request.access, entries)
    lines = [list(COLUMNS)]
    for (day, user, provider, model, project), used in sorted(
        by(entries, "day", "user", "provider", "model", "project"), key=lambda one: one[0][0]
    ):
        who = [names.person(user), names.email(user)]
        counts = [str(getattr(used, name)) for name in _COUNTS]
        # An empty cell, and not a zero, where nobody knows what it has cost.
        cost = "" if used.known_cost is None else str(used.known_cost)
        counts += [cost, str(used.unpriced)]
        lines.append([f"{day:%Y-%m-%d}", *who, provider, model, names.project(project), *counts])
    return csv_download(to_csv(lines), f"usage-{team.slug}")
