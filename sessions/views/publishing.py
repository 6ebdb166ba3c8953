"""Where a project is pushed to and its pull requests are opened: admins choose it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from providers.credentials import mask
from sessions.access import ProjectAccess
from sessions.actions.publishing import set_up_publishing
from sessions.forges.registry import NAMES
from sessions.forms.publishing import PublishingForm
from sessions.models import ProjectForge
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.publish_settings import publishing_of
from sessions.views.requests import project_of, rail_filter
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("token")
@team_view()
def publishing(request: TeamRequest, project: str) -> HttpResponse:
    posted = request.method == "POST"
    access = project_of(request, project, need=Role.ADMIN if posted else Role.VIEWER)
    if not posted:
        return _page(request, access)
    form, ip = PublishingForm(request.POST), client_ip(request)
    if attempt(form, lambda: set_up_publishing(access, **form.cleaned_data, ip=ip)) is None:
        return _page(request, access, form, status=422)
    return done(request, _("Saved."), to=project_url(access.project, "publishing"))


def _page(
    request: TeamRequest,
    access: ProjectAccess,
    form: PublishingForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    project = access.project
    row = ProjectForge.objects.filter(pk=project.pk).first()
    known = {"remote_url": row.remote_url, "kind": row.kind, "api_url": row.api_url} if row else {}
    chosen = publishing_of(project)
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": project,
        "form": form or PublishingForm(initial=known),
        "chosen": chosen,
        "forge": NAMES[chosen.kind] if chosen.kind else "",
        "token": mask(row.last4) if row and row.token else "",
        "may_change": access.team.can(Role.ADMIN),
        "crumbs": [
            {"label": project.name, "url": project_url(project)},
            {"label": _("Publishing"), "url": ""},
        ],
    }
    return render(request, "sessions/publishing.html", context, status=status)
