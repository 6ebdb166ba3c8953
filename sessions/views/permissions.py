from __future__ import annotations

from typing import Literal

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import Invalid, NotFound
from sessions.access import access_permission
from sessions.actions.permissions import reply_permission, revoke_rule
from sessions.models import PermissionRequest, SavedRule
from sessions.present.projects import load_rules, project_url
from sessions.views.requests import form_of_project, project_of, require_shown
from teams.auth import authenticate_user
from teams.http import TeamRequest, team_view
from teams.models import Role

Reply = Literal["once", "always", "reject"]
_REPLIES: dict[str, Reply] = {"once": "once", "always": "always", "reject": "reject"}
_SAID = {"once": "allowed it once", "always": "allowed it for good", "reject": "rejected it"}


@require_POST
@team_view(need=Role.MEMBER)
def reply(request: TeamRequest, session: str, permission: str) -> HttpResponse:
    asked, access = access_permission(authenticate_user(request.user), permission)
    require_shown(request, session, access, kind="Permission request", id=permission)
    answer = _REPLIES.get(request.POST.get("reply", ""))
    if answer is None:
        raise Invalid("An answer is once, always or reject.")
    asked = reply_permission(
        access,
        asked,
        reply=answer,
        message=request.POST.get("message", "").strip()[:4000] if answer == "reject" else "",
        patterns=request.POST.getlist("pattern") if answer == "always" else None,
    )
    if not request.htmx:
        return redirect("sessions:session", request.team.slug, session)
    context = {"permission": _answered(asked, request), "rejected": answer == "reject"}
    return render(request, "sessions/_answered.html", context)


def _answered(asked: PermissionRequest, request: TeamRequest) -> dict[str, str]:
    time = timezone.localtime(asked.replied_at) if asked.replied_at else timezone.localtime()
    said = _SAID[asked.status]
    return {"id": asked.pk, "text": f"{request.user.display_name} {said}, {time:%H:%M}"}


@form_of_project
@team_view(need=Role.MEMBER)
def rule_revoke(request: TeamRequest, project: str, rule: int) -> HttpResponse:
    access = project_of(request, project, need=Role.MEMBER)
    row = SavedRule.objects.filter(project=access.project, pk=rule).first()
    if row is None:
        raise NotFound("Rule", str(rule))
    revoke_rule(access, row)
    if not request.htmx:
        return redirect(project_url(access.project))
    return render(request, "sessions/_rules.html", {"rules": load_rules(access.project)})
