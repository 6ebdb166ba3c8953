"""Whether a call may go on: the rules, and what people answered, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import transaction

from opencode_web.lib.json import JsonObject
from sessions.commands.marks import is_typed
from sessions.events.parts import ToolPart
from sessions.events.store import SessionGone, append, lock_session
from sessions.events.types import PartUpdated, PermissionAsked
from sessions.models import PermissionRequest, Session, SessionInput
from sessions.rules.in_force import session_setup
from sessions.runner.calls.command_calls import was_asked_for
from sessions.runner.calls.suspension import begun, may_begin, suspended
from sessions.runner.log.deadlines import new_request
from sessions.runner.log.lease import Lease
from sessions.secrets import key_redactor, shown_patterns
from teams.audit import AuditAction, record
from tools.base import PermissionDenied, PermissionRejected
from tools.context import PermissionAsk, Suspended
from tools.permissions.rules import ASKS, Action, Subject, judge, source_of

# Of an ask that is denied, in what the model is told.
_SHOWN_PATTERNS = 10
_SHOWN_CHARS = 200


@dataclass(frozen=True)
class Verdict:
    """What came of an ask: the part when it may run, else what the call ends with."""

    part: ToolPart | None
    refusal: PermissionDenied | PermissionRejected | Suspended | None = None


def decide(
    lease: Lease, part: ToolPart, ask: PermissionAsk, agent: str, *, begins: bool = True
) -> Verdict:
    """Let a call go on, or say why not.

    An answer that a person gave to the same ask of the same call holds as long as no rule denies it
    meanwhile. Else the rules decide, and where they say ask, the request becomes a row. A call that
    may go on is marked as running in the same transaction: from here on it may have effects and is
    never repeated. Not so without `begins`: then it goes on to asks of its own.

    Raises: SessionGone; LeaseLost.
    """
    rows = Session.objects.select_related("project__team")
    session = rows.filter(pk=lease.session_id).first()
    if session is None:
        raise SessionGone(lease.session_id)
    # Not those of the step: a rule that was added since must hold for a call that is still to run.
    # Matching may take a while, so it is done before anything is locked.
    rules = session_setup(session, agent)
    subjects = ask.subjects or tuple(map(Subject, ask.patterns))
    # A person who asked for it has the right to allow it, and did.
    is_allowed = is_typed(part) or was_asked_for(session, part, ask)
    judged = judge(ask.permission, subjects, rules.ruleset, opaque=ask.opaque)
    # Whose rule it is, and that not all rules could be read.
    source = ". ".join([source_of(judged.rule), *rules.problems])
    # From here on it is what is kept and shown.
    shown = key_redactor(session.project).text
    ask = replace(
        ask, patterns=tuple(map(shown, ask.patterns)), always=tuple(map(shown, ask.always))
    )
    action = judged.action
    if action is Action.ASK and is_allowed:
        action = Action.ALLOW
    return _settle(lease, part, ask, agent, action, source=source, begins=begins)


@transaction.atomic
def _settle(
    lease: Lease,
    part: ToolPart,
    ask: PermissionAsk,
    agent: str,
    action: Action,
    *,
    source: str,
    begins: bool,
) -> Verdict:
    session = lock_session(lease.session_id, token=lease.token)
    if action is Action.DENY:
        _record_denial(session, part, ask, source)
        return Verdict(None, _denied(ask, source))
    request = _same_ask(session, part, ask)
    if _is_too_little(request, action):
        request = None
    is_new = request is None and action in ASKS
    if is_new or (request is not None and request.status == PermissionRequest.Status.PENDING):
        second = action is Action.ASK_OTHER
        asked = [_asked(session, part, ask, agent, source, second=second)] if is_new else []
        append(session, [PartUpdated(part=suspended(part)), *asked])
        return Verdict(None, Suspended())
    refusal = _refusal(request) if request is not None else None
    if refusal is not None:
        return Verdict(None, refusal)
    return Verdict(_begin(session, part) if begins else part)


def _is_too_little(request: PermissionRequest | None, action: Action) -> bool:
    """Whether somebody has allowed it before the rules called for a second person."""
    return (
        request is not None
        and action is Action.ASK_OTHER
        and not request.second_person
        and request.status in (PermissionRequest.Status.ONCE, PermissionRequest.Status.ALWAYS)
    )


def _refusal(request: PermissionRequest) -> PermissionRejected | None:
    """Returns: None when somebody has allowed it."""
    match request.status:
        case PermissionRequest.Status.ONCE | PermissionRequest.Status.ALWAYS:
            return None
        case PermissionRequest.Status.EXPIRED:
            return PermissionRejected(reason="nobody answered in time")
        case _:
            return PermissionRejected(feedback=request.feedback or None)


def _denied(ask: PermissionAsk, source: str) -> PermissionDenied:
    shown = ", ".join(pattern[:_SHOWN_CHARS] for pattern in ask.patterns[:_SHOWN_PATTERNS])
    return PermissionDenied(
        f"Denied for {shown} ({ask.permission}) by {source}. "
        "Do not try to reach the same by other means."
    )


def _record_denial(session: Session, part: ToolPart, ask: PermissionAsk, source: str) -> None:
    prompts = session.inputs.filter(status=SessionInput.Status.PROMOTED).select_related("author")
    prompt = prompts.order_by("-admitted_seq").first()
    team, author = session.project.team, prompt.author if prompt else None
    data: JsonObject = {
        "call": part.callID,
        "permission": ask.permission,
        "patterns": shown_patterns(session.project_id, ask.patterns),
        "rule": source,
    }
    record(AuditAction.PERMISSION_DENIED, actor=author, team=team, target=session, data=data)


def _same_ask(session: Session, part: ToolPart, ask: PermissionAsk) -> PermissionRequest | None:
    rows = PermissionRequest.objects.filter(
        session=session,
        message_id=part.messageID,
        call_id=ask.call_id or part.callID,
        permission=ask.permission,
    ).order_by("-pk")
    same = (row for row in rows if row.patterns == list(ask.patterns))
    return next((row for row in same if not ask.each or row.metadata == ask.metadata), None)


def _asked(
    session: Session, part: ToolPart, ask: PermissionAsk, agent: str, source: str, *, second: bool
) -> PermissionAsked:
    return new_request(
        session,
        message_id=part.messageID,
        call_id=ask.call_id or part.callID,
        agent=agent,
        permission=ask.permission,
        patterns=list(ask.patterns),
        always=[] if second else list(ask.always),
        second_person=second or None,
        metadata=ask.metadata,
        source=source,
    )


def _begin(session: Session, part: ToolPart) -> ToolPart:
    if not may_begin(part):
        return part
    running = begun(part)
    append(session, [PartUpdated(part=running)])
    return running
