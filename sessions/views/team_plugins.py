"""The npm packages that projects load as plugins. Everybody reads those of a team, and admins
change them; operators read and change those of the server."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from sessions.actions.team_plugins import (
    Holder,
    add_team_plugin,
    reload_team_plugin,
    remove_team_plugin,
    trust_team_plugin,
)
from sessions.forms.plugins import PluginForm
from sessions.present.pages.team_plugins import build_team_plugins
from teams.access import TeamAccess, access_operator, require_role
from teams.http import (
    TeamRequest,
    UserRequest,
    attempt,
    client_ip,
    done,
    show,
    team_view,
    user_view,
)
from teams.models import Role


def _holder_view(
    *, need: Role = Role.VIEWER
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponseBase]]:
    """Give a view the access to the team in its address, or else the operator of the server."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
        @team_view(need=need)
        def of_team(request: TeamRequest, /, **kwargs: Any) -> HttpResponse:  # of the view
            return view(request, request.access, **kwargs)

        @never_cache
        @user_view
        def of_server(request: UserRequest, /, **kwargs: Any) -> HttpResponse:  # of the view
            return view(request, access_operator(request.user), **kwargs)

        @wraps(view)
        def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            return (of_team if "team" in kwargs else of_server)(request, **kwargs)

        return wrapped

    return decorate


@require_http_methods(["GET", "POST"])
@_holder_view()
def plugins(request: UserRequest, holder: Holder) -> HttpResponse:
    """The list; a POST adds a package."""
    if request.method != "POST":
        return _page(request, holder, PluginForm())
    if isinstance(holder, TeamAccess):
        require_role(holder, Role.ADMIN)
    form, ip = PluginForm(request.POST), client_ip(request)
    added = attempt(form, lambda: add_team_plugin(holder, **form.cleaned_data, ip=ip))
    if added is None:
        return _page(request, holder, form, status=422)
    said = _("%(name)s is being fetched. Nothing of it runs until you trust it.")
    return done(request, said % {"name": added}, to=_address(holder))


@require_POST
@_holder_view(need=Role.ADMIN)
def plugin_trust(request: UserRequest, holder: Holder, plugin: int) -> HttpResponse:
    digest = request.POST.get("digest", "")
    row = trust_team_plugin(holder, plugin=plugin, digest=digest, ip=client_ip(request))
    said = _("All projects of the team load %(name)s now.")
    if row.team_id is None:
        said = _("All projects of all teams load %(name)s now.")
    return done(request, said % {"name": row}, to=_address(holder))


@require_POST
@_holder_view(need=Role.ADMIN)
def plugin_remove(request: UserRequest, holder: Holder, plugin: int) -> HttpResponse:
    name = remove_team_plugin(holder, plugin=plugin, ip=client_ip(request))
    return done(request, _("%(name)s removed.") % {"name": name}, to=_address(holder))


@require_POST
@_holder_view(need=Role.ADMIN)
def plugin_reload(request: UserRequest, holder: Holder, plugin: int) -> HttpResponse:
    row = reload_team_plugin(holder, plugin=plugin, ip=client_ip(request))
    said = _("%(name)s is loaded again in the next turn of each session.")
    return done(request, said % {"name": row}, to=_address(holder))


def _page(
    request: UserRequest, holder: Holder, form: PluginForm, *, status: int = 200
) -> HttpResponse:
    access = holder if isinstance(holder, TeamAccess) else None
    context: dict[str, object] = {
        "base": "base_settings.html" if access else "ops/base_ops.html",
        "page": build_team_plugins(holder),
        "form": form,
        "address": _address(holder),
        "team": access and access.team,
        "may_change": access is None or access.can(Role.ADMIN),
    }
    pages = "sessions/team_plugins.html", "sessions/_team_plugins.html"
    return show(request, *pages, context, status=status)


def _address(holder: Holder) -> str:
    if isinstance(holder, TeamAccess):
        return reverse("sessions:team_plugins", kwargs={"team": holder.team.slug})
    return reverse("ops:plugins")
