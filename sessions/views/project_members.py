"""Who sees a project, and with which role."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid, NotFound
from sessions.access import ProjectAccess
from sessions.actions.project_members import ROLES, restrict_project, set_project_member
from sessions.present.projects import project_url
from sessions.views.requests import form_of_project, project_of
from teams.http import TeamRequest, client_ip, done, team_view
from teams.models import Membership, Role, TeamGroup


@form_of_project
@team_view(need=Role.ADMIN)
def project_access(request: TeamRequest, project: str) -> HttpResponse:
    """Let only its members see it, or everybody in the team."""
    access = project_of(request, project, need=Role.ADMIN)
    restricted = request.POST.get("restricted") == "1"
    restrict_project(access, restricted=restricted, ip=client_ip(request))
    said = (
        _("Only members of %(name)s can see it now.")
        if restricted
        else _("Everyone in the team can see %(name)s now.")
    )
    return done(request, said % {"name": access.project.name}, to=_url(access))


@form_of_project
@team_view(need=Role.ADMIN)
def project_member(request: TeamRequest, project: str) -> HttpResponse:
    """Give a person or a group a role in it; an empty role takes it away."""
    access = project_of(request, project, need=Role.ADMIN)
    member, role = _find(access, request.POST.get("member", "")), request.POST.get("role", "")
    if role not in ("", *ROLES):
        raise Invalid(_("This role does not exist."))
    set_project_member(access, member, role=Role(role) if role else None, ip=client_ip(request))
    name = member.name if isinstance(member, TeamGroup) else member.user.display_name
    said = _("Saved.") if role else _("%(name)s has no role of its own here any more.")
    return done(request, said % {"name": name}, to=_url(access))


def _find(access: ProjectAccess, named: str) -> Membership | TeamGroup:
    """Raises: NotFound for what is no member or group of the team."""
    team = access.team.team
    if named.isdecimal() and len(named) < 19:
        rows = Membership.objects.current().filter(team=team, expires_at=None)
        member = rows.select_related("user").filter(pk=named).first()
        if member is not None:
            return member
    group = TeamGroup.objects.filter(team=team, pk=named).first()
    if group is None:
        raise NotFound("Member")
    return group


def _url(access: ProjectAccess) -> str:
    return f"{project_url(access.project, 'project_settings')}#members"
