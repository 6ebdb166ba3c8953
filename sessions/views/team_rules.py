"""The permission rules of a team as a table, what was answered for good, and a trial of them."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from sessions.access import access_project, visible_projects
from sessions.actions.saved_rules import restore_rule, revoke_rule, revoke_team_rule
from sessions.actions.team_items import item_of, mark_of, put_team_item
from sessions.forms.team_settings import ACTIONS, RuleForm, TrialForm
from sessions.models import ChangeKind, Project
from sessions.present.pages.saved_rules import load_team_rules, rules_in
from sessions.present.projects import project_url
from sessions.rules.names import KnownNames, known_names
from sessions.rules.rows import RuleRow, read_rows, write_rows
from sessions.rules.sources import problems_of_team
from sessions.rules.trial import Outcome, try_call
from teams.auth import authenticate_user
from teams.http import TeamRequest, client_ip, done, go, team_view
from teams.models import AuditEntry, Role
from tools.permissions.rules import asked_as

PATH = ("permission",)
MAX_SAVED = 200
# Tools of MCP servers have the name of their server and `_` before their own.
_PLAIN = re.compile(r"[^_*?]+")


@require_GET
@team_view()
def team_rules(request: TeamRequest) -> HttpResponse:
    return _page(request)


@require_POST
@team_view(need=Role.ADMIN)
def team_rules_change(request: TeamRequest) -> HttpResponse:
    """One change of the table: `act` is add, or up, down, set or remove with a row's number."""
    act, _blank, number = request.POST.get("act", "").partition("-")
    before = rows = read_rows(item_of(request.team.config, PATH))
    form, note = RuleForm(request.POST) if act == "add" else None, ""
    if form is not None:
        known = known_names(request.access)
        if not _is_right(form, known):
            return _page(request, form=form, status=422)
        rows = [*rows, RuleRow(**form.cleaned_data)]
        note = _note(known, rows[-1].tool)
    else:
        rows = _changed(rows, act, number, request.POST.get(f"action-{number}", ""))
    try:
        seen = request.POST.get("seen", "")
        put_team_item(request.access, PATH, write_rows(rows), seen=seen, ip=client_ip(request))
    except (Conflict, Invalid) as exc:
        return _page(request, form=form, error=exc.message, status=422)
    if act == "remove":
        undo = _restore_url(request, int(number), before[int(number)])
        messages.success(request, _("Rule removed."), extra_tags=undo)
        return go(request, to=_url(request))
    said = f"{_('Saved.')} {note}" if note else _("Saved. This applies from the next call on.")
    return done(request, said, to=_url(request))


@require_POST
@team_view(need=Role.ADMIN)
def team_rule_restore(request: TeamRequest) -> HttpResponse:
    """Put a rule that was removed back to where it was; its address has the rule."""
    form, place = RuleForm(request.GET), request.GET.get("place", "")
    if not (form.is_valid() and place.isdecimal() and len(place) < 6):
        raise Invalid(_("This rule no longer exists."))
    stored = item_of(request.team.config, PATH)
    rows = read_rows(stored)
    rows.insert(int(place), RuleRow(**form.cleaned_data))
    put_team_item(
        request.access, PATH, write_rows(rows), seen=mark_of(stored), ip=client_ip(request)
    )
    return done(request, _("Rule restored."), to=_url(request))


@require_POST
@team_view(need=Role.MEMBER)
def saved_rule_revoke(request: TeamRequest, rule: int) -> HttpResponse:
    row = rules_in(request.access).filter(pk=rule).first()
    if row is None:
        raise NotFound("Rule", str(rule))
    if row.project_id is None:
        entry = revoke_team_rule(request.access, row)
    else:
        principal = authenticate_user(request.user)
        entry = revoke_rule(access_project(principal, row.project_id, need=Role.MEMBER), row)
    return revoked(request, entry, to=_url(request))


@require_POST
@team_view(need=Role.MEMBER)
def saved_rule_restore(request: TeamRequest, entry: int) -> HttpResponse:
    """Undo a revocation; `of` is the project whose page it was done on, if it was one."""
    rule = restore_rule(request.access, entry)
    project = rule.project if request.GET.get("of") == rule.project_id else None
    to = project_url(project, "project_settings") if project else _url(request)
    return done(request, _("Rule restored."), to=to)


def revoked(request: TeamRequest, entry: AuditEntry, *, to: str, of: str = "") -> HttpResponse:
    """Say that a saved answer is gone, and offer to bring it back."""
    if ChangeKind.RULES in request.team.needs_approval:
        return done(request, _("Revoked. Agents ask again."), to=to)
    undo = reverse("sessions:saved_rule_restore", args=[request.team.slug, entry.pk])
    query = f"?{urlencode({'of': of})}" if of else ""
    messages.success(request, _("Revoked. Agents ask again."), extra_tags=f"{undo}{query}")
    return go(request, to=to)


