from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from sessions.actions.sessions import delete_session, update_session
from sessions.present.place import Place
from sessions.present.sessions import shown_title
from sessions.views.requests import session_of
from sessions.wire import to_ms
from teams.http import TeamRequest, done, go, team_view
from teams.models import Role


@require_POST
@team_view(need=Role.MEMBER)
def rename(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    title = request.POST.get("title", "")
    # Saved as it was shown, it stays without a title.
    if title != shown_title(access.session):
        update_session(access, title=title)
    if request.htmx:
        return HttpResponse(status=204)
    return redirect(Place.of(access.session).url("session"))


@require_POST
@team_view(need=Role.MEMBER)
def archive(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    # The forms say what they want: one that is sent twice must not undo itself.
    wanted = request.POST.get("archived")
    back = access.session.archived_at is not None if wanted is None else wanted == "0"
    update_session(access, archived_ms=0 if back else to_ms(timezone.now()))
    if back:
        return done(request, "The session is back in the list.", to=_page(request, session))
    # What the tag of a message is: the address that takes its deed back.
    undo = Place.of(access.session).url("archive")
    messages.success(request, f"“{shown_title(access.session)}” is archived.", extra_tags=undo)
    return go(request, to=_home(request))


@require_POST
@team_view(need=Role.MEMBER)
def delete(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    delete_session(access)
    return done(request, "The session is deleted.", to=_home(request))


def _home(request: TeamRequest) -> str:
    return reverse("team_home", kwargs={"team": request.team.slug})


def _page(request: TeamRequest, session: str) -> str:
    return reverse("sessions:session", kwargs={"team": request.team.slug, "session": session})
