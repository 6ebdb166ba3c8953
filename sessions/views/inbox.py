from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import reswap, retarget

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from opencode_web.lib.ids import is_id, new_id
from sessions.access import SessionAccess, may_change_input
from sessions.actions.composer_input import admit_typed
from sessions.actions.inbox import (
    can_restore,
    cancel_input,
    change_input,
    move_input,
    put_input,
    restore_input,
)
from sessions.actions.prompts import PromptDraft
from sessions.events.inbox import Delivery
from sessions.models import SessionInput
from sessions.present.conversation.docks import load_queue
from sessions.present.conversation.queue import QueueEdit, build_edit
from sessions.present.place import Place
from sessions.views.requests import message_id_of, session_of
from sessions.views.sessions import session_page
from teams.http import TeamRequest, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@team_view()
def edit(request: TeamRequest, session: str, prompt: str) -> HttpResponse:
    """The form that changes a waiting prompt, in place or on the page of its session."""
    access = session_of(request, session, need=Role.MEMBER)
    row = _input(access, prompt)
    if request.method == "GET":
        if "close" in request.GET:
            return _closed(request, access, row, said=_("Nothing was changed."))
        return _form(request, access, _edit_of(access, row))
    typed = request.POST.get("text", "").replace("\r\n", "\n")
    again = row.status != SessionInput.Status.ADMITTED and request.POST.get("idempotency", "")
    try:
        if again:
            draft = PromptDraft([{"type": "text", "text": typed}], message_id_of(again))
            admit_typed(access, draft)
        else:
            change_input(access, prompt, revision=_revision(request), text=typed)
    except (Conflict, Invalid) as exc:
        row.refresh_from_db()
        refused = build_edit(row, Place.of(access.session), typed=typed, error=exc.message)
        return _form(request, access, refused, status=exc.status)
    said = _("Message sent.") if again else _("Message changed.")
    return _closed(request, access, row, said=said)


def _input(access: SessionAccess, prompt: str) -> SessionInput:
    row = access.session.inputs.filter(pk=prompt).first()
    if row is None:
        raise NotFound("Prompt", prompt)
    return row


def _edit_of(access: SessionAccess, row: SessionInput) -> QueueEdit:
    if not may_change_input(access, row):
        raise Forbidden(_("Only its author, the session's owner or an admin can change this."))
    if row.status != SessionInput.Status.ADMITTED:
        raise Conflict(_("This message is no longer waiting."))
    return build_edit(row, Place.of(access.session))


def _closed(
    request: TeamRequest, access: SessionAccess, row: SessionInput, *, said: str
) -> HttpResponse:
    """No form, and the queue with the focus on the row that the form was about."""
    if not request.htmx:
        return _back(access)
    context = {"said": said, "queue": load_queue(access.session), "focused": row.id}
    return render(request, "sessions/_queue_edit.html", context)


def _form(
    request: TeamRequest, access: SessionAccess, shown: QueueEdit, *, status: int = 200
) -> HttpResponse:
    if not request.htmx:
        return session_page(request, access.session, queue_edit=shown, status=status)
    context = {"edit": shown, "back_url": Place.of(access.session).url("session")}
    response = render(request, "sessions/_queue_edit.html", context, status=status)
    # Said aloud, because the browser shows no other answers to what failed.
    return reswap(retarget(response, "#queue-edit"), "outerHTML") if status >= 400 else response


@require_POST
@team_view()
def deliver(request: TeamRequest, session: str, prompt: str) -> HttpResponse:
    """Have it taken in this turn, or only after it."""
    access = session_of(request, session, need=Role.MEMBER)
    delivery: Delivery = "steer" if request.POST.get("delivery") == "steer" else "queue"
    change_input(access, prompt, revision=_revision(request), delivery=delivery)
    return _queue(request, access)


@require_POST
@team_view()
def move(request: TeamRequest, session: str, prompt: str) -> HttpResponse:
    """One place up or down, or `before` another; before nothing is the end."""
    access = session_of(request, session, need=Role.MEMBER)
    if "before" in request.POST:
        put_input(access, prompt, before=request.POST["before"])
    else:
        move_input(access, prompt, up=request.POST.get("move") == "up")
    return _queue(request, access)


@require_POST
@team_view()
def remove(request: TeamRequest, session: str, prompt: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    row = cancel_input(access, prompt)
    text = _("Message removed.")
    # The undo of a page adds one message, however often it is sent.
    again = Place.of(access.session).url("requeue", prompt=prompt, message=new_id("msg"))
    undo = again if can_restore(access, row) else ""
    if not request.htmx:
        messages.success(request, text, extra_tags=undo)
        return _back(access)
    said = {"message": text, "kind": "ok", "undo_url": undo}
    return _queue(request, access, removed=said)


@require_POST
@team_view()
def restore(request: TeamRequest, session: str, prompt: str, message: str) -> HttpResponse:
    """Undo a removal."""
    access = session_of(request, session, need=Role.MEMBER)
    if not is_id(message, "msg"):
        raise NotFound("Message", message)
    restore_input(access, prompt, message_id=message)
    messages.success(request, _("The message is queued again."))
    return _back(access)


def _revision(request: TeamRequest) -> int:
    given = request.POST.get("revision", "")
    if not given.isdecimal() or len(given) > 9:
        raise Invalid(_("The form is incomplete. Reload the page."))
    return int(given)


def _queue(
    request: TeamRequest, access: SessionAccess, *, removed: dict[str, str] | None = None
) -> HttpResponse:
    if not request.htmx:
        return _back(access)
    context = {"queue": load_queue(access.session), "removed": removed}
    return render(request, "sessions/_queue.html", context)


def _back(access: SessionAccess) -> HttpResponse:
    return redirect(Place.of(access.session).url("session"))
