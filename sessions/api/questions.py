from __future__ import annotations

from ninja import Router

from sessions.access import access_question
from sessions.actions.questions import reject_question, reply_question
from sessions.api.auth import ApiRequest
from sessions.api.location import sessions_in_scope
from sessions.api.schemas import QuestionReply
from sessions.models import QuestionRequest
from sessions.wire import QuestionRequestWire, question_to_wire

router = Router(tags=["question"])


@router.get("/question", summary="Questions of agents that wait for an answer")
def list_questions(request: ApiRequest) -> list[QuestionRequestWire]:
    rows = QuestionRequest.objects.pending().filter(session__in=sessions_in_scope(request))
    return [question_to_wire(row) for row in rows]


@router.post("/question/{question_id}/reply", summary="Answer questions; the first answer wins")
def reply(request: ApiRequest, question_id: str, body: QuestionReply) -> bool:
    row, access = access_question(request.auth, question_id)
    reply_question(access, row, answers=body.answers)
    return True


@router.post("/question/{question_id}/reject", summary="Dismiss questions, which ends the turn")
def reject(request: ApiRequest, question_id: str) -> bool:
    row, access = access_question(request.auth, question_id)
    reject_question(access, row)
    return True
