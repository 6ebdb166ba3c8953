"""Do what comments and rules ask for: each once, and in the order in which a thread has them.

A delivery is done in one transaction, with the reply that is to be written. What fails for a reason
that may pass is tried again; what people have to mend is told in the thread and on the page.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, NotFound, TooManyRequests, Unavailable
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause, Told, english
from providers.resolve import parse_ref
from sessions.access import ProjectAccess, SessionAccess, access_project, access_session
from sessions.actions.checkouts import Plan, choose_plan, follow_commit
from sessions.actions.deliveries import BATCH, claim_due, work_through
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import create_session
from sessions.events.outbox import INTEGRATION
from sessions.forges.adapter import ForgeError, Pull, Thread
from sessions.forges.inbound import Heard
from sessions.integrations.accounts import CODE, person_of, propose_link
from sessions.integrations.answers import begin_answers
from sessions.integrations.bursts import hand_over_reply, withdraw_waiting
from sessions.integrations.prompts import prompt_parts, rule_parts
from sessions.integrations.receive import OLDEST, command_in, kept_of
from sessions.integrations.setup import page_of
from sessions.integrations.slack.api import SlackError
from sessions.integrations.slack.handle import SlackWork, act, prepare, tell
from sessions.integrations.slack.messages import Answer
from sessions.integrations.start import NotStarted, Start, find_start
from sessions.integrations.steps import begin_reply
from sessions.integrations.system import System
from sessions.integrations.systems import place_of, project_forge, system_of
from sessions.models import (
    SLACK,
    Conversation,
    InboundDelivery,
    Integration,
    Project,
)
from teams.announcements import shown_maintenance
from teams.auth import Principal, authenticate_for
from teams.budgets import BudgetReached
from teams.models import Role, User

logger = logging.getLogger(__name__)

CLAIMED_FOR = timedelta(minutes=2)
KEPT_FOR = OLDEST + timedelta(days=1)
# After each attempt that failed for a reason that may pass.
BACKOFF_S = (10, 30, 120, 600, 1800)
_MAINTENANCE_S = 60
_LINK = "link"
_WAITING = InboundDelivery.State.WAITING
_MAX_TITLE_CHARS, _MAX_PROBLEM_CHARS = 100, 400
_NOT_STARTED = (
    "This could not be started. The project's admins can read why on its Integration page."
)


class _Said(Exception):
    """Nothing is to be done. The message says why, to all who read the thread.

    `told` is what the project's admins read of it, where that is more.
    """

    def __init__(self, text: str, told: Told = "") -> None:
        super().__init__(text)
        self.told = told or text


@dataclass(frozen=True)
class _Work:
    """A delivery with the comment that it was kept with, and the system as it is set up now.

    `code` is that of a comment that links an account, or empty; `start` is there where a rule is
    about it.
    """

    row: InboundDelivery
    heard: Heard
    system: System
    code: str
    start: Start | None = None

    @classmethod
    def of(cls, row: InboundDelivery) -> Self:
        """One query."""
        data = dict(row.heard)
        heard = Heard(**{**data, "thread": Thread(**data["thread"])})
        asked = (command_in(heard.text, row.integration.command) or "").split()
        is_code = len(asked) == 2 and asked[0].lower() == _LINK and CODE.fullmatch(asked[1])
        return cls(row, heard, system_of(row.integration), asked[1] if is_code else "")


async def handle_due() -> int:
    """Handle what waits. Returns: how many deliveries were looked at."""
    return await work_through(_claim, _handle)


def prune_inbound() -> int:
    """Remove what is old. Returns: how many."""
    old = InboundDelivery.objects.filter(received_at__lt=timezone.now() - KEPT_FOR)
    return old.exclude(state=_WAITING).delete()[0]


def _claim() -> list[InboundDelivery]:
    """Take the first that waits of each thread. Nobody else has it until CLAIMED_FOR is over."""
    before = InboundDelivery.objects.filter(
        integration=OuterRef("integration"),
        thread=OuterRef("thread"),
        state=_WAITING,
        pk__lt=OuterRef("pk"),
    )
    due = InboundDelivery.objects.filter(~Exists(before), state=_WAITING)
    due = due.select_related("integration__project__team", "integration__account")
    return claim_due(due.order_by("pk"), BATCH, lasts=CLAIMED_FOR)


async def _handle(row: InboundDelivery) -> None:
    try:
        await (_handle_slack if row.integration.kind == SLACK else _handle_comment)(row)
    except (ForgeError, SlackError, AppError) as exc:
        await in_db(_put_off, row, exc.told)
    except Exception:  # the edge of a task: one bad delivery must not hold up the others
        logger.exception("integration.crashed delivery=%s", row.pk)
        await in_db(_put_off, row, "The server failed while it handled this. The error was logged.")


async def _handle_comment(row: InboundDelivery) -> None:
    """Raises: ForgeError; AppError."""
    work = await in_db(_Work.of, row)
    try:
        start = None
        if not work.code:
            work = replace(work, heard=await work.system.complete(work.heard))
            start = await find_start(row, work.heard, work.system)
        if start is not None:
            await in_db(_do, replace(work, start=start, heard=start.heard), start.user, start.pull)
            return
        user = None if work.code else await in_db(_person_of, work)
        pull = await _pull_of(work) if user else None
        await in_db(_do, work, user, pull)
    except NotStarted as exc:
        await in_db(_end, row, InboundDelivery.State.IGNORED, exc.told)
    except _Said as exc:
        await in_db(_refuse, work, exc)


async def _handle_slack(row: InboundDelivery) -> None:
    """Raises: SlackError; AppError."""
    work = await prepare(row)
    answer = await in_db(_do_slack, row, work)
    if answer is not None:
        await tell(work, answer)


@transaction.atomic
def _do_slack(row: InboundDelivery, work: SlackWork) -> Answer | None:
    """Raises: AppError for what may pass."""
    if not _is_mine(row):
        return None
    answer = act(work)
    _end(row, InboundDelivery.State.HANDLED, answer.told)
    return answer


def _person_of(work: _Work) -> User:
    """Returns: in whose name it is done. Raises: _Said for nobody's."""
    integration, heard = work.row.integration, work.heard
    user = person_of(
        integration,
        integration.project.team,
        host=work.system.host,
        outside_id=heard.author_id,
        is_trusted=heard.is_trusted,
    )
    if user is None:
        raise _Said(
            f"@{heard.author}, your account is not linked to one on this server. Open "
            f"{page_of(integration)}, create a code, and comment "
            f"`{integration.command} {_LINK} CODE` here."
        )
    return user


