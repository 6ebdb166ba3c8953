"""The secrets of a project: everybody reads their names, admins set and remove them."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from sessions.access import ProjectAccess
from sessions.actions.secrets import remove_secret, set_secret
from sessions.forms.secrets import SecretForm
from sessions.models import ProjectSecret
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.secrets import is_readable, team_secrets_of
from sessions.views.requests import form_of_project, project_of, rail_filter
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("value")
@team_view()
def secrets(request: TeamRequest, project: str) -> HttpResponse:
    posted = request.method == "POST"
    access = project_of(request, project, need=Role.ADMIN if posted else Role.VIEWER)
    if not posted:
        return _page(request, access, SecretForm())
    form, ip = SecretForm(request.POST), client_ip(request)
    saved = attempt(form, lambda: set_secret(access, **form.cleaned_data, ip=ip))
    if saved is None:
        return _page(request, access, form, status=422)
    said = _("%(name)s saved. Commands started from now on can use it.") % {"name": saved.name}
    return done(request, said, to=project_url(access.project, "secrets"))


@form_of_project
@team_view(need=Role.ADMIN)
def secret_remove(request: TeamRequest, project: str, secret: int) -> HttpResponse:
    access = project_of(request, project, need=Role.ADMIN)
    name = remove_secret(access, secret=secret, ip=client_ip(request))
    return done(
        request,
        _("%(name)s removed.") % {"name": name},
        to=project_url(access.project, "secrets"),
    )


def _page(
    request: TeamRequest, access: ProjectAccess, form: SecretForm, *, status: int = 200
) -> HttpResponse:
    project = access.project
    rows = ProjectSecret.objects.filter(project=project).select_related("updated_by")
    own = [
        {
            "name": row.name,
            "author": row.updated_by.display_name if row.updated_by else "",
            "updated": row.updated_at,
            "used": row.used_at,
            "readable": is_readable(row),
            "remove_url": project_url(project, "secret_remove", secret=str(row.pk)),
        }
        for row in rows.order_by("name")
    ]
    names = {one["name"] for one in own}
    inherited = [
        {"name": row.name, "used": row.used_at, "readable": is_readable(row), "inherited": True}
        for row in team_secrets_of(project).order_by("name")
        if row.name not in names
    ]
    context = {
        "rail": load_rail(request.access, rail_filter(request)),
        "project": project,
        "secrets": [*own, *inherited],
        "form": form,
        "may_change": access.team.can(Role.ADMIN),
        "crumbs": [
            {"label": project.name, "url": project_url(project)},
            {"label": _("Secrets"), "url": ""},
        ],
    }
    return render(request, "sessions/secrets.html", context, status=status)
