"""Write the comments that answer, and edit them as the sessions go on.

What a comment says is read when it is written, so that of many changes only the newest costs a
request. The id of a reply stands in its comment: where the answer of the forge was lost, the
comment is looked for before another one is written.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.json import text_of
from opencode_web.lib.reasons import Cause, Told, english
from sessions.forges.adapter import Forge, ForgeError, Thread
from sessions.models import (
    Message,
    Outcome,
    OutsideReply,
    Part,
    Session,
    SessionInput,
    State,
    WaitsFor,
)
from sessions.publish_settings import forge_of, publishing_of
from sessions.secrets import project_redactor

logger = logging.getLogger(__name__)

CLAIMED_FOR = timedelta(minutes=2)
# After each failed attempt; about a day in all.
BACKOFF_S = (10, 30, 60, 300, 900, 1800, 3600, 7200, 14400, 21600, 28800)
MAX_TEXT_CHARS = 60_000
KEPT_FOR = timedelta(days=90)
_BATCH, _BATCHES = 20, 10
_State = OutsideReply.State
# A forge notifies whoever is named, except in code.
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_MENTION = re.compile(r"(?<![\w/])@(?=[A-Za-z0-9])")
_NO_MENTION = "@\u200b"


@dataclass(frozen=True)
class Shown:
    """What a comment says now, and whether nothing more will come."""

    text: str
    is_last: bool


async def send_replies() -> int:
    """Write what is due. Returns: how many were tried."""
    count = 0
    for _ in range(_BATCHES):
        claimed = await in_db(_claim)
        for row in claimed:
            await _send(row)
        count += len(claimed)
        if len(claimed) < _BATCH:
            break
    return count


def prune_replies() -> int:
    """Remove what is old and over. Returns: how many."""
    old = OutsideReply.objects.filter(created_at__lt=timezone.now() - KEPT_FOR)
    return old.filter(state__in=(_State.DONE, _State.FAILED)).delete()[0]


def _claim() -> list[OutsideReply]:
    now = timezone.now()
    due = OutsideReply.objects.filter(state=_State.PENDING, next_at__lte=now)
    taken = []
    for row in due.select_related("integration__project__team", "session").order_by("pk")[:_BATCH]:
        mine = OutsideReply.objects.filter(pk=row.pk, state=_State.PENDING, next_at=row.next_at)
        if mine.update(next_at=now + CLAIMED_FOR, attempts=F("attempts") + 1):
            row.attempts += 1
            taken.append(row)
    return taken


async def _send(row: OutsideReply) -> None:
    try:
        shown = await in_db(compose, row)
        publishing = await in_db(publishing_of, row.integration.project)
        forge = await in_db(forge_of, publishing)
        await _write(row, forge, shown.text)
    except ForgeError as exc:
        await in_db(_put_off, row, exc.told, exc.wait_s)
    except Exception:  # the edge of a task: one bad reply must not hold up the others
        logger.exception("integration.crashed reply=%s", row.pk)
        await in_db(
            _put_off, row, "The server failed while it wrote this. The error was logged.", 0
        )
    else:
        await in_db(_settle, row, shown)


async def _write(row: OutsideReply, forge: Forge, text: str) -> None:
    """Raises: ForgeError."""
    thread = _thread(row.thread)
    if not row.comment and row.attempts > 1:
        row.comment = await forge.find_comment(thread, row.pk, since=row.created_at)
    if row.comment:
        await forge.edit_comment(thread, row.comment, text)
        return
    if row.to and row.attempts == 1:
        try:
            await forge.react(thread, row.to)
        except ForgeError as exc:
            # A token may comment and not react; the comment says it all.
            logger.info("integration.no_reaction reply=%s why=%s", row.pk, exc)
    row.comment = await forge.comment(thread, text)


def compose(row: OutsideReply) -> Shown:
    """Read what the comment has to say now."""
    mark = f"<!-- {row.pk} -->"
    if row.session is None:
        return Shown(f"{row.text}\n\n{mark}", is_last=True)
    session = Session.objects.get(pk=row.session.pk)
    says, is_last = _state_of(session, row.prompt_id)
    if session.is_private:
        says, is_last = "*The session is private now. Its answer is not shown here.*", True
    redact = project_redactor(session.project_id).text
    says = _without_mentions(redact(says))
    if len(says) > MAX_TEXT_CHARS:
        says = f"{says[:MAX_TEXT_CHARS]}…\n\n*The answer is longer. The session has all of it.*"
    return Shown(f"{says}\n\n---\n{_link(row, session)}\n{mark}", is_last)


def _without_mentions(text: str) -> str:
    """Returns: the text so that it notifies nobody: a stranger may have had the agent write it."""
    pieces = _CODE.split(text)
    pieces[::2] = [_MENTION.sub(_NO_MENTION, one) for one in pieces[::2]]
    return "".join(pieces)


def _state_of(session: Session, prompt_id: str) -> tuple[str, bool]:
    prompt = SessionInput.objects.filter(pk=prompt_id).first()
    asked = Message.objects.visible(session).filter(pk=prompt_id).first()
    if asked is None:
        if prompt is not None and prompt.status == SessionInput.Status.ADMITTED:
            return "*Waiting for its turn.*", False
        return "*This request was withdrawn.*", True
    after = Message.objects.visible(session).filter(seq__gt=asked.seq).order_by("seq")
    following = after.filter(role="user").first()
    said = _said(session, asked, following)
    if following is not None or session.state == State.IDLE:
        ended = "" if following is not None else _ended(session)
        return "\n\n".join(filter(None, (said, ended))) or "*Done, without an answer.*", True
    if session.state == State.WAITING:
        return f"*{_WAITS.get(session.waits_for, 'Waiting')}.*", False
    return "*Working on it.*", False


_WAITS: dict[str, str] = {
    WaitsFor.PERSON: "Waiting for somebody to answer in the session",
    WaitsFor.BUDGET: "Stopped at its cost limit until somebody allows more in the session",
}


def _said(session: Session, asked: Message, following: Message | None) -> str:
    """Returns: the newest text of the agent between two prompts."""
    rows = Part.objects.visible(session).filter(type="text", message__role="assistant")
    rows = rows.filter(message__seq__gt=asked.seq)
    if following is not None:
        rows = rows.filter(message__seq__lt=following.seq)
    newest = rows.order_by("-message__seq").values_list("message_id", flat=True).first()
    texts = rows.filter(message_id=newest).order_by("seq", "pk").values_list("data", flat=True)
    return "\n\n".join(text for one in texts if (text := text_of(one, "text").strip()))


def _ended(session: Session) -> str:
    match session.outcome:
        case Outcome.DONE | Outcome.NONE:
            return ""
        case Outcome.STOPPED | Outcome.INTERRUPTED:
            return "*Stopped.*"
        case _:
            return f"*It failed: {session.outcome_detail}*"


def _link(row: OutsideReply, session: Session) -> str:
    if not settings.PUBLIC_URL:
        return ""
    team = row.integration.project.team
    return f"[Open the session]({settings.PUBLIC_URL}/t/{team.slug}/s/{session.pk})"


def _thread(text: str) -> Thread:
    kind, _, number = text.partition("/")
    return Thread(int(number), kind == "pull")


def _settle(row: OutsideReply, shown: Shown) -> None:
    """What happened while it was written makes another attempt due at once."""
    rows = OutsideReply.objects.filter(pk=row.pk)
    written = {"comment": row.comment, "attempts": 0, "problem": "", "cause": {}}
    state = _State.DONE if shown.is_last else _State.SHOWN
    if not rows.filter(revision=row.revision).update(state=state, **written):
        rows.update(next_at=timezone.now(), **written)


def _put_off(row: OutsideReply, told: Told, wait_s: int) -> None:
    cause = told.to_json() if isinstance(told, Cause) else {}
    fields = {"comment": row.comment, "problem": english(told)[:400], "cause": cause}
    if row.attempts > len(BACKOFF_S):
        OutsideReply.objects.filter(pk=row.pk).update(state=_State.FAILED, **fields)
        return
    wait = timedelta(seconds=max(wait_s, BACKOFF_S[row.attempts - 1]))
    OutsideReply.objects.filter(pk=row.pk).update(next_at=timezone.now() + wait, **fields)
