from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import NotFound
from opencode_web.ops.access import access_process, access_turn, operator_view
from sessions.actions.operators import (
    drain_process,
    kill_turn,
    requeue_turn,
    resume_process,
    stop_turn,
)
from sessions.models import ServerProcess
from teams.audit import MAX_REASON
from teams.http import UserRequest, client_ip, done, show


@dataclass(frozen=True)
class Act:
    """Something to do, what it does, and what is said when it is done."""

    id: str
    icon: str
    label: Promise
    text: Promise
    done: Promise
    do: Callable[..., None]


TURN_ACTS = (
    Act(
        "stop",
        "square",
        _("Stop the turn"),
        _(
            "Stops the turn as a member would. Completed work is kept, and members see that an "
            "operator stopped it."
        ),
        _("The turn is being stopped."),
        stop_turn,
    ),
    Act(
        "kill",
        "ban",
        _("Kill processes"),
        _("For a turn that does not stop. Immediately kills every process it started."),
        _("The processes are being killed."),
        kill_turn,
    ),
    Act(
        "requeue",
        "rotate-ccw",
        _("Requeue"),
        _("For a turn whose worker is gone. Another worker continues from the last saved state."),
        _("The turn is waiting for a worker."),
        requeue_turn,
    ),
)
PROCESS_ACTS = (
    Act(
        "drain",
        "arrow-down",
        _("Drain"),
        _("The worker finishes its current turns and accepts no new ones. You can undo this."),
        _("The worker is draining."),
        drain_process,
    ),
    Act(
        "resume",
        "arrow-up",
        _("Stop draining"),
        _("Lets the worker accept turns again."),
        _("The worker accepts turns again."),
        resume_process,
    ),
)


@require_GET
@never_cache
@operator_view
def turn(request: UserRequest, session: str) -> HttpResponse:
    """For a script the list of acts, for everybody else a page with it."""
    found = access_turn(request.user, session)
    acts = [(act, reverse("ops:turn_act", args=[found.pk, act.id])) for act in TURN_ACTS]
    return _acts(request, found.pk, acts, back=reverse("ops:turns"))


@require_POST
@operator_view
def turn_act(request: UserRequest, session: str, act: str) -> HttpResponse:
    """Do something to a turn, for a reason."""
    found = access_turn(request.user, session)
    chosen = _named(TURN_ACTS, act)
    chosen.do(found, request.user, reason=_reason(request), ip=client_ip(request))
    return _said(request, chosen, to=reverse("ops:turns"))


@require_GET
@never_cache
@operator_view
def process(request: UserRequest, process: str) -> HttpResponse:
    """For a script the list of acts, for everybody else a page with it."""
    row = access_process(request.user, process)
    acts = [(act, reverse("ops:process_act", args=[row.pk, act.id])) for act in _acts_of(row)]
    return _acts(request, row.pk, acts, back=reverse("ops:workers"))


@require_POST
@operator_view
def process_act(request: UserRequest, process: str, act: str) -> HttpResponse:
    """Do something to a process, for a reason."""
    row = access_process(request.user, process)
    chosen = _named(PROCESS_ACTS, act)
    chosen.do(row, request.user, reason=_reason(request), ip=client_ip(request))
    return _said(request, chosen, to=reverse("ops:workers"))


def _acts_of(row: ServerProcess) -> tuple[Act, ...]:
    drain, resume = PROCESS_ACTS
    return (drain,) if row.drain_since is None else (resume,)


def _acts(
    request: UserRequest, name: str, acts: list[tuple[Act, str]], *, back: str
) -> HttpResponse:
    context: dict[str, object] = {
        "name": name,
        "acts": acts,
        "back": back,
        "max_reason": MAX_REASON,
    }
    return show(request, "ops/acts.html", "ops/_acts.html", context)


def _named(acts: tuple[Act, ...], name: str) -> Act:
    for act in acts:
        if act.id == name:
            return act
    raise NotFound("Page", name)


def _reason(request: UserRequest) -> str:
    return request.POST.get("reason", "")


def _said(request: UserRequest, act: Act, *, to: str) -> HttpResponse:
    """A toast where the page stays as it is, which then asks for its rows anew."""
    if request.htmx:
        return render(request, "_toast.html", {"message": act.done, "kind": "ok"})
    return done(request, str(act.done), to=to)
