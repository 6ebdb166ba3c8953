"""What one tool call may touch: `tools.context.ToolContext` over the session's rows."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.events.live import publish_progress
from sessions.events.parts import PartTime, ToolPart, ToolPending, ToolRunning
from sessions.events.store import SessionGone, append, lock_session
from sessions.events.types import PartUpdated, PermissionAsked
from sessions.models import PermissionRequest, Session
from sessions.rules import session_ruleset
from sessions.runner.deadlines import new_request
from sessions.runner.lease import Lease
from sessions.runner.questions import ask_person
from sessions.runner.settle import now_ms
from sessions.runner.subagents import spawn
from tools import permissions
from tools.base import PermissionDenied, PermissionRejected
from tools.context import Parked, PermissionAsk, Question, Report, Subtask
from tools.permissions import Action
from tools.sandbox.base import Sandbox
from tools.sandbox.select import select_sandbox

# Calls of these permissions change nothing, so no snapshot is taken for them.
READ_ONLY = frozenset({"read", "glob", "grep", "list"})
PROGRESS_S = 0.1
_SESSION = CompiledQuery(
    lambda session_id: Session.objects.select_related("project__team").filter(pk=session_id), str
)
_SAME_CALL = CompiledQuery(
    lambda session_id, message_id, call_id, permission: PermissionRequest.objects.filter(
        session=session_id, message_id=message_id, call_id=call_id, permission=permission
    ).order_by("-pk"),
    str,
    str,
    str,
    str,
)
# Of an ask that is denied, in what the model is told.
_SHOWN_PATTERNS = 10
_SHOWN_CHARS = 200


def sandbox_for(session: Session) -> Sandbox:
    """The sandbox of a session: its worktree, and a home of its own below the data folder."""
    return select_sandbox(
        worktree=Path(session.project.directory),
        session_dir=settings.DATA_DIR / "sessions" / session.pk,
        network=settings.SANDBOX_NETWORK,
        allow_unsafe=settings.UNSAFE_SANDBOX,
        hidden=(settings.DATA_DIR, settings.BASE_DIR),
    )


@dataclass(frozen=True)
class Verdict:
    """What came of an ask: the part when it may run, else what the call ends with."""

    part: ToolPart | None
    refusal: PermissionDenied | PermissionRejected | Parked | None = None


def decide(
    lease: Lease, part: ToolPart, ask: PermissionAsk, agent: str, *, begins: bool = True
) -> Verdict:
    """Let a call go on, or say why not.

    An answer that a person gave to the same ask of the same call holds. Else the rules decide, and
    where they say ask, the request becomes a row. A call that may go on is marked as running in the
    same transaction: from here on it may have effects and is never repeated. Not so without
    `begins`: then it goes on to asks of its own.

    Raises: SessionGone; LeaseLost.
    """
    session = _SESSION.first(lease.session_id)
    if session is None:
        raise SessionGone(lease.session_id)
    # Matching may take a while, so it is done before anything is locked.
    ruleset = session_ruleset(session, agent)
    action = permissions.decide(ask.permission, ask.patterns, ruleset)
    return _settle(lease, part, ask, agent, action, begins=begins)


@transaction.atomic
def _settle(
    lease: Lease, part: ToolPart, ask: PermissionAsk, agent: str, action: Action, *, begins: bool
) -> Verdict:
    session = lock_session(lease.session_id, token=lease.token)
    request = _same_ask(session, part, ask)
    if request is not None:
        refusal = _refusal(request)
        if refusal is not None:
            return Verdict(None, refusal)
        action = Action.ALLOW
    match action:
        case Action.DENY:
            return Verdict(None, _denied(ask))
        case Action.ALLOW:
            return Verdict(_begin(session, part) if begins else part)
        case Action.ASK:
            append(session, [_asked(session, part, ask, agent)])
            return Verdict(None, Parked())


def _refusal(request: PermissionRequest) -> PermissionRejected | Parked | None:
    """Returns: None when somebody has allowed it."""
    match request.status:
        case PermissionRequest.Status.PENDING:
            return Parked()
        case PermissionRequest.Status.ONCE | PermissionRequest.Status.ALWAYS:
            return None
        case PermissionRequest.Status.EXPIRED:
            return PermissionRejected(reason="nobody answered in time")
        case _:
            return PermissionRejected(feedback=request.feedback or None)


def _denied(ask: PermissionAsk) -> PermissionDenied:
    shown = ", ".join(pattern[:_SHOWN_CHARS] for pattern in ask.patterns[:_SHOWN_PATTERNS])
    return PermissionDenied(
        f"A rule of this project denies {ask.permission} for: {shown}. "
        "Do not try to reach the same by other means."
    )


def _same_ask(session: Session, part: ToolPart, ask: PermissionAsk) -> PermissionRequest | None:
    rows = _SAME_CALL.all(session.pk, part.messageID, part.callID, ask.permission)
    return next((row for row in rows if row.patterns == list(ask.patterns)), None)


def _asked(session: Session, part: ToolPart, ask: PermissionAsk, agent: str) -> PermissionAsked:
    return new_request(
        session,
        message_id=part.messageID,
        call_id=part.callID,
        agent=agent,
        permission=ask.permission,
        patterns=list(ask.patterns),
        always=list(ask.always),
        metadata=ask.metadata,
    )


def _begin(session: Session, part: ToolPart) -> ToolPart:
    if not isinstance(part.state, ToolPending):
        return part
    state = ToolRunning(input=part.state.input, time=PartTime(start=now_ms()))
    running = part.model_copy(update={"state": state})
    append(session, [PartUpdated(part=running)])
    return running


class CallContext:
    """The context of one call. `before_change` is awaited before it may change files."""

    def __init__(
        self,
        *,
        lease: Lease,
        session: Session,
        part: ToolPart,
        agent: str,
        sandbox: Sandbox,
        before_change: Callable[[], Awaitable[None]],
    ) -> None:
        self.part = part
        self.session_id = session.pk
        self.message_id = part.messageID
        self.call_id = part.callID
        self.agent = agent
        self.worktree = self.directory = Path(session.project.directory)
        self.output_dir = settings.DATA_DIR / "tool-output" / session.pk
        self.sandbox = sandbox
        self._lease = lease
        self._session = session
        self._before_change = before_change
        self._shown_at = 0.0

    async def ask(self, ask: PermissionAsk) -> None:
        """See `ToolContext.ask`."""
        verdict = await in_db(decide, self._lease, self.part, ask, self.agent)
        if verdict.refusal is not None:
            raise verdict.refusal
        assert verdict.part is not None
        self.part = verdict.part
        if ask.permission not in READ_ONLY:
            await self._before_change()

    async def spawn(self, task: Subtask) -> Report:
        """See `ToolContext.spawn`."""
        self.part, report = await in_db(spawn, self._lease, self.part, task)
        if report is None:
            raise Parked(on="children")
        return report

    async def confirm(self, ask: PermissionAsk) -> None:
        """Return when the call may go on to its own asks. Raises: as `ask`."""
        verdict = await in_db(decide, self._lease, self.part, ask, self.agent, begins=False)
        if verdict.refusal is not None:
            raise verdict.refusal

    async def ask_user(self, questions: Sequence[Question]) -> list[list[str]]:
        """See `ToolContext.ask_user`."""
        outcome = await in_db(ask_person, self._lease, self.part, questions, agent=self.agent)
        if isinstance(outcome, list):
            return outcome
        raise outcome

    async def progress(
        self, *, title: str | None = None, metadata: JsonObject | None = None
    ) -> None:
        """Show the running call to who watches now, at most ten times a second."""
        state = self.part.state
        if not isinstance(state, ToolRunning):
            return
        merged = {**(state.metadata or {}), **(metadata or {})} or None
        state = state.model_copy(update={"title": title or state.title, "metadata": merged})
        self.part = self.part.model_copy(update={"state": state})
        if time.monotonic() - self._shown_at >= PROGRESS_S:
            self._shown_at = time.monotonic()
            publish_progress(self._session, self.part.to_json())
