"""The pages of what has happened: events and audit."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.csv_text import csv_download
from opencode_web.lib.errors import Invalid
from opencode_web.ops.access import operator_view
from opencode_web.ops.audit import COLUMNS, OpsAuditForm, find_all, to_broken, to_lines
from opencode_web.ops.events import load_tail
from teams.audit import AuditAction, record
from teams.audit_chain.heads import own_public_keys
from teams.audit_chain.state import broken_chains, state_of
from teams.audit_trail import NONE, csv_of, page_of
from teams.http import UserRequest, show
from teams.models import SERVER_CHAIN


@require_GET
@never_cache
@operator_view
def events(request: UserRequest) -> HttpResponse:
    """The newest events; with `paused` they stay as they are."""
    given = {name: request.GET.get(name, "")[:60] for name in ("team", "type", "session")}
    context: dict[str, object] = {
        "tail": load_tail(request.user, **given),
        "asked": urlencode(given),
        "paused": request.GET.get("paused") == "1",
    }
    return show(request, "ops/events.html", "ops/_events.html", context)


@require_GET
@never_cache
@operator_view
def audit(request: UserRequest) -> HttpResponse:
    """The entries of all teams and of none, with a cursor as the team's page has it."""
    form = OpsAuditForm(request.GET)
    is_valid = form.is_valid()
    entries = find_all(form.cleaned_data) if is_valid else NONE
    page = page_of(entries, request.GET.get("before", ""))
    asked = {name: request.GET[name] for name in form.fields if request.GET.get(name)}
    context: dict[str, object] = {
        "form": form,
        "lines": to_lines(page.rows),
        "older": page.older,
        "is_first": page.is_first,
        "asked": urlencode(asked),
        "chain": state_of(SERVER_CHAIN),
        "broken": to_broken(broken_chains()),
        "public_key": own_public_keys()[0],
    }
    return render(request, "ops/audit.html", context, status=200 if is_valid else 422)


@require_GET
@never_cache
@operator_view
def audit_csv(request: UserRequest) -> HttpResponseBase:
    """All entries that match, as the page shows them."""
    form = OpsAuditForm(request.GET)
    if not form.is_valid():
        raise Invalid(_("The filter is not valid."))
    record(AuditAction.AUDIT_EXPORTED, actor=request.user, team=None, data={"format": "csv"})
    pieces = csv_of(
        find_all(form.cleaned_data),
        lambda rows: [line.cells for line in to_lines(rows)],
        columns=COLUMNS,
    )
    return csv_download(pieces, "audit")
