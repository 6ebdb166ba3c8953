"""From a request of a team's page to a session or project of that team, and to what was typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.constants import SELF, UNSAFE_INLINE
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import AppError, NotFound
from opencode_web.lib.ids import is_id, new_id
from sessions.access import ProjectAccess, SessionAccess, access_project, access_session
from sessions.models import Session
from sessions.present.frame.composer import Draft
from sessions.present.frame.rail import MAX_SHOWN, SHOWN, RailFilter
from sessions.present.place import Place
from sessions.previews.origin import hosts_of_previews
from teams.actions.tastes import remember_taste
from teams.auth import authenticate_user
from teams.http import TeamRequest, team_view
from teams.models import Role

# Key of the browser's session, and of a person's preferences.
_FILTERS = "rail_filters"
_WHO = "rail_who"
_MAX_ACTS_CHARS = 3_000
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def session_of(request: TeamRequest, session_id: str, *, need: Role = Role.VIEWER) -> SessionAccess:
    """Raises: NotFound, also for a session of another of the person's teams; Forbidden."""
    access = access_session(authenticate_user(request.user), session_id, need=need)
    if access.project.team_id != request.team.pk:
        raise NotFound("Session", session_id)
    # What the page offers goes by the role in its project.
    request.access = access.team
    return access


def require_shown(
    request: TeamRequest, session_id: str, access: SessionAccess, *, kind: str, id: str
) -> None:
    """What a session asks is answered on its own page, or on that of the session at the top.

    Raises: NotFound on any other, also of another of the person's teams.
    """
    shown_on = (access.session.pk, access.session.top_id)
    if session_id not in shown_on or access.project.team_id != request.team.pk:
        raise NotFound(kind, id)


def done(request: TeamRequest, session: Session) -> HttpResponse:
    """The socket paints what changed; without it the page is read again."""
    url = Place.of(session).url("session")
    return HttpResponse(status=204) if request.htmx else redirect(url)


def file_reverted(
    request: TeamRequest, session: Session, file: str, text: str, *, to: str = ""
) -> HttpResponse:
    """What is asked of a worker, and how it is taken back; without a script, where to look."""
    place = Place.of(session)
    if not request.htmx:
        return redirect(to or place.url("session"))
    context = {"message": text, "undo_url": place.url("file_undo"), "undo_file": file}
    return render(request, "sessions/_file_reverted.html", context)


def project_of(request: TeamRequest, project_id: str, *, need: Role = Role.VIEWER) -> ProjectAccess:
    """Raises: NotFound, also for a project of another of the person's teams; Forbidden."""
    access = access_project(authenticate_user(request.user), project_id, need=need)
    if access.project.team_id != request.team.pk:
        raise NotFound("Project", project_id)
    request.access = access.team
    return access


def app_origin(request: HttpRequest) -> str:
    """Returns: the origin at which the person visits this server."""
    return f"{request.scheme}://{request.get_host()}"


def render_work(
    request: TeamRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """A page of the workspace. These take each other's place in one document, whose policy is that
    of the first: so all of them have what terminals and previews need.
    """
    shows_work = request.access.can(Role.MEMBER)
    response = render(request, template, {**context, "shows_work": shows_work}, status=status)
    if shows_work:
        # The script of terminals draws with style sheets that it makes. A preview is shown by an
        # address of ours that leads to its own host.
        policy = {"style-src": [SELF, UNSAFE_INLINE]}
        if hosts := hosts_of_previews(app_origin(request)):
            policy["frame-src"] = [SELF, hosts]
        response._csp_update = policy  # type: ignore[attr-defined]  # django-csp's
    return response


def acting_of(request: TeamRequest) -> set[str]:
    """Returns: ids of the commands that act on the page that is open, as it says itself."""
    return set(request.GET.get("acts", "")[:_MAX_ACTS_CHARS].split(","))


@team_view()
def _to_project(request: TeamRequest, project: str) -> HttpResponse:
    return redirect("sessions:project", team=request.team.slug, project=project)


def form_of_project(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view that takes only forms: whoever reads its address comes to the project's page."""

    @wraps(view)
    def wrapped(request: HttpRequest, team: str, project: str, **names: object) -> HttpResponseBase:
        if request.method in {"GET", "HEAD"}:
            return _to_project(request, team=team, project=project)
        answer: HttpResponseBase = require_POST(view)(request, team=team, project=project, **names)
        return answer

    return wrapped


def rail_filter(request: TeamRequest) -> RailFilter:
    """The filter as it was sent. Of the one sent last, two choices stay on every page.

    Whose sessions is remembered with the person, the project for one team in one browser. The text
    and the archive are a look that ends with its address.
    """
    sent = request.GET if _is_filter(request) else None
    if sent is None:
        sent = request.session.get(_FILTERS, {}).get(request.team.pk, {})
        mine, text, archived = request.user.preferences.get(_WHO) == "mine", "", False
    else:
        mine, text = sent.get("who") == "mine", sent.get("text", "").strip()[:200]
        archived = sent.get("archived") == "1"
    shown = request.GET.get("shown", "")
    return RailFilter(
        mine=mine,
        project=sent.get("project", "")[:40],
        text=text,
        archived=archived,
        board=request.GET.get("board") == "1",
        shown=min(int(shown), MAX_SHOWN) if shown.isdecimal() and len(shown) < 6 else SHOWN,
    )


def _is_filter(request: TeamRequest) -> bool:
    # Not `archived`: on a project's page that is about its own list.
    return not {"who", "project", "text"}.isdisjoint(request.GET)


def remember_filter(request: TeamRequest) -> None:
    """Keep what stays of the filter that was sent with this page, if one was."""
    if not _is_filter(request):
        return
    chosen = rail_filter(request)
    who = "mine" if chosen.mine else "team"
    if request.user.preferences.get(_WHO, "team") != who:
        remember_taste(request.user, key=_WHO, value=who)
    filters = request.session.get(_FILTERS, {})
    kept = {"project": chosen.project}
    if filters.get(request.team.pk) != kept:
        request.session[_FILTERS] = {**filters, request.team.pk: kept}


def draft_of(request: HttpRequest, fault: AppError) -> Draft:
    """Returns: what was sent, with what is wrong about it."""
    fields, is_of_branch = request.POST, fault.data.get("field") == "branch"
    keys = fault.data.get("keys")
    return Draft(
        text=fields.get("text", ""),
        agent=fields.get("agent", ""),
        model=fields.get("model", ""),
        variant=fields.get("variant", ""),
        project=fields.get("project", ""),
        place=fields.get("place", ""),
        branch=fields.get("branch", ""),
        branch_fault=fault.message if is_of_branch else "",
        private=bool(fields.get("private")),
        also=tuple(fields.getlist("also")),
        error="" if is_of_branch or keys else fault.message,
        unknown_command=str(fault.data.get("command", "")),
        keys=tuple(map(str, keys)) if isinstance(keys, list) else (),
        idempotency=fields.get("idempotency", ""),
    )


def message_id_of(key: str) -> str | None:
    """The message id that a form's idempotency key stands for; None for a key of another form.

    Pages carry a message id; the browser's script renews it with a ULID, which holds the same: a
    time and random bits.
    """
    if is_id(key, "msg"):
        return key
    if not _ULID.fullmatch(key):
        return None
    at_ms = 0
    for letter in key[:10]:
        at_ms = at_ms * 32 + _CROCKFORD.index(letter)
    return new_id("msg", at_ms=at_ms)[:16] + key[12:26]
