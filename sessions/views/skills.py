"""The skills of a team: everybody reads them, admins write them."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from sessions.access import access_team_skill
from sessions.actions.skills import delete_team_skill, save_team_skill
from sessions.forms.fields import SkillForm
from sessions.models import TeamSkill
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_GET
@team_view()
def skills(request: TeamRequest) -> HttpResponse:
    rows = request.team.skills.select_related("updated_by").order_by("name")
    context = {"skills": rows, "may_change": request.access.can(Role.ADMIN)}
    return render(request, "sessions/skills.html", context)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def skill_new(request: TeamRequest) -> HttpResponse:
    return _form(request, None)


@require_http_methods(["GET", "POST"])
@team_view()
def skill(request: TeamRequest, skill: str) -> HttpResponse:
    """Read a skill; whoever may change it gets the form."""
    if request.method == "POST" or request.access.can(Role.ADMIN):
        return _form(request, access_team_skill(request.access, skill, need=Role.ADMIN))
    row = access_team_skill(request.access, skill)
    return render(request, "sessions/skill.html", {"skill": row})


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def skill_delete(request: TeamRequest, skill: str) -> HttpResponse:
    row = access_team_skill(request.access, skill, need=Role.ADMIN)
    if request.method == "POST":
        delete_team_skill(request.access, row, ip=client_ip(request))
        return done(request, _("Skill %(name)s deleted.") % {"name": row.name}, to=_list(request))
    context = {
        "title": _("Delete the skill %(name)s?") % {"name": row.name},
        "text": _("Agents of this team can no longer load it. This cannot be undone."),
        "action": _("Delete"),
        "back": _list(request),
    }
    return render(request, "teams/confirm.html", context)


def _form(request: TeamRequest, row: TeamSkill | None) -> HttpResponse:
    known = {"name": row.name, "description": row.description, "text": row.text} if row else {}
    form = SkillForm(request.POST if request.method == "POST" else None, initial=known)
    saved = None
    if request.method == "POST":
        saved = attempt(
            form,
            lambda: save_team_skill(
                request.access, **form.cleaned_data, skill=row, ip=client_ip(request)
            ),
        )
    if saved is not None:
        return done(request, _("Skill %(name)s saved.") % {"name": saved.name}, to=_list(request))
    status = 422 if request.method == "POST" else 200
    return render(request, "sessions/skill.html", {"form": form, "skill": row}, status=status)


def _list(request: TeamRequest) -> str:
    return reverse("sessions:skills", kwargs={"team": request.team.slug})
