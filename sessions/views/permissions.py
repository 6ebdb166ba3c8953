from __future__ import annotations

from typing import Literal

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from sessions.access import access_permission
from sessions.actions.permissions import ask_admins, reply_permission
from sessions.actions.saved_rules import revoke_rule
from sessions.models import PermissionRequest, RuleScope
from sessions.present.conversation.asks import can_go_together
from sessions.present.conversation.docks import load_cards
from sessions.present.conversation.history import load_waiting
from sessions.present.pages.saved_rules import rules_in
from sessions.present.projects import project_url
from sessions.views.requests import (
    done,
    form_of_project,
    project_of,
    require_shown,
    session_of,
)
from sessions.views.team_rules import revoked
from teams.auth import authenticate_user
from teams.http import TeamRequest, team_view
from teams.models import Role

Reply = Literal["once", "always", "reject"]
_REPLIES: dict[str, Reply] = {"once": "once", "always": "always", "reject": "reject"}
_MAX_AT_ONCE = 200
_SAID = {
    "once": gettext_noop("allowed it once"),
    "always": gettext_noop("always allowed it"),
    "reject": gettext_noop("rejected it"),
}


@require_POST
@team_view()
def reply(request: TeamRequest, session: str, permission: str) -> HttpResponse:
    asked, access = access_permission(authenticate_user(request.user), permission)
    require_shown(request, session, access, kind="Permission request", id=permission)
    answer = _REPLIES.get(request.POST.get("reply", ""))
    if answer is None:
        raise Invalid(_("The answer must be once, always or reject."))
    asked = reply_permission(
        access,
        asked,
        reply=answer,
        message=request.POST.get("message", "").strip()[:4000] if answer == "reject" else "",
        patterns=request.POST.getlist("pattern") if answer == "always" else None,
        scope=_scope(request.POST.get("scope", RuleScope.SESSION.value)),
    )
    if not request.htmx:
        return redirect("sessions:session", request.team.slug, session)
    context = {"permission": _answered(asked, request), "rejected": answer == "reject"}
    if answer == "always":
        context["saved_url"] = f"{project_url(access.project, 'project_settings')}#rules"
    return render(request, "sessions/_answered.html", context)


@require_POST
@team_view()
def admins(request: TeamRequest, session: str, permission: str) -> HttpResponse:
    """Ask those who can answer, where the person cannot."""
    asked, access = access_permission(authenticate_user(request.user), permission)
    require_shown(request, session, access, kind="Permission request", id=permission)
    ask_admins(access, asked)
    shown_on = session_of(request, session).session
    cards = load_cards(shown_on, load_waiting(shown_on))
    card = next((card for card in cards if card.id == permission), None)
    if not request.htmx or card is None:
        return done(request, shown_on)
    return render(request, "sessions/_permission.html", {"permission": card})


def _scope(text: str) -> RuleScope:
    if text not in RuleScope.values:
        raise Invalid(_("A saved permission applies to the session, the project or the team."))
    return RuleScope(text)


@require_POST
@team_view()
def reply_all(request: TeamRequest, session: str) -> HttpResponse:
    """Allow once what was shown to the person. What somebody has answered meanwhile stays so."""
    access = session_of(request, session, need=Role.MEMBER)
    person, late = authenticate_user(request.user), list[Conflict]()
    wanted = dict.fromkeys(request.POST.getlist("permission")[:_MAX_AT_ONCE])
    found = [access_permission(person, name) for name in wanted]
    for asked, own in found:
        require_shown(request, session, own, kind="Permission request", id=asked.pk)
        if not can_go_together(asked):
            raise Invalid(
                _("A higher cost limit, or what needs a second person, must be allowed separately.")
            )
    for asked, own in found:
        try:
            reply_permission(own, asked, reply="once")
        except Conflict as exc:
            late.append(exc)
    if late and len(late) == len(found):
        raise late[0]
    return done(request, access.session)


def _answered(asked: PermissionRequest, request: TeamRequest) -> dict[str, str]:
    time = timezone.localtime(asked.replied_at) if asked.replied_at else timezone.localtime()
    said = _(_SAID[asked.status])
    return {"id": asked.pk, "text": f"{request.user.display_name} {said}, {time:%H:%M}"}


@form_of_project
@team_view()
def rule_revoke(request: TeamRequest, project: str, rule: int) -> HttpResponse:
    access = project_of(request, project, need=Role.MEMBER)
    row = rules_in(access.team).filter(project=access.project, pk=rule).first()
    if row is None:
        raise NotFound("Rule", str(rule))
    entry = revoke_rule(access, row)
    to = project_url(access.project, "project_settings")
    return revoked(request, entry, to=to, of=access.project.pk)
