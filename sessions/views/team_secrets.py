"""The secrets of a team, and whether keys are hidden in what is said: everybody reads, admins
change."""

from __future__ import annotations

from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from sessions.actions.hidden_keys import set_key_hiding
from sessions.actions.team_secrets import remove_team_secret, set_team_secret
from sessions.forms.secrets import TeamSecretForm
from sessions.models import TeamSecret
from sessions.secrets import is_readable
from sessions.visibility import projects_in
from teams.access import require_role
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("value")
@team_view()
def team_secrets(request: TeamRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, _form(request))
    require_role(request.access, Role.ADMIN)
    form, ip = _form(request, request.POST), client_ip(request)
    saved = attempt(form, lambda: set_team_secret(request.access, **form.to_arguments(), ip=ip))
    if saved is None:
        return _page(request, form, status=422)
    said = _("%(name)s saved. Commands started from now on can use it.") % {"name": saved.name}
    return done(request, said, to=_url(request))


@require_POST
@team_view(need=Role.ADMIN)
def team_secret_remove(request: TeamRequest, secret: int) -> HttpResponse:
    name = remove_team_secret(request.access, secret=secret, ip=client_ip(request))
    return done(request, _("%(name)s removed.") % {"name": name}, to=_url(request))


@require_POST
@team_view(need=Role.ADMIN)
def key_hiding(request: TeamRequest) -> HttpResponse:
    hides = request.POST.get("hides") == "on"
    set_key_hiding(request.access, hides=hides, ip=client_ip(request))
    said = (
        _("Well-known keys are hidden from now on.")
        if hides
        else _("Well-known keys are no longer hidden.")
    )
    return done(request, said, to=_url(request))


def _form(request: TeamRequest, data: object = None) -> TeamSecretForm:
    projects = projects_in(request.access).order_by("name").values_list("pk", "name")
    return TeamSecretForm(data, projects=list(projects))


def _page(request: TeamRequest, form: TeamSecretForm, *, status: int = 200) -> HttpResponse:
    rows = TeamSecret.objects.filter(team=request.team).select_related("updated_by")
    rows = rows.prefetch_related(Prefetch("projects", projects_in(request.access)))
    context = {
        "secrets": [
            {
                "name": row.name,
                "author": row.updated_by.display_name if row.updated_by else "",
                "updated": row.updated_at,
                "used": row.used_at,
                "readable": is_readable(row),
                "everywhere": row.everywhere,
                "projects": ", ".join(one.name for one in row.projects.all()),
                "remove_url": _url(request, "team_secret_remove", secret=row.pk),
            }
            for row in rows.order_by("name")
        ],
        "form": form,
        "may_change": request.access.can(Role.ADMIN),
    }
    return render(request, "sessions/team_secrets.html", context, status=status)


def _url(request: TeamRequest, name: str = "team_secrets", **more: object) -> str:
    return reverse(f"sessions:{name}", kwargs={"team": request.team.slug, **more})
