"""The commands and agents of a team, each a page: everybody reads them, admins write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.actions.team_items import item_of, mark_of, put_team_item
from sessions.agents.config_hints import models_of, say_missing
from sessions.agents.loader import load_agents
from sessions.commands.catalog import load_commands
from sessions.config.effective import team_data
from sessions.config.model import Config, parse_settings
from sessions.forms.team_settings import AgentForm, CommandForm
from sessions.present.frame.builtin import describe
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role, Team


@dataclass(frozen=True)
class TeamItemLine:
    """One of the list. `is_own`: the settings of the team have it, or change it."""

    name: str
    description: str
    facts: str
    is_own: bool
    is_native: bool
    model: str | None = None


@dataclass(frozen=True)
class TeamItemKind:
    """What commands and agents differ in. `key` is theirs in the settings and in addresses."""

    key: str
    form: type[CommandForm | AgentForm]
    one: Promise
    many: Promise
    new: Promise
    lead: Promise
    delete: Promise
    lines: Callable[[Config, JsonObject], list[TeamItemLine]]


def _commands(config: Config, own: JsonObject) -> list[TeamItemLine]:
    return [
        TeamItemLine(
            name=name,
            description=describe(one.config.description or ""),
            facts=" · ".join(filter(None, (one.config.agent, one.config.model))),
            is_own=name in own,
            is_native=name not in config.command,
            model=one.config.model,
        )
        for name, one in load_commands(config).items()
    ]


def _mode_label(mode: str) -> str:
    names = {
        "primary": _("Main agent"),
        "subagent": _("Sub-agent"),
        "all": _("Main agent and sub-agent"),
    }
    return names.get(mode, mode)


def _agents(config: Config, own: JsonObject) -> list[TeamItemLine]:
    agents = load_agents(config)
    shown = [
        TeamItemLine(
            name=name,
            description=describe(one.description),
            facts=" · ".join(filter(None, (_mode_label(one.mode), one.model))),
            is_own=name in own,
            is_native=one.native,
            model=one.model,
        )
        for name, one in agents.items()
        if not one.hidden or name in own
    ]
    # What is taken away has to be found to be brought back.
    gone = [
        TeamItemLine(name, "", _("Turned off"), True, False) for name in own if name not in agents
    ]
    return shown + gone


COMMANDS = TeamItemKind(
    "command",
    CommandForm,
    gettext_lazy("Command"),
    gettext_lazy("Commands"),
    gettext_lazy("New command"),
    gettext_lazy(
        "Saved prompts for every project of this team. Type / and the name in a message to use one."
    ),
    gettext_lazy(
        "The team's text is removed. If there is a built-in command with this name, it is "
        "used again."
    ),
    _commands,
)
AGENTS = TeamItemKind(
    "agent",
    AgentForm,
    gettext_lazy("Agent"),
    gettext_lazy("Agents"),
    gettext_lazy("New agent"),
    gettext_lazy("The agents for this team's sessions: built-in agents and your own."),
    gettext_lazy(
        "The team's settings for it are removed. A built-in agent is reset to its defaults."
    ),
    _agents,
)
KINDS = {"commands": COMMANDS, "agents": AGENTS}


@require_GET
@team_view()
def items(request: TeamRequest, kind: str) -> HttpResponse:
    what = _kind(kind)
    data = team_data(request.team)
    own = item_of(request.team.config, (what.key,))
    lines = what.lines(parse_settings(data), own if isinstance(own, dict) else {})
    context: dict[str, object] = {
        "kind": kind,
        "what": what,
        "lines": lines,
        "missing": {line.model for line in lines if line.model} - models_of(request.team, data),
        "may_change": request.access.can(Role.ADMIN),
    }
    return render(request, "sessions/team_items.html", context)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def item_new(request: TeamRequest, kind: str) -> HttpResponse:
    return _form(request, kind, "")


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def item(request: TeamRequest, kind: str, name: str) -> HttpResponse:
    return _form(request, kind, name)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def item_delete(request: TeamRequest, kind: str, name: str) -> HttpResponse:
    what = _kind(kind)
    stored = item_of(request.team.config, (what.key, name))
    if stored is None:
        raise NotFound(str(what.one), name)
    if request.method == "POST":
        path, seen = (what.key, name), mark_of(stored)
        put_team_item(request.access, path, None, seen=seen, ip=client_ip(request))
        return done(request, _("%(name)s removed.") % {"name": name}, to=_list(request, kind))
    context: dict[str, object] = {
        "title": _("Remove %(name)s?") % {"name": name},
        "text": what.delete,
        "action": _("Remove"),
        "back": _list(request, kind),
    }
    return render(request, "teams/confirm.html", context)


def _form(request: TeamRequest, kind: str, name: str) -> HttpResponse:
    what = _kind(kind)
    stored = item_of(request.team.config, (what.key, name)) if name else None
    known: JsonObject = stored if isinstance(stored, dict) else {}
    first = _builtin(request.team, what, name) if name and not known else {}
    if name and not known and not first:
        raise NotFound(str(what.one), name)
    initial = {"name": name, **first, **known}
    form = what.form(request.POST if request.method == "POST" else None, initial=initial)
    if name:
        form.fields["name"].validators.clear()  # it is stored, perhaps by other means, and stays
    if request.method == "POST" and attempt(form, lambda: _save(request, what, form, name, known)):
        said = _("%(name)s saved.") % {"name": form.cleaned_data["name"]}
        model = form.cleaned_data["model"]
        if model and model not in models_of(request.team, team_data(request.team)):
            said = f"{said} {say_missing(model)}"
        agent = form.cleaned_data.get("agent", "")
        if agent and agent not in load_agents(parse_settings(team_data(request.team))):
            missing = _("There is no agent %(name)s yet. Until there is, the command fails.")
            said = f"{said} {missing % {'name': agent}}"
        return done(request, said, to=_list(request, kind))
    context: dict[str, object] = {
        "kind": kind,
        "what": what,
        "form": form,
        "name": name,
        "seen": request.POST.get("seen") or mark_of(stored),
        "is_own": bool(known),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "sessions/team_item.html", context, status=status)


def _save(
    request: TeamRequest,
    what: TeamItemKind,
    form: CommandForm | AgentForm,
    name: str,
    known: JsonObject,
) -> bool:
    """Raises: Conflict for a form that is older than what is stored; Invalid for a new name."""
    given: str = form.cleaned_data["name"]
    if name and given != name:
        raise Invalid(_("Names cannot be changed. Create a new one and remove this one."))
    seen = request.POST.get("seen", "")
    if not name and item_of(request.team.config, (what.key, given)) is not None:
        raise Invalid(_("The team already uses this name."))
    path = (what.key, given)
    put_team_item(request.access, path, form.item(known), seen=seen, ip=client_ip(request))
    return True


def _builtin(
    team: Team, what: TeamItemKind, name: str
) -> dict[str, Any]:  # initial values of a form
    """Returns: what holds for a name that the team's settings say nothing about; else nothing."""
    config = parse_settings(team_data(team))
    if what is COMMANDS:
        command = load_commands(config).get(name)
        return command.config.model_dump(exclude_none=True) if command else {}
    agent = load_agents(config).get(name)
    # Its own instructions and mode stay unless somebody writes others.
    return {"description": agent.description} if agent else {}


def _kind(name: str) -> TeamItemKind:
    if name not in KINDS:
        raise NotFound("Page", name)
    return KINDS[name]


def _list(request: TeamRequest, kind: str) -> str:
    return reverse("sessions:team_items", kwargs={"team": request.team.slug, "kind": kind})
