"""What a session has changed for a comment, on a branch and in a pull request of the forge.

A session of an issue gets a pull request that closes the issue; later turns push to its branch. One
of a pull request pushes to that one's branch, as long as nobody else has. All of it is done by the
jobs of its worktree, in the name of whoever has commented and with all that holds for them.
"""

from __future__ import annotations

import re

from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import NotFound
from opencode_web.lib.json import text_of
from sessions.access import SessionAccess, access_session
from sessions.actions.change_requests import request_change
from sessions.actions.checkouts import checkout_of
from sessions.actions.publish import (
    MAX_BODY_CHARS,
    request_commit_of,
    request_pull,
    request_push_of,
    request_survey,
)
from sessions.actions.suggested_message import suggested_message
from sessions.approvals.hold import NeedsApproval
from sessions.events.checkout_reasons import CheckoutReason
from sessions.forges.adapter import Forge, Pull, PullState, Thread
from sessions.integrations.replies import harmless, link_to, reply_anew, turn_of
from sessions.integrations.steps import Step, note
from sessions.models import (
    ChangeRequest,
    Checkout,
    Outcome,
    OutsideReply,
    PullRequest,
    Session,
    SessionInput,
    State,
)
from teams.auth import authenticate_for
from teams.models import Role

_State = Checkout.State
_SOON, _LATER = Step(again_s=2), Step(again_s=60)
_LAST = Step(is_last=True)
_NUMBERED = re.compile(r"(?:#|[A-Z][A-Z0-9_]*-)\d+ ")
_APPROVAL = (
    "*The changes are committed. Somebody has to approve in the session that they are published.*"
)
_NOT_APPROVED = "*Nobody has approved that the changes are published.*"
_FAILED = "*The changes could not be published. The session says why.*"
_MOVED = (
    "*The branch has commits that the session does not know, so nothing was pushed to it. The "
    "changes are in the session.*"
)
_PROTECTED = "*Nothing is pushed to the branch `{branch}`. The changes are in the session.*"
_CLOSED = "*The pull request is closed, so nothing was pushed. The changes are in the session.*"


async def publish(row: OutsideReply, forge: Forge) -> Step:
    """Do the next step. Raises: ForgeError; AppError."""
    step = await in_db(_prepare, row)
    if step is not None:
        return step
    thread = Thread.parse(row.thread)
    if not thread.is_pull:
        return await in_db(_send, row, None, "")
    pull = await forge.read(thread.number)
    return await in_db(_send, row, pull, await forge.default_branch())


def _prepare(row: OutsideReply) -> Step | None:
    """Wait for the end of the turn, and commit. Returns: None once all is committed."""
    session = _session_of(row)
    shown = turn_of(session, row.prompt_id)
    if not shown.is_last or session.state != State.IDLE:
        return Step()
    checkout = checkout_of(session) if session.folder else None
    if shown.outcome != Outcome.DONE or checkout is None or checkout.state != _State.READY:
        return _LAST
    if checkout.job:
        return _SOON
    return _commit(row, session, checkout)


def _commit(row: OutsideReply, session: Session, checkout: Checkout) -> Step | None:
    if checkout.job_failed and (checkout.job_key in _keys(row) or row.data.get("change")):
        is_behind = checkout.job_cause.get("reason") == CheckoutReason.PUSH_BEHIND
        return _say(row, _MOVED if is_behind else _FAILED)
    if checkout.looked_at is None or checkout.looked_at <= session.updated_at:
        request_survey(_access(row, session))
        return _SOON
    if checkout.dirty and checkout.job_key not in _keys(row):
        message = suggested_message(session, checkout) or _title(session)
        request_commit_of(_access(row, session), message=message, key=_keys(row)[0])
        return _SOON
    return _decided(row)


def _decided(row: OutsideReply) -> Step | None:
    """Wait for a second person, where one has been asked. Returns: None where it may go on."""
    change = row.data.get("change")
    request = ChangeRequest.objects.filter(pk=change).first() if change else None
    if request is not None and request.status == ChangeRequest.Status.PENDING:
        return _LATER
    if change and (request is None or request.status != ChangeRequest.Status.APPROVED):
        return _say(row, _NOT_APPROVED)
    return None


