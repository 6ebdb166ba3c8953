from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from providers.resolve import parse_ref
from sessions.access import ProjectAccess
from sessions.actions.calls import stop_command as stop_running
from sessions.actions.checkouts import choose_plan
from sessions.actions.compaction import request_compaction
from sessions.actions.compare import Variation, start_compared
from sessions.actions.composer_input import admit_typed
from sessions.actions.control import request_stop, resume_session, retry_now
from sessions.actions.drafts import settle_draft
from sessions.actions.prompts import PromptDraft
from sessions.actions.retry_failed_turn import go_on_after_fault
from sessions.actions.start import start_session
from sessions.forms.attached import attached_parts
from sessions.models import Project, Session
from sessions.present.frame.composer import Composer, session_composer, start_composer
from sessions.present.pages.budgets.page import with_funds
from sessions.present.place import Place
from sessions.views.choices import remember_used
from sessions.views.commands import settle_command
from sessions.views.found_keys import settle_keys
from sessions.views.home import home_page, projects_of
from sessions.views.requests import done, draft_of, message_id_of, project_of, session_of
from sessions.views.sessions import session_page
from sessions.views.start_place import remember_place, require_branch
from teams.http import TeamRequest, go, team_view
from teams.models import Role

# Of the form for a new session; else the default of its project.
_PLACES = {"own": True, "project": False}


def _draft(request: HttpRequest) -> PromptDraft:
    fields = request.POST
    delivery: Literal["steer", "queue"] = "queue" if fields.get("delivery") == "queue" else "steer"
    model, variant = fields.get("model", ""), fields.get("variant", "")[:100]
    return PromptDraft(
        parts=[
            {"type": "text", "text": fields.get("text", "").replace("\r\n", "\n")},
            *attached_parts(request.FILES.getlist("files")),
        ],
        message_id=message_id_of(fields.get("idempotency", "")),
        agent=fields.get("agent") or None,
        model=parse_ref(model, variant=variant or None) if model else None,
        delivery=delivery,
    )


def _refused(request: HttpRequest, composer: Composer) -> HttpResponse:
    """The form as it was typed, with what is wrong about it."""
    html = render_to_string("sessions/_composer.html", {"composer": composer}, request=request)
    return reswap(retarget(HttpResponse(html, status=422), "#composer"), "outerHTML")


@require_POST
@team_view()
def start(request: TeamRequest) -> HttpResponse:
    access = project_of(request, request.POST.get("project", ""), need=Role.MEMBER)
    try:
        settle_command(request, access.project, None)
        settle_keys(request, access)
        session, is_compared = _started(request, access)
    except (Invalid, NotFound, Conflict) as exc:
        draft = draft_of(request, exc)
        if not request.htmx:
            return home_page(request, draft, status=422)
        ready = [p for p in projects_of(request.access) if p.status == Project.Status.READY]
        if not ready:
            raise
        composer = start_composer(request.team, ready, request.user, draft)
        return _refused(request, with_funds(composer, request.access))
    settle_draft(request.user, access.project, None)
    remember_used(request.user, request.POST.get("model", ""))
    if not is_compared:
        remember_place(request.user, access.project, request.POST.get("place", ""))
    return go(request, to=Place.of(session).url("compare" if is_compared else "session"))


def _started(request: TeamRequest, access: ProjectAccess) -> tuple[Session, bool]:
    """Returns: the new session, and whether it is compared with others."""
    # The field of the branch is there for a worktree of its own only.
    is_own = request.POST.get("place") == "own"
    branch = request.POST.get("branch", "").strip() if is_own else ""
    require_branch(access.project, branch)
    private = bool(request.POST.get("private"))
    if also := request.POST.getlist("also"):
        others = [_variation(one) for one in also]
        first = start_compared(access, _draft(request), others, branch=branch, private=private)
        return first, True
    worktree = _PLACES.get(request.POST.get("place", ""))
    plan = choose_plan(access.project, worktree=worktree, branch=branch)
    session = start_session(access, _draft(request), checkout=plan, private=private)
    return session, False


def _variation(chosen: str) -> Variation:
    kind, _, name = chosen.partition(":")
    return Variation(agent=name) if kind == "agent" else Variation(model=parse_ref(name))


@require_POST
@team_view()
def prompt(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    try:
        settle_command(request, access.project, access.session)
        settle_keys(request, ProjectAccess(access.project, access.team, access.principal))
        admit_typed(access, _draft(request))
    except (Invalid, NotFound, Conflict) as exc:
        draft = draft_of(request, exc)
        if not request.htmx:
            return session_page(request, access.session, draft, status=422)
        composer = session_composer(access.session, request.user, draft)
        return _refused(request, with_funds(composer, request.access, access.session))
    settle_draft(request.user, access.project, access.session)
    remember_used(request.user, request.POST.get("model", ""))
    return done(request, access.session)


@require_POST
@team_view()
def stop_command(request: TeamRequest, session: str, part: str) -> HttpResponse:
    """End one shell command; the turn goes on."""
    access = session_of(request, session, need=Role.MEMBER)
    stop_running(access, part)
    return done(request, access.session)


@require_POST
@team_view()
def compact(request: TeamRequest, session: str) -> HttpResponse:
    """Sum the conversation up for the model."""
    access = session_of(request, session, need=Role.MEMBER)
    request_compaction(access)
    return done(request, access.session)


@require_POST
@team_view()
def stop(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    request_stop(access)
    return done(request, access.session)


@require_POST
@team_view()
def resume(request: TeamRequest, session: str) -> HttpResponse:
    """Send what a stop has held."""
    access = session_of(request, session, need=Role.MEMBER)
    resume_session(access)
    return done(request, access.session)


@require_POST
@team_view()
def retry(request: TeamRequest, session: str) -> HttpResponse:
    """Make the next try of a failed provider turn now, or go on after a turn that has failed."""
    access = session_of(request, session, need=Role.MEMBER)
    if not retry_now(access):
        draft = _draft(request)
        go_on_after_fault(access, agent=draft.agent, model=draft.model)
    return done(request, access.session)