async def _pull_of(work: _Work) -> Pull | None:
    """Raises: ForgeError; _Said for one that cannot be worked on."""
    if not work.heard.thread.is_pull:
        return None
    forge = await in_db(project_forge, work.row.integration.project, work.system)
    pull = await forge.read(work.heard.thread.number)
    if pull.is_fork:
        raise _Said(
            "This pull request comes from another repository. Agents are not started on the code "
            "of forks."
        )
    return pull


@transaction.atomic
def _do(work: _Work, user: User | None, pull: Pull | None) -> None:
    """Raises: AppError for what may pass; _Said."""
    if not _is_mine(work.row):
        return
    if user is None:
        _link(work)
    else:
        _prompt(work, user, pull)
    _end(work.row, InboundDelivery.State.HANDLED)


def _is_mine(row: InboundDelivery) -> bool:
    """Lock a delivery. Returns: False where another worker has it, or the integration is gone."""
    locked = InboundDelivery.objects.select_for_update(of=("self",)).filter(pk=row.pk).first()
    return locked is not None and locked.state == _WAITING and locked.attempts == row.attempts


def _link(work: _Work) -> None:
    heard, team = work.heard, work.row.integration.project.team
    who = {"host": work.system.host, "outside_id": heard.author_id, "name": heard.author}
    if not propose_link(team, work.code, **who):
        raise _Said("This code is unknown, was used before, or is too old. Create another one.")
    _reply(
        work,
        text=f"@{heard.author}, go back to the page that shows the code, open it anew, and "
        "confirm there that this account is yours.",
    )


def _prompt(work: _Work, user: User, pull: Pull | None) -> None:
    row, heard = work.row, work.heard
    asked = command_in(heard.text, row.integration.command) or ""
    try:
        # Of its own: what was begun for it must not stay.
        with transaction.atomic():
            access, is_first = _session_of(work, user, pull)
            draft = _draft(work, asked, pull, is_first=is_first)
            withdrawn = withdraw_waiting(access, row, work.start)
            prompt = admit_prompt(access, draft)
    except (Unavailable, TooManyRequests, BudgetReached):
        raise  # it passes
    except AppError as exc:
        if row.integration.project.status == Project.Status.PREPARING:
            raise
        if work.start is not None:
            raise NotStarted(exc.told) from exc
        # The thread may be public: the reason can name budgets, projects and other people's work.
        raise _Said(_NOT_STARTED, exc.told) from exc
    row.prompt_id, row.thread = prompt.pk, str(heard.thread)
    row.rule = work.start.rule if work.start else None
    row.save(update_fields=["prompt_id", "thread", "rule"])
    if not hand_over_reply(withdrawn, prompt.pk):
        _reply(work, access=access, prompt_id=prompt.pk)
    begin_answers(
        row.integration,
        access,
        prompt_id=prompt.pk,
        place=place_of(work.system),
        thread=row.thread,
        pull=pull,
        name=heard.name,
        to=heard.to_react_to,
    )


