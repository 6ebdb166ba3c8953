from __future__ import annotations

import json
from collections.abc import Callable

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from opencode_web.lib.json import JsonObject
from sessions.actions.team_items import mark_of
from sessions.actions.whole_settings import NotAgreed, replace_team_settings
from sessions.agents.config_hints import config_hints
from sessions.config.known_keys import say_unknown
from sessions.config.public import public_config
from sessions.forms.fields import SettingsForm
from sessions.rules.sources import problems_of_team
from teams.access import require_role
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role, Team


@require_http_methods(["GET", "POST"])
@team_view()
def team_config(request: TeamRequest) -> HttpResponse:
    """The settings of every project of a team: admins change them, members read them masked."""
    if request.method != "POST":
        return _page(request, form_of(request.team.config))
    require_role(request.access, Role.ADMIN)
    form = SettingsForm(request.POST)
    ip = client_ip(request)
    saved = save(
        form,
        lambda data, seen, agreed: replace_team_settings(
            request.access, data, seen=seen, agreed=agreed, ip=ip
        ),
    )
    if saved is None:
        return _page(request, form, status=422)
    return done(request, said(request.team, saved, form), to=_url(request))


def form_of(config: JsonObject) -> SettingsForm:
    """The form of settings as they are stored."""
    return SettingsForm(initial={"config": shown(config), "seen": mark_of(config)})


def save(
    form: SettingsForm, replace: Callable[[JsonObject, str, str], JsonObject]
) -> JsonObject | None:
    """Save what a form has, by an action that takes the settings, what was seen and agreed to.

    Returns: the settings as stored, or None when the form is wrong or has to be agreed to first.
    """

    def act() -> JsonObject:
        given = form.cleaned_data
        try:
            return replace(given["config"], given["seen"], given["agreed"])
        except NotAgreed as exc:
            form.to_agree = exc.mark
            exc.message = " ".join([exc.message, *say_unknown(given["config"])])
            raise

    return attempt(form, act)


def shown(config: JsonObject) -> str:
    """Settings as the form has them: masked, and nothing instead of an empty object."""
    public = public_config(config)
    return json.dumps(public, indent=2, ensure_ascii=False) if public else ""


def said(team: Team, config: JsonObject, form: SettingsForm) -> str:
    """The message after saving what a form has, with what has no effect."""
    # The team may have been changed by the same request.
    team.refresh_from_db(fields=["config"])
    unknown = say_unknown(form.cleaned_data["config"])
    return " ".join([_("Saved."), *unknown, *config_hints(team, config)])


def _page(request: TeamRequest, form: SettingsForm, *, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "text": shown(request.team.config),
        "url": _url(request),
        "problems": problems_of_team(request.team),
        "may_change": request.access.can(Role.ADMIN),
    }
    return render(request, "sessions/team_config.html", context, status=status)


def _url(request: TeamRequest) -> str:
    return reverse("sessions:team_config", kwargs={"team": request.team.slug})
