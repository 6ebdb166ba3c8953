"""What a second person has to approve, and the requests for it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import Invalid
from sessions.actions.change_approval import approve_request
from sessions.actions.change_requests import (
    explain_request,
    reject_request,
    set_approvals,
    withdraw_request,
)
from sessions.approvals.requests import access_change
from sessions.forms.approvals import ApprovalsForm
from sessions.models import ChangeRequest
from sessions.present.approvals import load_changes
from teams.access import require_role
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@team_view(need=None)
def approvals(request: TeamRequest) -> HttpResponse:
    """Read what needs an approval and what waits for one; owners change the former."""
    kinds = request.team.needs_approval
    if request.method == "GET":
        return _page(request, ApprovalsForm(kinds=kinds))
    require_role(request.access, Role.OWNER)
    form, ip = ApprovalsForm(request.POST, kinds=kinds), client_ip(request)

    def act() -> bool:
        set_approvals(request.access, form.to_kinds(), ip=ip)
        return True

    if not attempt(form, act):
        return _page(request, form, status=422)
    return done(request, _("Saved."), to=_url(request))


@require_POST
@team_view(need=None)
def change(request: TeamRequest, change: str) -> HttpResponse:
    """Decide on a request, or say why it was made, or withdraw it."""
    row, ip = access_change(request.access, change), client_ip(request)
    note = request.POST.get("note", "")
    match request.POST.get("act"):
        case "approve":
            row = approve_request(request.access, row, note=note, ip=ip)
            if row.status == ChangeRequest.Status.FAILED:
                said = _("Nothing was changed. %(why)s") % {"why": row.note}
            else:
                said = _("Approved. The change is made.")
        case "reject":
            reject_request(request.access, row, note=note, ip=ip)
            said = _("Rejected. Nothing was changed.")
        case "withdraw":
            withdraw_request(request.access, row, ip=ip)
            said = _("Withdrawn.")
        case "explain":
            explain_request(request.access, row, reason=request.POST.get("reason", ""))
            said = _("Saved.")
        case _other:
            raise Invalid(_("The form is incomplete. Reload the page."))
    is_inbox = request.POST.get("page") == "inbox" and request.access.sees_work
    inbox = reverse("sessions:waiting", kwargs={"team": request.team.slug})
    return done(request, said, to=inbox if is_inbox else _url(request))


def _page(request: TeamRequest, form: ApprovalsForm, *, status: int = 200) -> HttpResponse:
    context: dict[str, object] = {
        "team": request.team,
        "form": form,
        "may_change": request.access.can(Role.OWNER),
        "changes": load_changes(request.access),
    }
    return render(request, "sessions/approvals.html", context, status=status)


def _url(request: TeamRequest) -> str:
    return reverse("sessions:approvals", kwargs={"team": request.team.slug})
