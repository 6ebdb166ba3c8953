from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import Invalid, NotFound
from sessions.actions.privacy import set_private
from sessions.actions.sessions import delete_session, update_session
from sessions.models import Session
from sessions.present.frame.title_edit import build_title_edit
from sessions.present.place import Place
from sessions.present.sessions import build_header, shown_title
from sessions.views.requests import done as page_or_nothing
from sessions.views.requests import session_of
from sessions.views.sessions import session_page
from sessions.wire import to_ms
from teams.http import TeamRequest, client_ip, done, go, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@team_view()
def rename(request: TeamRequest, session: str) -> HttpResponse:
    """The form of a new title, in place of the old one or on the page of the session."""
    access = session_of(request, session, need=Role.MEMBER)
    row = access.session
    if request.method == "GET":
        if row.parent_id is not None:
            raise NotFound("Title", session)
        return _title(request, row) if "close" in request.GET else _title_form(request, row)
    title = request.POST.get("title", "")
    try:
        # Saved as it was shown, it stays without a title.
        if title != shown_title(row):
            row = update_session(access, title=title)
    except Invalid as exc:
        if request.POST.get("from") != "title":
            raise
        return _title_form(request, row, typed=title, error=exc.message)
    if request.htmx and request.POST.get("from") == "title":
        return _title(request, row)
    return page_or_nothing(request, row)


def _title(request: TeamRequest, session: Session) -> HttpResponse:
    context = {"session": build_header(session), "returned": True}
    return render(request, "sessions/_title.html", context)


def _title_form(
    request: TeamRequest, session: Session, *, typed: str | None = None, error: str = ""
) -> HttpResponse:
    edit = build_title_edit(session, typed=typed, error=error)
    status = 422 if error else 200
    if not request.htmx:
        return session_page(request, session, title_edit=edit, status=status)
    return render(request, "sessions/_title_form.html", {"edit": edit}, status=status)


@require_POST
@team_view()
def archive(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    # The forms say what they want: one that is sent twice must not undo itself.
    wanted = request.POST.get("archived")
    back = access.session.archived_at is not None if wanted is None else wanted == "0"
    update_session(access, archived_ms=0 if back else to_ms(timezone.now()))
    if back:
        text = _("The session is no longer archived.")
        if _is_from_list(request):
            return _say(request, text)
        return done(request, text, to=_page(request, session))
    text = _("“%(title)s” archived.") % {"title": shown_title(access.session)}
    # What the tag of a message is: the address that takes its deed back.
    undo = Place.of(access.session).url("archive")
    if _is_from_list(request):
        return _say(request, text, undo=undo)
    messages.success(request, text, extra_tags=undo)
    return go(request, to=_home(request))


@require_POST
@team_view()
def privacy(request: TeamRequest, session: str) -> HttpResponse:
    """Make it private, or open it again."""
    access = session_of(request, session, need=Role.MEMBER)
    private = request.POST.get("private") == "1"
    set_private(access, private=private, ip=client_ip(request))
    text = (
        _("This session is private now.")
        if private
        else _("Everyone who sees the project can see this session now.")
    )
    if _is_from_list(request):
        return _say(request, text)
    return done(request, text, to=_page(request, session))


@require_POST
@team_view()
def delete(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    delete_session(access)
    text = _("Session deleted.")
    if _is_from_list(request):
        return _say(request, text)
    return done(request, text, to=_home(request))


def _is_from_list(request: TeamRequest) -> bool:
    """Whether the page stays: it is a list beside something else, and the socket takes the row."""
    return bool(request.htmx) and request.POST.get("from") == "list"


def _say(request: TeamRequest, text: str, *, undo: str = "") -> HttpResponse:
    context = {"message": text, "kind": "ok", "undo_url": undo}
    return render(request, "_toast.html", context)


def _home(request: TeamRequest) -> str:
    return reverse("team_home", kwargs={"team": request.team.slug})


def _page(request: TeamRequest, session: str) -> str:
    return reverse("sessions:session", kwargs={"team": request.team.slug, "session": session})
