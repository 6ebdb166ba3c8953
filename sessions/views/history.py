"""What can be done with a turn: go on from it elsewhere, roll back to before it, delete it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import NotFound
from sessions.actions.drafts import MAX_CHARS, save_draft
from sessions.actions.fork import fork_session
from sessions.actions.history import delete_messages
from sessions.actions.revert import (
    revert_file,
    revert_session,
    undo_file_revert,
    unrevert_session,
)
from sessions.models import Session
from sessions.present.changes.rollback import build_turn_menu
from sessions.present.conversation.history import load_turns_of, next_message_id, render_context
from sessions.present.conversation.turns import TurnRows, build_turn, prompt_text
from sessions.present.frame.rail import load_rail
from sessions.present.place import Place
from sessions.present.sessions import build_header
from sessions.views.drafts import kept_in_session
from sessions.views.requests import done, file_reverted, rail_filter, session_of
from teams.http import TeamRequest, go, team_view
from teams.models import Role


def _turn_of(session: Session, turn_id: str) -> TurnRows:
    """Raises: NotFound, also for a turn that is rolled back."""
    # A turn without a prompt is named after its first answer.
    turns = load_turns_of(session, [turn_id.removeprefix("before-")])
    if not turns:
        raise NotFound("Turn", turn_id)
    return turns[0][0]


@require_GET
@team_view()
def turn_menu(request: TeamRequest, session: str, turn: str) -> HttpResponse:
    row = session_of(request, session, need=Role.MEMBER).session
    rows, place = _turn_of(row, turn), Place.of(row)
    first = rows.prompt or rows.answers[0][0]
    menu = build_turn_menu(row, rows.id, from_seq=first.seq)
    if request.htmx:
        return render(request, "sessions/_turn_menu.html", {"menu": menu})
    context = {
        "menu": menu,
        "session": build_header(row),
        "turn": build_turn(rows, render_context(row, []), running=False),
        "rail": load_rail(request.access, rail_filter(request), current=row.pk),
        "back_url": place.url("session"),
    }
    return render(request, "sessions/turn_menu.html", context)


@require_POST
@team_view()
def fork(request: TeamRequest, session: str) -> HttpResponse:
    """A new session that goes on after all that was said."""
    made = fork_session(session_of(request, session, need=Role.MEMBER))
    return go(request, to=Place.of(made).url("session"))


@require_POST
@team_view()
def turn_fork(request: TeamRequest, session: str, turn: str) -> HttpResponse:
    """A new session that goes on after this turn."""
    access = session_of(request, session, need=Role.MEMBER)
    last = _message_ids(_turn_of(access.session, turn))[-1]
    fork = fork_session(access, before=next_message_id(access.session, last))
    return go(request, to=Place.of(fork).url("session"))


@require_POST
@team_view()
def turn_revert(request: TeamRequest, session: str, turn: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    rows = _turn_of(access.session, turn)
    revert_session(access, _message_ids(rows)[0])
    # The script of the page gives the text back, where there is one, without losing what is typed.
    if not request.htmx and not kept_in_session(request.user, access.session).text:
        save_draft(access, text=prompt_text(rows)[:MAX_CHARS], typed_at=timezone.now())
    return done(request, access.session)


@require_POST
@team_view()
def turn_delete(request: TeamRequest, session: str, turn: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    delete_messages(access, _message_ids(_turn_of(access.session, turn)))
    return done(request, access.session)


@require_POST
@team_view()
def restore(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    unrevert_session(access)
    return done(request, access.session)


@require_POST
@team_view()
def file_revert(request: TeamRequest, session: str) -> HttpResponse:
    """One changed file as it was before a turn."""
    access = session_of(request, session, need=Role.MEMBER)
    file = request.POST.get("file", "")
    old = request.POST.get("old", "")
    revert_file(access, request.POST.get("turn", ""), file, old=old)
    text = _("%(file)s goes back to its state before this turn.") % {"file": file}
    return file_reverted(request, access.session, file, text)


@require_POST
@team_view()
def file_undo(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    undo_file_revert(access, request.POST.get("file", ""))
    return done(request, access.session)


def _message_ids(rows: TurnRows) -> list[str]:
    """Returns: the messages of the turn in order, its prompt first."""
    prompt = [rows.prompt.pk] if rows.prompt else []
    return [*prompt, *(message.pk for message, _ in rows.answers)]
