"""Do what comments ask for: each once, and in the order in which a thread has them.

A delivery is done in one transaction, with the reply that is to be written. What fails for a reason
that may pass is tried again; what people have to mend is told in the thread and on the page.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause, Told, english
from sessions.access import ProjectAccess, SessionAccess, access_project, access_session
from sessions.actions.checkouts import Plan, choose_plan
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import create_session
from sessions.events.outbox import INTEGRATION
from sessions.forges.adapter import ForgeError, Pull, Thread
from sessions.forges.inbound import Heard
from sessions.integrations.accounts import link, person_of
from sessions.integrations.prompts import prompt_parts
from sessions.integrations.receive import command_in
from sessions.integrations.setup import host_of
from sessions.models import Conversation, InboundDelivery, OutsideReply
from sessions.publish_settings import forge_of, publishing_of
from teams.auth import authenticate_for
from teams.models import Role, User

logger = logging.getLogger(__name__)

CLAIMED_FOR = timedelta(minutes=2)
KEPT_FOR = timedelta(days=14)
# After each attempt that failed for a reason that may pass.
BACKOFF_S = (10, 30, 120, 600, 1800)
_BATCH, _BATCHES = 20, 10
_LINK = "link"
_WAITING = InboundDelivery.State.WAITING
_MAX_TITLE_CHARS = 100


class _Said(Exception):
    """Nothing is to be done. The message says why, to those who read the thread."""


async def handle_due() -> int:
    """Handle what waits. Returns: how many deliveries were looked at."""
    count = 0
    for _ in range(_BATCHES):
        claimed = await in_db(_claim)
        for row in claimed:
            await _handle(row)
        count += len(claimed)
        if not claimed:
            break
    return count


def prune_inbound() -> int:
    """Remove what is old. Returns: how many."""
    old = InboundDelivery.objects.filter(received_at__lt=timezone.now() - KEPT_FOR)
    return old.exclude(state=_WAITING).delete()[0]


def _claim() -> list[InboundDelivery]:
    """Take the first that waits of each thread. Nobody else has it until CLAIMED_FOR is over."""
    now = timezone.now()
    before = InboundDelivery.objects.filter(
        integration=OuterRef("integration"),
        thread=OuterRef("thread"),
        state=_WAITING,
        pk__lt=OuterRef("pk"),
    )
    due = InboundDelivery.objects.filter(~Exists(before), state=_WAITING, next_at__lte=now)
    taken = []
    for row in due.select_related("integration__project__team", "integration__account").order_by(
        "pk"
    )[:_BATCH]:
        mine = InboundDelivery.objects.filter(pk=row.pk, state=_WAITING, next_at=row.next_at)
        if mine.update(next_at=now + CLAIMED_FOR, attempts=F("attempts") + 1):
            row.attempts += 1
            taken.append(row)
    return taken


async def _handle(row: InboundDelivery) -> None:
    heard = heard_of(row)
    try:
        pull = await _pull_of(row, heard)
        await in_db(_do, row, heard, pull)
    except _Said as exc:
        await in_db(_refuse, row, heard, str(exc))
    except (ForgeError, AppError) as exc:
        await in_db(_put_off, row, exc.told)
    except Exception:  # the edge of a task: one bad delivery must not hold up the others
        logger.exception("integration.crashed delivery=%s", row.pk)
        await in_db(_put_off, row, "The server failed while it handled this. The error was logged.")


def heard_of(row: InboundDelivery) -> Heard:
    """Returns: the comment that a row was kept with."""
    data = dict(row.heard)
    thread = data.pop("thread")
    return Heard(**data, thread=Thread(**thread))


async def _pull_of(row: InboundDelivery, heard: Heard) -> Pull | None:
    """Raises: ForgeError; _Said for one that cannot be worked on."""
    if not heard.thread.is_pull or _code_in(row, heard):
        return None
    publishing = await in_db(publishing_of, row.integration.project)
    pull = await (await in_db(forge_of, publishing)).read(heard.thread.number)
    if pull.is_fork:
        raise _Said(
            "This pull request comes from another repository. Agents are not started on the code "
            "of forks."
        )
    return pull


@transaction.atomic
def _do(row: InboundDelivery, heard: Heard, pull: Pull | None) -> None:
    """Raises: AppError for what may pass; _Said."""
    locked = InboundDelivery.objects.select_for_update(of=("self",)).filter(pk=row.pk).first()
    # Another worker has it, or the integration was removed.
    if locked is None or locked.state != _WAITING or locked.attempts != row.attempts:
        return
    if code := _code_in(row, heard):
        _link(row, heard, code)
    else:
        _prompt(row, heard, pull)
    _end(row, InboundDelivery.State.HANDLED)


def _code_in(row: InboundDelivery, heard: Heard) -> str:
    asked = (command_in(heard.text, row.integration.command) or "").split()
    return asked[1] if len(asked) == 2 and asked[0].lower() == _LINK else ""


def _link(row: InboundDelivery, heard: Heard, code: str) -> None:
    project = row.integration.project
    host = host_of(publishing_of(project))
    user = link(project.team, code, host=host, outside_id=heard.author_id, name=heard.author)
    if user is None:
        raise _Said("This code is unknown, was used before, or is too old. Create another one.")
    reply(row, heard, text=f"@{heard.author} is now linked to an account on this server.")


def _prompt(row: InboundDelivery, heard: Heard, pull: Pull | None) -> None:
    integration, asked = row.integration, command_in(heard.text, row.integration.command) or ""
    user = person_of(
        integration,
        integration.project.team,
        host=host_of(publishing_of(integration.project)),
        outside_id=heard.author_id,
        is_trusted=heard.is_trusted,
    )
    if user is None:
        raise _Said(
            f"@{heard.author}, your account is not linked to one on this server. Open "
            "“Integration” on the project's page there, create a code, and comment "
            f"`{integration.command} {_LINK} CODE` here."
        )
    try:
        # Of its own: what was begun for it must not stay.
        with transaction.atomic():
            access, is_first = _session_of(row, heard, user, pull)
            parts = prompt_parts(heard, asked, pull=pull, is_first=is_first)
            prompt = admit_prompt(access, PromptDraft(parts=parts, delivery="queue"))
    except AppError as exc:
        # As a person would read it; it would be the same at every attempt.
        raise _Said(english(exc.told)) from exc
    reply(row, heard, access=access, prompt_id=prompt.pk)


def _session_of(
    row: InboundDelivery, heard: Heard, user: User, pull: Pull | None
) -> tuple[SessionAccess, bool]:
    """Returns: the session that answers in the thread, and whether it was begun now.

    Raises: AppError for whatever stands against it, as it would for a person.
    """
    integration = row.integration
    principal = authenticate_for(user, integration.project.team)
    access = access_project(principal, integration.project_id, need=Role.MEMBER)
    known = Conversation.objects.filter(integration=integration, thread=row.thread).first()
    if known is not None:
        return access_session(principal, known.session_id, need=Role.MEMBER), False
    session = create_session(
        access,
        title=f"#{heard.thread.number} {heard.title}"[:_MAX_TITLE_CHARS],
        metadata={INTEGRATION: integration.pk},
        checkout=_plan(access, pull),
    )
    Conversation.objects.create(integration=integration, thread=row.thread, session=session)
    return SessionAccess(session, access.team, principal), True


def _plan(access: ProjectAccess, pull: Pull | None) -> Plan | None:
    if pull is None:
        return choose_plan(access.project, worktree=None)
    return Plan(branch=pull.base, base=pull.head, fetch=pull.fetch)


def _refuse(row: InboundDelivery, heard: Heard, text: str) -> None:
    with transaction.atomic():
        reply(row, heard, text=text)
        _end(row, InboundDelivery.State.HANDLED, text)


def _put_off(row: InboundDelivery, told: Told) -> None:
    """Try again later, or give up, with what was heard, so that an admin can have it repeated."""
    if row.attempts <= len(BACKOFF_S):
        row.next_at = timezone.now() + timedelta(seconds=BACKOFF_S[row.attempts - 1])
        _end(row, _WAITING, told)
    else:
        _end(row, InboundDelivery.State.FAILED, told)


def _end(row: InboundDelivery, state: InboundDelivery.State, told: Told = "") -> None:
    cause: JsonObject = told.to_json() if isinstance(told, Cause) else {}
    kept = {} if state == InboundDelivery.State.HANDLED else row.heard
    fields = {"problem": english(told)[:400], "cause": cause, "next_at": row.next_at}
    InboundDelivery.objects.filter(pk=row.pk).update(state=state, heard=kept, **fields)


def reply(
    row: InboundDelivery,
    heard: Heard,
    *,
    text: str = "",
    access: SessionAccess | None = None,
    prompt_id: str = "",
) -> OutsideReply:
    """Have a comment answered, with a text or with what becomes of a prompt."""
    now = timezone.now()
    return OutsideReply.objects.create(
        id=new_id("rep"),
        integration=row.integration,
        thread=row.thread,
        session=access.session if access else None,
        prompt_id=prompt_id,
        text=text,
        to=heard.comment,
        next_at=now,
        created_at=now,
    )
