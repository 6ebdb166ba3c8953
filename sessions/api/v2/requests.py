from __future__ import annotations

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from ninja import Router

from opencode_web.lib.errors import NotFound
from sessions.access import (
    SessionAccess,
    access_permission,
    access_project,
    access_question,
    access_session,
    visible_projects,
    visible_sessions,
)
from sessions.actions.permissions import reply_permission
from sessions.actions.questions import reject_question, reply_question
from sessions.actions.saved_rules import revoke_rule
from sessions.api.auth import ApiRequest
from sessions.api.location import Location, require_location
from sessions.api.schemas import PermissionReply, QuestionReply
from sessions.api.v2.place import Placed, Wrapped, placed
from sessions.api.v2.session_answers import PermissionV2, QuestionV2, SavedPermission
from sessions.api.v2.shapes import permission_to_v2, question_to_v2
from sessions.models import PermissionRequest, QuestionRequest, SavedRule, Session
from sessions.visibility import sessions_in
from teams.models import Role

router = Router(tags=["permission", "question"])


def _sessions_at(location: Location) -> QuerySet[Session]:
    return sessions_in(location.access.team).filter(project=location.project)


def _saved(request: ApiRequest) -> QuerySet[SavedRule]:
    rows = SavedRule.objects.filter(project__in=visible_projects(request.auth))
    return rows.filter(Q(session=None) | Q(session__in=visible_sessions(request.auth)))


@router.get("/api/permission/request", summary="Requests of a place that wait for an answer")
def list_permissions(request: ApiRequest) -> Placed[list[PermissionV2]]:
    location = require_location(request)
    rows = PermissionRequest.objects.pending().filter(session__in=_sessions_at(location))
    return placed(location, [permission_to_v2(row) for row in rows])


@router.get("/api/permission/saved", summary="Answers that are kept for a project")
def list_saved(request: ApiRequest, projectID: str = "") -> Wrapped[list[SavedPermission]]:
    rows = _saved(request)
    if projectID:
        rows = rows.filter(project=projectID)
    data: list[SavedPermission] = [
        {
            "id": str(row.pk),
            "projectID": row.project_id or "",
            "action": row.permission,
            "resource": row.pattern,
        }
        for row in rows.order_by("pk")
    ]
    return {"data": data}


@router.delete(
    "/api/permission/saved/{rule}", response={204: None}, summary="Forget an answer that was kept"
)
def remove_saved(request: ApiRequest, rule: str) -> HttpResponse:
    rows = _saved(request)
    row = rows.filter(pk=int(rule)).first() if rule.isdecimal() and len(rule) < 19 else None
    if row is None or row.project_id is None:
        raise NotFound("Saved rule", rule)
    revoke_rule(access_project(request.auth, row.project_id, need=Role.MEMBER), row)
    return HttpResponse(status=204)


@router.get("/api/session/{session_id}/permission", summary="Requests of a session that wait")
def list_of_session(request: ApiRequest, session_id: str) -> Wrapped[list[PermissionV2]]:
    session = access_session(request.auth, session_id).session
    rows = session.permissions.pending()
    return {"data": [permission_to_v2(row) for row in rows]}


@router.get("/api/session/{session_id}/permission/{request_id}", summary="One request")
def get_permission(request: ApiRequest, session_id: str, request_id: str) -> Wrapped[PermissionV2]:
    row, _ = _permission(request, session_id, request_id, need=Role.VIEWER)
    return {"data": permission_to_v2(row)}


@router.post(
    "/api/session/{session_id}/permission/{request_id}/reply",
    response={204: None},
    summary="Answer a request; the first answer wins",
)
def reply(
    request: ApiRequest, session_id: str, request_id: str, body: PermissionReply
) -> HttpResponse:
    row, access = _permission(request, session_id, request_id, need=Role.MEMBER)
    reply_permission(access, row, reply=body.reply, message=body.message)
    return HttpResponse(status=204)


def _permission(
    request: ApiRequest, session_id: str, request_id: str, *, need: Role
) -> tuple[PermissionRequest, SessionAccess]:
    row, access = access_permission(request.auth, request_id, need=need)
    if row.session_id != session_id:
        raise NotFound("Permission request", request_id)
    return row, access


@router.get("/api/question/request", summary="Questions of a place that wait for an answer")
def list_questions(request: ApiRequest) -> Placed[list[QuestionV2]]:
    location = require_location(request)
    rows = QuestionRequest.objects.pending().filter(session__in=_sessions_at(location))
    return placed(location, [question_to_v2(row) for row in rows])


@router.get("/api/session/{session_id}/question", summary="Questions of a session that wait")
def list_questions_of_session(request: ApiRequest, session_id: str) -> Wrapped[list[QuestionV2]]:
    session = access_session(request.auth, session_id).session
    rows = session.questions.pending()
    return {"data": [question_to_v2(row) for row in rows]}


@router.post(
    "/api/session/{session_id}/question/{question_id}/reply",
    response={204: None},
    summary="Answer questions; the first answer wins",
)
def reply_to_question(
    request: ApiRequest, session_id: str, question_id: str, body: QuestionReply
) -> HttpResponse:
    row, access = _question(request, session_id, question_id)
    reply_question(access, row, answers=body.answers)
    return HttpResponse(status=204)


@router.post(
    "/api/session/{session_id}/question/{question_id}/reject",
    response={204: None},
    summary="Dismiss questions, which ends the turn",
)
def dismiss_question(request: ApiRequest, session_id: str, question_id: str) -> HttpResponse:
    row, access = _question(request, session_id, question_id)
    reject_question(access, row)
    return HttpResponse(status=204)


def _question(
    request: ApiRequest, session_id: str, question_id: str
) -> tuple[QuestionRequest, SessionAccess]:
    row, access = access_question(request.auth, question_id)
    if row.session_id != session_id:
        raise NotFound("Question", question_id)
    return row, access
