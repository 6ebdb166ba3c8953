from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import NotFound
from sessions.config.effective import project_config, session_config
from sessions.config.model import Config
from sessions.models import Project
from sessions.present.frame.choices import (
    FAVOURITES,
    MAX_FAVOURITES,
    MAX_RECENT,
    RECENT,
    ChoiceGroup,
    agent_choices,
    load_offers,
    model_choices,
    variant_choices,
)
from sessions.present.sessions import model_name
from sessions.views.requests import project_of, session_of
from teams.actions.tastes import remember_taste
from teams.http import TeamRequest, team_view
from teams.models import Role, User


@require_http_methods(["GET", "POST"])
@team_view()
@never_cache
def choices(request: TeamRequest) -> HttpResponse:
    """The list of a picker beside the message field; a form makes a model a favourite, or not."""
    project, config, in_use = _place(request)
    kind = request.GET.get("kind", "model")
    if request.method == "POST":
        _toggle_favourite(request.user, project, request.POST.get("favourite", ""))
    chosen = request.GET.get("chosen", "")[:200]
    groups: list[ChoiceGroup]
    if kind == "model":
        groups = model_choices(project, request.user, chosen, in_use=in_use, back=_back(request))
    elif kind == "variant":
        model = request.GET.get("model", "")[:200]
        groups = variant_choices(load_offers(project, request.user, model), model, chosen)
    elif kind == "agent":
        groups = agent_choices(project, config, chosen)
    else:
        raise NotFound("List", kind)
    context = {"groups": groups, "url": request.get_full_path(), "empty": _empty(kind)}
    return render(request, "sessions/_choices.html", context)


def _place(request: TeamRequest) -> tuple[Project, Config, str]:
    """Returns: the project, its settings, and the model of the session, if it is for one.

    Raises: NotFound, also for a session or project of another team; Forbidden.
    """
    if shown := request.GET.get("session"):
        session = session_of(request, shown, need=Role.MEMBER).session
        return session.project, session_config(session), model_name(session.model)
    project = project_of(request, request.GET.get("project", ""), need=Role.MEMBER).project
    return project, project_config(project), ""


def _back(request: TeamRequest) -> str:
    """Returns: the page that has the picker."""
    team = {"team": request.team.slug}
    if shown := request.GET.get("session"):
        return reverse("sessions:session", kwargs={**team, "session": shown})
    return reverse("team_home", kwargs=team)


def _empty(kind: str) -> str:
    if kind == "variant":
        return _("This model has no thinking variants.")
    return _("There is nothing to choose from.")


def _toggle_favourite(user: User, project: Project, model: str) -> None:
    kept = user.preferences.get(FAVOURITES)
    names = [one for one in kept if one != model] if isinstance(kept, list) else []
    if not isinstance(kept, list) or model not in kept:
        # What anybody could send is not kept: only what the team has.
        if model not in {one.ref for one in load_offers(project, user)}:
            raise NotFound("Model", model)
        names = [model, *names][:MAX_FAVOURITES]
    remember_taste(user, key=FAVOURITES, value=names)


def remember_used(user: User, model: str) -> None:
    """Have a model that a prompt was sent with among those that are offered first."""
    kept = user.preferences.get(RECENT)
    names = [one for one in kept if isinstance(one, str)] if isinstance(kept, list) else []
    if model and names[:1] != [model]:
        names = [model, *(one for one in names if one != model)]
        remember_taste(user, key=RECENT, value=list(names[:MAX_RECENT]))
