"""The npm packages that a team's projects load as plugins: everybody reads, admins change."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from sessions.actions.team_plugins import (
    add_team_plugin,
    reload_team_plugin,
    remove_team_plugin,
    trust_team_plugin,
)
from sessions.forms.plugins import PluginForm
from sessions.present.pages.team_plugins import build_team_plugins
from teams.access import require_role
from teams.http import TeamRequest, attempt, client_ip, done, show, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@team_view()
def plugins(request: TeamRequest) -> HttpResponse:
    """The list; a POST adds a package."""
    if request.method != "POST":
        return _page(request, PluginForm())
    require_role(request.access, Role.ADMIN)
    form, ip = PluginForm(request.POST), client_ip(request)
    added = attempt(form, lambda: add_team_plugin(request.access, **form.cleaned_data, ip=ip))
    if added is None:
        return _page(request, form, status=422)
    said = _("%(name)s is being fetched. Nothing of it runs until you trust it.")
    return _done(request, said % {"name": added})


@require_POST
@team_view(need=Role.ADMIN)
def plugin_trust(request: TeamRequest, plugin: int) -> HttpResponse:
    digest = request.POST.get("digest", "")
    row = trust_team_plugin(request.access, plugin=plugin, digest=digest, ip=client_ip(request))
    return _done(request, _("All projects of the team load %(name)s now.") % {"name": row})


@require_POST
@team_view(need=Role.ADMIN)
def plugin_remove(request: TeamRequest, plugin: int) -> HttpResponse:
    name = remove_team_plugin(request.access, plugin=plugin, ip=client_ip(request))
    return _done(request, _("%(name)s removed.") % {"name": name})


@require_POST
@team_view(need=Role.ADMIN)
def plugin_reload(request: TeamRequest, plugin: int) -> HttpResponse:
    row = reload_team_plugin(request.access, plugin=plugin, ip=client_ip(request))
    said = _("%(name)s is loaded again in the next turn of each session.")
    return _done(request, said % {"name": row})


def _page(request: TeamRequest, form: PluginForm, *, status: int = 200) -> HttpResponse:
    context = {
        "page": build_team_plugins(request.access),
        "form": form,
        "may_change": request.access.can(Role.ADMIN),
    }
    pages = "sessions/team_plugins.html", "sessions/_team_plugins.html"
    return show(request, *pages, context, status=status)


def _done(request: TeamRequest, said: str) -> HttpResponse:
    to = reverse("sessions:team_plugins", kwargs={"team": request.team.slug})
    return done(request, said, to=to)
