"""Write the comments that answer, and edit them as the sessions go on.

What a comment says is read when it is written, so that of many changes only the newest costs a
request. The id of a reply stands in its comment: where the answer of the forge was lost, the
comment is looked for before another one is written.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.json import text_of
from opencode_web.lib.reasons import Cause, Told, english
from sessions.actions.deliveries import BACKOFF_S, BATCH, claim_due, work_through
from sessions.forges.adapter import ForgeError, Thread
from sessions.inbox import is_compaction
from sessions.integrations.steps import Step, is_again
from sessions.integrations.system import System
from sessions.integrations.systems import place_of, system_of
from sessions.models import (
    SLACK,
    Message,
    Outcome,
    OutsideReply,
    Part,
    Session,
    SessionInput,
    State,
    WaitsFor,
)
from sessions.secrets import project_redactor
from teams.models import Team

logger = logging.getLogger(__name__)

CLAIMED_FOR = timedelta(minutes=2)
MAX_TEXT_CHARS = 60_000
MOVED = "The project is on another repository or team now."
KEPT_FOR = timedelta(days=90)
_State = OutsideReply.State
# A forge notifies whoever is named, and GitLab and robots do what a line says that begins with a
# slash. None of them is asked what it takes for code. The last one begins what nobody sees.
_MENTION = re.compile(r"@|&(?:#0*64|#x0*40|commat)(?=;)", re.IGNORECASE)
_COMMAND = re.compile(r"^[ \t>]*(?=/[A-Za-z])", re.MULTILINE)
_COMMENT = re.compile(r"<(?=!--)")
_NOTHING = "\u200b"
# That a forge's clock may be ahead of or behind this server's.
_CLOCKS_APART = timedelta(minutes=5)


@dataclass(frozen=True)
class Shown:
    """What a comment says now, whether nothing more will come, and how it has ended if so."""

    text: str
    is_last: bool
    outcome: str = ""


async def send_replies() -> int:
    """Write what is due. Returns: how many were tried."""
    return await work_through(_claim, _send)


def prune_replies() -> int:
    """Remove what is old and over. Returns: how many."""
    old = OutsideReply.objects.filter(created_at__lt=timezone.now() - KEPT_FOR)
    return old.filter(state__in=(_State.DONE, _State.FAILED)).delete()[0]


def _claim() -> list[OutsideReply]:
    due = OutsideReply.objects.filter(state=_State.PENDING, kind=OutsideReply.Kind.COMMENT)
    due = due.exclude(integration__kind=SLACK)
    due = due.select_related("integration__project__team", "session").order_by("pk")
    return claim_due(due, BATCH, lasts=CLAIMED_FOR)


async def _send(row: OutsideReply) -> None:
    await write_reply(row, _write)


async def write_reply(
    row: OutsideReply, write: Callable[[OutsideReply, System], Awaitable[Step]]
) -> None:
    """Write it as `write` does, which may raise ForgeError and AppError, now or later."""
    try:
        system = await in_db(system_of, row.integration)
        if place_of(system) != row.place:
            await in_db(give_up, row, MOVED)
            return
        step = await write(row, system)
    except ForgeError as exc:
        await in_db(put_off, row, exc.told, exc.wait_s)
    except AppError as exc:
        await in_db(put_off, row, exc.told, 0)
    except Exception:  # the edge of a task: one bad reply must not hold up the others
        logger.exception("integration.crashed reply=%s", row.pk)
        await in_db(put_off, row, "The server failed while it wrote this. The error was logged.", 0)
    else:
        await in_db(_settle, row, step)


async def _write(row: OutsideReply, system: System) -> Step:
    """Raises: ForgeError."""
    shown = await in_db(compose, row)
    thread, text, step = Thread.parse(row.thread), shown.text, Step(is_last=shown.is_last)
    if not row.comment and is_again(row):
        since = row.created_at - _CLOCKS_APART
        row.comment = await system.find_comment(thread, mark=row.pk, since=since)
    if row.comment:
        if await system.edit_comment(thread, row.comment, text, mark=row.pk):
            return step
        row.comment = ""
    row.comment = await system.comment(thread, text, mark=row.pk)
    return step


def compose(row: OutsideReply) -> Shown:
    """Read what the comment has to say now."""
    if row.session is None:
        return Shown(row.text, is_last=True)
    session = Session.objects.get(pk=row.session.pk)
    shown = turn_of(session, row.prompt_id)
    says = shown.text
    if not session.is_private and (more := _published(row)):
        says = f"{says}\n\n{more}"
    return Shown(f"{says}\n\n---\n{link_to(row, session)}", shown.is_last)


def turn_of(session: Session, prompt_id: str) -> Shown:
    """Returns: what may be told outside of the turn that answers a prompt, as it is now."""
    if session.is_private:
        return Shown("*The session is private now. Its answer is not shown here.*", is_last=True)
    shown = state_of(session, prompt_id)
    redact = project_redactor(session.project_id).text
    return replace(shown, text=harmless(redact(shown.text)[:MAX_TEXT_CHARS]))


def _published(row: OutsideReply) -> str:
    """Returns: what became of the changes that were made for the same prompt."""
    rows = OutsideReply.objects.filter(session=row.session, prompt_id=row.prompt_id)
    found = rows.filter(kind=OutsideReply.Kind.PULL).first()
    return text_of(found.data, "says") if found else ""


def reply_anew(row: OutsideReply) -> None:
    """Write the comment again that answers the same prompt: another answer changes what it says."""
    rows = OutsideReply.objects.filter(session=row.session, prompt_id=row.prompt_id)
    comments = rows.filter(kind=OutsideReply.Kind.COMMENT)
    comments.write_anew(_State.SHOWN, _State.DONE, now=timezone.now())


def harmless(text: str) -> str:
    """Returns: the text so that a forge only shows it: it notifies nobody and commands nothing.

    A stranger may have had the agent write it, and the forge acts with the project's token.
    """
    for pattern in (_MENTION, _COMMAND, _COMMENT):
        text = pattern.sub(lambda found: f"{found[0]}{_NOTHING}", text)
    if sum(line.lstrip().startswith("```") for line in text.splitlines()) % 2:
        text += "\n```"
    return text


def state_of(session: Session, prompt_id: str, *, so_far: bool = False) -> Shown:
    """Returns: what became of a prompt, in Markdown.

    `so_far`: with what the agent has said while it goes on.
    """
    prompt = SessionInput.objects.filter(pk=prompt_id).first()
    asked = Message.objects.visible(session).filter(pk=prompt_id).first()
    if asked is None:
        if prompt is not None and prompt.status == SessionInput.Status.ADMITTED:
            return Shown("*Waiting for its turn.*", is_last=False)
        return Shown("*This request was withdrawn.*", is_last=True)
    following = _next_prompt(session, asked)
    said = _said(session, asked, following)
    if following is not None or session.state == State.IDLE:
        outcome = Outcome.DONE.value if following is not None else session.outcome
        text = "\n\n".join(filter(None, (said, _ended(outcome)))) or "*Done, without an answer.*"
        return Shown(text, is_last=True, outcome=outcome)
    doing = "Working on it"
    if session.state == State.WAITING:
        doing = _WAITS.get(session.waits_for, "Waiting")
    text = "\n\n".join(filter(None, (said if so_far else "", f"*{doing}.*")))
    return Shown(text, is_last=False)


_WAITS: dict[str, str] = {
    WaitsFor.PERSON: "Waiting for somebody to answer in the session",
    WaitsFor.BUDGET: "Stopped at its cost limit until somebody allows more in the session",
}


def _next_prompt(session: Session, asked: Message) -> Message | None:
    """Returns: the message that begins the next turn. Not what steers a turn, a summary's request
    or a change of agents: the turn goes on after those."""
    queued = session.inputs.filter(delivery=SessionInput.Delivery.QUEUE)
    after = Message.objects.visible(session).filter(role="user", seq__gt=asked.seq)
    after = after.filter(pk__in=queued.values("pk")).order_by("seq")
    inputs = session.inputs.in_bulk([one.pk for one in after])
    return next((one for one in after if not is_compaction(inputs[one.pk])), None)


def _said(session: Session, asked: Message, following: Message | None) -> str:
    """Returns: the newest text of the agent between two prompts."""
    rows = Part.objects.visible(session).filter(type="text", message__role="assistant")
    rows = rows.filter(message__seq__gt=asked.seq)
    if following is not None:
        rows = rows.filter(message__seq__lt=following.seq)
    found = rows.order_by("-message__seq").values_list("message_id", "message__data__summary")
    newest = next((message for message, is_summary in found if not is_summary), None)
    texts = rows.filter(message_id=newest).order_by("seq", "pk").values_list("data", flat=True)
    return "\n\n".join(text for one in texts if (text := text_of(one, "text").strip()))


def _ended(outcome: str) -> str:
    match outcome:
        case Outcome.DONE | Outcome.NONE:
            return ""
        case Outcome.STOPPED | Outcome.INTERRUPTED:
            return "*Stopped.*"
        case _:
            # Not why: that can have a provider's words, and the thread may be public.
            return "*It failed. The session says why.*"


def link_to(row: OutsideReply, session: Session) -> str:
    """Returns: a link for who may see the session; empty without an address of this server."""
    url = session_url(row.integration.project.team, session)
    return f"[Open the session]({url})" if url else ""


def session_url(team: Team, session: Session) -> str:
    """Returns: the page of the team's session; empty without an address of this server."""
    return f"{settings.PUBLIC_URL}/t/{team.slug}/s/{session.pk}" if settings.PUBLIC_URL else ""