def _changed(rows: list[RuleRow], act: str, number: str, action: str) -> list[RuleRow]:
    """Raises: Invalid for a row that is not there, or no such act."""
    place = int(number) if number.isdecimal() and len(number) < 6 else -1
    if not 0 <= place < len(rows):
        raise Invalid(_("This rule no longer exists."))
    if act == "set":
        return [replace(row, action=action) if at == place else row for at, row in enumerate(rows)]
    rest = [row for at, row in enumerate(rows) if at != place]
    if act == "remove":
        return rest
    if act not in ("up", "down"):
        raise Invalid(_("This change does not exist."))
    at = max(0, place - 1) if act == "up" else place + 1
    return [*rest[:at], rows[place], *rest[at:]]


def _is_right(form: RuleForm, known: KnownNames) -> bool:
    """Whether a new rule can be about anything, now or later. Its errors say why not."""
    if form.is_valid():
        tool = form.cleaned_data["tool"]
        if mistake := _mistake(known, tool) or _missing(known, tool):
            form.add_error("tool", mistake)
    return form.is_valid()


def _missing(known: KnownNames, tool: str) -> str:
    """Returns: what could be meant by a name that no tool has; nothing for a pattern and for what
    an MCP server may offer once it is asked."""
    if known.has(tool) or not _PLAIN.fullmatch(tool):
        return ""
    said = _("There is no tool named %(tool)s.") % {"tool": tool}
    if name := known.closest(tool):
        meant = _("Did you mean %(name)s?") % {"name": name}
        return f"{said} {meant}"
    hint = _("Choose one from the list, or use * for any text.")
    return f"{said} {hint}"


def _mistake(known: KnownNames, tool: str) -> str:
    """Returns: which name is meant by one that no call is ever asked for by."""
    if (name := asked_as(tool)) != tool:
        return _("Requests for %(tool)s use the name %(name)s. Write the rule for that name.") % {
            "tool": tool,
            "name": name,
        }
    name = known.meant_by(tool)
    return _("Did you mean %(name)s? Names are case-sensitive.") % {"name": name} if name else ""


def _note(known: KnownNames, tool: str) -> str:
    """Returns: why a rule does nothing now; nothing for one that does."""
    if mistake := _mistake(known, tool) or _missing(known, tool):
        return mistake
    if known.has(tool):
        return ""
    return _("There is currently no tool named %(tool)s, so this rule has no effect yet.") % {
        "tool": tool
    }


def _page(
    request: TeamRequest, *, form: RuleForm | None = None, error: str = "", status: int = 200
) -> HttpResponse:
    request.team.refresh_from_db(fields=["config"])
    stored = item_of(request.team.config, PATH)
    trial, outcomes = _trial(request)
    known = known_names(request.access)
    context: dict[str, object] = {
        "rows": [
            (number, row, _note(known, row.tool)) for number, row in enumerate(read_rows(stored))
        ],
        "seen": mark_of(stored),
        "actions": ACTIONS,
        "older": [key for key in ("tools", "permissions") if request.team.config.get(key)],
        "form": form or RuleForm(),
        "error": error,
        "trial": trial,
        "outcomes": outcomes,
        "saved": load_team_rules(request.access, most=MAX_SAVED),
        "problems": problems_of_team(request.team),
        "tools": ["*", *sorted(known.names), *(f"{start}*" for start in sorted(known.starts))],
        "may_change": request.access.can(Role.ADMIN),
        "may_try": request.access.can(Role.MEMBER),
    }
    return render(request, "sessions/team_rules.html", context, status=status)


def _trial(request: TeamRequest) -> tuple[TrialForm, list[Outcome]]:
    principal = authenticate_user(request.user)
    projects = visible_projects(principal).filter(team=request.team).order_by("name")
    choices = [(one.pk, one.name) for one in projects.exclude(status=Project.Status.FAILED)]
    # To read a hostile command takes a second, so this is for those who could run it anyway.
    if "text" not in request.GET or not request.access.can(Role.MEMBER):
        return TrialForm(projects=choices), []
    form = TrialForm(request.GET, projects=choices)
    if not form.is_valid():
        return form, []
    given = form.cleaned_data
    project = access_project(principal, given["project"]).project
    found = try_call(project, agent=given["agent"], tool=given["tool"], text=given["text"])
    return form, found


def _restore_url(request: TeamRequest, place: int, row: RuleRow) -> str:
    url = reverse("sessions:team_rule_restore", args=[request.team.slug])
    return f"{url}?{urlencode({**asdict(row), 'place': place})}"


def _url(request: TeamRequest) -> str:
    return reverse("sessions:team_rules", args=[request.team.slug])
