"""What a team's settings say of models: which one is the default, and where one is used."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from opencode_web.lib.errors import AppError
from providers.effective import keyless_providers
from providers.resolve import default_model as resolve_default
from providers.resolve import list_providers
from providers.views.connect import take_next
from sessions.actions.settings import update_team_settings
from sessions.model_uses import load_model_uses
from teams.http import TeamRequest, client_ip, done, go, show, team_view
from teams.models import Role, Team


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def default_model(request: TeamRequest) -> HttpResponse:
    """Choose the model of sessions that name none: the last step of connecting a provider."""
    team = request.team
    names = _usable(team)
    if request.method != "POST":
        return _show(request, names, request.GET.get("model", ""))
    to = take_next(request) or reverse("providers:models", kwargs={"team": team.slug})
    if "keep" in request.POST:
        return go(request, to=to)
    chosen = request.POST.get("model", "")
    if chosen not in names:
        return _show(request, names, "", problem=_("Choose one of the models."), status=422)
    update_team_settings(request.access, {"model": chosen}, ip=client_ip(request))
    said = _("%(model)s is now the team's default.") % {"model": names[chosen]}
    return done(request, said, to=to)


def _usable(team: Team) -> dict[str, str]:
    """Returns: `provider/model` -> name of what can be called."""
    providers = list_providers(team)
    keyless = keyless_providers(providers)
    return {
        f"{provider.id}/{key}": f"{model.name} ({provider.name})"
        for provider in providers
        if provider.id not in keyless
        for key, model in provider.models.items()
    }


def _show(
    request: TeamRequest,
    names: dict[str, str],
    proposed: str,
    *,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    try:
        current = str(resolve_default(request.team))
    except AppError:
        current = ""
    context: dict[str, object] = {
        "names": names,
        "chosen": proposed if proposed in names else current,
        "current": names.get(current, current),
        "is_set": bool(request.team.config.get("model")),
        "problem": problem,
    }
    page, fragment = "sessions/default_model.html", "sessions/_default_model.html"
    return show(request, page, fragment, context, status=status)


@require_GET
@team_view(need=Role.ADMIN)
def model_uses(request: TeamRequest) -> HttpResponse:
    name = request.GET.get("model", "")
    context: dict[str, object] = {"name": name, "uses": load_model_uses(request.team, name)}
    return show(request, "sessions/model_uses.html", "sessions/_model_uses.html", context)