def _settle(row: OutsideReply, step: Step) -> None:
    if not step.again_s:
        settle(row, is_last=step.is_last)
        return
    OutsideReply.objects.filter(pk=row.pk, attempts=row.attempts).update(
        attempts=0,
        problem="",
        cause={},
        next_at=timezone.now() + timedelta(seconds=step.again_s),
    )


def settle(row: OutsideReply, *, is_last: bool) -> None:
    """What happened while it was written makes another attempt due at once."""
    # Not where another worker has begun it anew meanwhile.
    rows = OutsideReply.objects.filter(pk=row.pk, attempts=row.attempts)
    written = {"comment": row.comment, "attempts": 0, "problem": "", "cause": {}}
    state = _State.DONE if is_last else _State.SHOWN
    if not rows.filter(revision=row.revision).update(state=state, **written):
        rows.update(next_at=timezone.now(), **written)


def give_up(row: OutsideReply, told: Told) -> None:
    """It cannot be written, however often it is tried."""
    OutsideReply.objects.filter(pk=row.pk, attempts=row.attempts).update(
        state=_State.FAILED, problem=english(told)[:400], cause={}
    )


def put_off(row: OutsideReply, told: Told, wait_s: int) -> None:
    """Try it again later, or give it up."""
    cause = told.to_json() if isinstance(told, Cause) else {}
    fields = {"comment": row.comment, "problem": english(told)[:400], "cause": cause}
    mine = OutsideReply.objects.filter(pk=row.pk, attempts=row.attempts)
    if row.attempts > len(BACKOFF_S):
        mine.update(state=_State.FAILED, **fields)
        return
    wait = timedelta(seconds=max(wait_s, BACKOFF_S[row.attempts - 1]))
    mine.update(next_at=timezone.now() + wait, **fields)