def _draft(work: _Work, asked: str, pull: Pull | None, *, is_first: bool) -> PromptDraft:
    if work.start is None:
        parts = prompt_parts(work.heard, asked, pull=pull, is_first=is_first)
        return PromptDraft(parts=parts, delivery="queue")
    rule = work.start.rule
    return PromptDraft(
        parts=rule_parts(work.start, asked, is_first=is_first),
        agent=rule.agent or None,
        model=parse_ref(rule.model) if rule.model else None,
        delivery="queue",
    )


def _session_of(work: _Work, user: User, pull: Pull | None) -> tuple[SessionAccess, bool]:
    """Returns: the session that answers in the thread, and whether it was begun now.

    Raises: AppError for whatever stands against it, as it would for a person.
    """
    heard, integration = work.heard, work.row.integration
    principal = authenticate_for(user, integration.project.team)
    access = access_project(principal, integration.project.pk, need=Role.MEMBER)
    place = place_of(work.system)
    thread, start = str(heard.thread), work.start
    read_only = start is not None and start.read_only
    known = Conversation.objects.filter(integration=integration, place=place, thread=thread)
    if (found := _known_session(principal, known.first())) is not None:
        if read_only and not found.session.is_read_only:
            raise NotStarted("The session of this thread may do more than strangers may ask for.")
        # Where strangers have had a say nobody else goes on.
        if read_only or not found.session.is_read_only:
            if pull is not None:
                follow_commit(found.session, pull.head, fetch=pull.fetch)
            return found, False
    session = create_session(
        access,
        title=f"{heard.name} {heard.title}"[:_MAX_TITLE_CHARS],
        metadata={INTEGRATION: integration.pk},
        checkout=_plan(integration, access, pull, read_only=read_only),
        read_only=read_only,
        cost_limit=start.rule.cost_limit if start else None,
    )
    Conversation.objects.update_or_create(
        integration=integration, place=place, thread=thread, defaults={"session": session}
    )
    return SessionAccess(session, access.team, principal), True


def _known_session(principal: Principal, known: Conversation | None) -> SessionAccess | None:
    """Returns: the session of a thread; None where it is over, or not this person's to see."""
    if known is None:
        return None
    try:
        found = access_session(principal, known.session_id, need=Role.MEMBER)
    except NotFound:
        return None
    return None if found.session.archived_at or found.session.is_private else found


def _plan(
    integration: Integration, access: ProjectAccess, pull: Pull | None, *, read_only: bool
) -> Plan | None:
    if pull is None and integration.pulls and not read_only:
        # Of its own: what others do in the project's folder is not to be published.
        return Plan(asked=False)
    if pull is None:
        # In the project's folder there may be what no commit has.
        return choose_plan(access.project, worktree=True if read_only else None)
    return Plan(branch=pull.base, base=pull.head, fetch=pull.fetch)


@transaction.atomic
def _refuse(work: _Work, said: _Said) -> None:
    """Say it in the thread, to each author once: anybody can have it said there."""
    row = work.row
    if not _is_mine(row):
        return
    told = english(said.told)[:_MAX_PROBLEM_CHARS]
    before = row.integration.deliveries.filter(thread=row.thread, author=row.author, problem=told)
    if not before.exists():
        _reply(work, text=str(said))
    _end(row, InboundDelivery.State.HANDLED, said.told)


def _put_off(row: InboundDelivery, told: Told) -> None:
    """Try again later, or give up, with what was heard, so that an admin can have it repeated."""
    if shown_maintenance():  # it may last longer than all attempts
        row.next_at = timezone.now() + timedelta(seconds=_MAINTENANCE_S)
        _end(row, _WAITING, told)
    elif row.attempts <= len(BACKOFF_S):
        row.next_at = timezone.now() + timedelta(seconds=BACKOFF_S[row.attempts - 1])
        _end(row, _WAITING, told)
    else:
        _end(row, InboundDelivery.State.FAILED, told)


def _end(row: InboundDelivery, state: InboundDelivery.State, told: Told = "") -> None:
    cause: JsonObject = told.to_json() if isinstance(told, Cause) else {}
    is_over = state in (InboundDelivery.State.HANDLED, InboundDelivery.State.IGNORED)
    kept = kept_of(row.heard) if is_over else row.heard
    told_text = english(told)[:_MAX_PROBLEM_CHARS]
    # Not where another worker has begun it anew meanwhile.
    mine = InboundDelivery.objects.filter(pk=row.pk, state=_WAITING, attempts=row.attempts)
    mine.update(state=state, heard=kept, problem=told_text, cause=cause, next_at=row.next_at)


def _reply(
    work: _Work, *, text: str = "", access: SessionAccess | None = None, prompt_id: str = ""
) -> None:
    """Have a comment answered, with a text or with what becomes of a prompt."""
    begin_reply(
        integration=work.row.integration,
        place=place_of(work.system),
        thread=work.row.thread,
        session=access.session if access else None,
        prompt_id=prompt_id,
        text=text,
    )