def _send(row: OutsideReply, pull: Pull | None, default_branch: str) -> Step:
    """Have it pushed, or tell what came of that. `pull` is the one of whose thread it is."""
    session = _session_of(row)
    checkout = checkout_of(session)
    if checkout is None:
        return _LAST
    # Whoever approves it asks for the job themselves, without the key.
    if not row.data.get("change") and checkout.job_key != _keys(row)[1]:
        return _request(row, _access(row, session), checkout, pull, default_branch)
    return _say(row, _pushed(checkout, pull))


def _request(
    row: OutsideReply,
    access: SessionAccess,
    checkout: Checkout,
    pull: Pull | None,
    default_branch: str,
) -> Step:
    if pull is None:
        if not checkout.ahead:
            return _LAST
        if checkout.head == checkout.pushed_head and (known := _pushed(checkout, None)):
            return _say(row, known)
    else:
        if checkout.head in (pull.head, checkout.base):
            return _LAST
        if problem := _why_not(checkout, pull, default_branch):
            return _say(row, problem)
    key = _keys(row)[1]
    try:
        if pull is not None:
            request_push_of(access, branch=pull.branch, key=key)
        else:
            title, body = _title(access.session), _body(row, access.session)
            request_pull(access, title=title, body=body, base=checkout.base_branch, key=key)
    except NeedsApproval as held:
        note(row, change=request_change(held).pk)
        _say(row, _APPROVAL)
        return _LATER
    return _SOON


def _why_not(checkout: Checkout, pull: Pull, default_branch: str) -> str:
    """Returns: why nothing is pushed to the branch of a pull request; empty where it may be."""
    branch = harmless(pull.branch.replace("`", "'"))
    if pull.state not in (PullState.OPEN, PullState.DRAFT):
        return _CLOSED
    if pull.is_fork or pull.branch in ("", pull.base, default_branch):
        return _PROTECTED.format(branch=branch)
    known = {checkout.base}
    if checkout.pushed_branch == pull.branch:
        known.add(checkout.pushed_head)
    return "" if pull.head in known else _MOVED


def _pushed(checkout: Checkout, pull: Pull | None) -> str:
    """Returns: where the changes are, as Markdown; empty where nobody knows."""
    if pull is not None:
        return f"The changes are pushed to `{harmless(pull.branch.replace('`', chr(39)))}`."
    rows = PullRequest.objects.filter(project=checkout.project_id, branch=checkout.pushed_branch)
    found = rows.order_by("-created_at").first()
    return f"**Pull request:** [#{found.number}]({found.url})" if found else ""


@transaction.atomic
def _say(row: OutsideReply, text: str) -> Step:
    """Have the comment that answers tell it. Returns: the last step."""
    if text and row.data.get("says") != text:
        note(row, says=text)
        reply_anew(row)
    return _LAST


def _title(session: Session) -> str:
    """Returns: what the thread is about, without its number."""
    return _NUMBERED.sub("", session.title, count=1).strip() or "Changes of an agent"


def _body(row: OutsideReply, session: Session) -> str:
    closes = text_of(row.data, "closes") or f"#{Thread.parse(row.thread).number}"
    end = f"\n\nCloses {closes}\n\n{link_to(row, session)}".rstrip()
    return turn_of(session, row.prompt_id).text[: MAX_BODY_CHARS - len(end)] + end


def _keys(row: OutsideReply) -> tuple[str, str]:
    """Returns: of the commit and of the push: a job that was asked for is not asked for again."""
    return f"{row.pk}-commit", f"{row.pk}-push"


def _session_of(row: OutsideReply) -> Session:
    assert row.session is not None
    return Session.objects.select_related("project__team").get(pk=row.session.pk)


def _access(row: OutsideReply, session: Session) -> SessionAccess:
    """Returns: the session as whoever has commented may see it now. Raises: AppError."""
    author = SessionInput.objects.select_related("author").get(pk=row.prompt_id).author
    if author is None:
        raise NotFound("Person")
    principal = authenticate_for(author, session.project.team)
    return access_session(principal, session.pk, need=Role.MEMBER)
