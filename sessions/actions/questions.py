from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid, Settled
from opencode_web.lib.text import clean_text
from sessions.access import SessionAccess
from sessions.actions.requests import close_requests
from sessions.events.hidden import hide_in_event
from sessions.events.questions import QuestionReplied
from sessions.events.store import append, lock_session
from sessions.events.types import SessionEvent
from sessions.models import QuestionRequest, Session
from sessions.wake import wake
from teams.audit import AuditAction, record

MAX_ANSWER_CHARS = 10_000
MAX_ANSWERS = 50
Pending = QuestionRequest.Status.PENDING


@transaction.atomic
def reply_question(
    access: SessionAccess, request: QuestionRequest, *, answers: Sequence[Sequence[str]]
) -> QuestionRequest:
    """Answer an agent's questions; the call that waits goes on with the answers.

    `answers` has for each question the labels that were chosen and what was written; an empty list
    leaves a question out. The first answer wins.

    Raises: Settled when somebody has answered before, naming who; Invalid when the answers do not
    fit the questions.
    """
    session, request = _lock(access, request)
    given = _fitting(request, answers)
    replied = QuestionReplied(
        id=request.pk, reply="answered", answers=given, by_id=access.principal.user.pk
    )
    return _settle(access, session, request, [hide_in_event(session.project, replied)])


@transaction.atomic
def reject_question(access: SessionAccess, request: QuestionRequest) -> QuestionRequest:
    """Dismiss the questions. The turn ends, and with it whatever else it asks.

    Raises: Settled when somebody has answered before, naming who.
    """
    session, request = _lock(access, request)
    by_id = access.principal.user.pk
    events: list[SessionEvent] = [QuestionReplied(id=request.pk, reply="reject", by_id=by_id)]
    events += close_requests(session, "reject", by_id=by_id, but=request.pk)
    return _settle(access, session, request, events)


def _lock(access: SessionAccess, request: QuestionRequest) -> tuple[Session, QuestionRequest]:
    session = lock_session(access.session.pk)
    request = session.questions.select_related("replied_by").get(pk=request.pk)
    if request.status != Pending:
        raise Settled(_answered(request))
    return session, request


def _answered(request: QuestionRequest) -> str:
    if request.status == QuestionRequest.Status.CANCELLED:
        return "No longer asked: the turn was stopped."
    if request.status == QuestionRequest.Status.EXPIRED:
        return "No longer asked: nobody answered in time."
    who = request.replied_by.display_name if request.replied_by else "somebody"
    if request.status == QuestionRequest.Status.REJECT:
        return f"{who} has dismissed the question."
    said = "; ".join(", ".join(answer) for answer in request.answers if answer)
    return f"{who} has answered already: {said[:500] or 'nothing chosen'}."


def _fitting(request: QuestionRequest, answers: Sequence[Sequence[str]]) -> list[list[str]]:
    """One list for each question, without blanks."""
    questions = request.questions
    if len(answers) > len(questions):
        raise Invalid(_("There are more answers than questions."))
    given = [[clean_text(text).strip() for text in answer] for answer in answers]
    given = [[text for text in answer if text] for answer in given]
    given += [[] for _ in range(len(questions) - len(given))]
    for question, answer in zip(questions, given, strict=True):
        if len(answer) > (MAX_ANSWERS if question.get("multiple") else 1):
            raise Invalid(
                _("Too many answers to: {question}").format(question=question["question"][:200])
            )
        if any(len(text) > MAX_ANSWER_CHARS for text in answer):
            raise Invalid(
                _("An answer can have at most {count} characters.").format(
                    count=number_format(MAX_ANSWER_CHARS, force_grouping=True)
                )
            )
    return given


def _settle(
    access: SessionAccess,
    session: Session,
    request: QuestionRequest,
    events: list[SessionEvent],
) -> QuestionRequest:
    append(session, events)
    request.refresh_from_db()
    record(
        AuditAction.QUESTION_REPLIED,
        actor=access.principal.user,
        team=access.team.team,
        target=session,
        data={"request": request.pk, "reply": request.status},
    )
    wake(session.pk, session.project)
    return request
