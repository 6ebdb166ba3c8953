"""What tools tell of a session. All text is bounded, and says when it was cut."""

from __future__ import annotations

import json

from django.urls import reverse

from opencode_web.lib.json import JsonValue, text_of
from opencode_web.lib.public_url import site_origin
from opencode_web.mcp_server.shapes import PermissionOut, QuestionOut, SessionOut
from sessions.access import SessionAccess, access_session
from sessions.changes.turn_diffs import changed_paths
from sessions.models import Message, Part, PermissionRequest, QuestionRequest, Session, State
from sessions.tree import tree_of
from teams.auth import Principal

MAX_PATHS = 200
# Of each request that waits.
MAX_REQUEST_CHARS = 20_000
_STATES = {State.IDLE: "idle", State.BUSY: "working", State.WAITING: "waiting"}


def page_of(session: Session) -> str:
    """`session.project.team` should be loaded. Returns: the whole address of its page."""
    names = {"team": session.project.team.slug, "session": session.pk}
    return f"{site_origin()}{reverse('sessions:session', kwargs=names)}"


def read_session(principal: Principal, session_id: str, *, max_chars: int) -> SessionOut:
    """Raises: NotFound, Forbidden."""
    access = access_session(principal, session_id)
    session = access.session
    answer = _answer(session)
    permissions, questions = pending(access)
    counts, paths = session.summary, sorted(changed_paths(session))
    return SessionOut(
        id=session.pk,
        project=session.project_id,
        title=session.title,
        url=page_of(session),
        state="waiting" if permissions or questions else _STATES[State(session.state)],
        outcome=session.outcome,
        detail=session.outcome_detail[:2_000],
        answer=answer[:max_chars],
        answer_is_cut=len(answer) > max_chars,
        permissions=[_permission(row) for row in permissions],
        questions=[_question(row) for row in questions],
        changed_files=paths[:MAX_PATHS],
        changed_files_total=int(counts.get("files", len(paths))),
        additions=int(counts.get("additions", 0)),
        deletions=int(counts.get("deletions", 0)),
        cost_usd=float(session.cost),
        archived=session.archived_at is not None,
    )


def pending(access: SessionAccess) -> tuple[list[PermissionRequest], list[QuestionRequest]]:
    """Returns: what the session and its sub-agents wait for, the oldest first."""
    tree = tree_of(access.session)
    permissions = PermissionRequest.objects.pending().filter(session__in=tree)
    return list(permissions), list(QuestionRequest.objects.pending().filter(session__in=tree))


def _answer(session: Session) -> str:
    """Returns: what the agent has said last, if that was after the newest prompt."""
    newest = Message.objects.visible(session).order_by("-seq")
    said = newest.filter(role="assistant").first()
    asked = newest.filter(role="user").only("seq").first()
    if said is None or (asked is not None and asked.seq > said.seq):
        return ""
    parts = Part.objects.visible(session).filter(message=said, type="text").order_by("seq", "pk")
    return "\n\n".join(filter(None, (text_of(part.data, "text") for part in parts)))


def _permission(row: PermissionRequest) -> PermissionOut:
    patterns = [str(pattern) for pattern in row.patterns]
    shown, room = list[str](), MAX_REQUEST_CHARS
    for pattern in patterns:
        shown.append(pattern[:room])
        room -= len(shown[-1])
        if room <= 0:
            break
    details, is_cut = _bounded(row.metadata)
    return PermissionOut(
        id=row.pk,
        permission=row.permission,
        patterns=shown,
        details=details,
        is_cut=is_cut or shown != patterns,
        can_always=bool(row.always),
        needs_second_person=row.second_person,
    )


def _question(row: QuestionRequest) -> QuestionOut:
    questions, is_cut = _bounded(row.questions)
    return QuestionOut(id=row.pk, questions=questions, is_cut=is_cut)


def _bounded(value: JsonValue) -> tuple[str, bool]:
    text = json.dumps(value, ensure_ascii=False)
    return text[:MAX_REQUEST_CHARS], len(text) > MAX_REQUEST_CHARS
