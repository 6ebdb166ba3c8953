"""How far the answer to a comment is, as a reaction of ours to it: one at a time."""

from __future__ import annotations

import logging

from opencode_web.lib.db import in_db
from opencode_web.lib.json import text_of
from sessions.forges.adapter import ForgeError, Reaction, Thread
from sessions.forges.reasons import ForgeReason
from sessions.integrations.replies import state_of
from sessions.integrations.steps import Step, note
from sessions.integrations.system import System
from sessions.models import Outcome, OutsideReply, Session

logger = logging.getLogger(__name__)

_GONE = {ForgeReason.NOT_FOUND, ForgeReason.GONE}
_REFUSALS = {
    *_GONE,
    ForgeReason.FORBIDDEN,
    ForgeReason.KEY_FORBIDDEN,
    ForgeReason.REFUSED,
}


async def show_reaction(row: OutsideReply, system: System) -> Step:
    """Put the reaction that fits now in the place of the one before. Raises: ForgeError."""
    wanted, is_last = await in_db(_wanted, row)
    try:
        await _exchange(row, system, wanted)
    except ForgeError as exc:
        if exc.reason not in _REFUSALS:
            raise
        # A token may comment and not react, and the comment says it all.
        logger.info("integration.no_reaction reply=%s why=%s", row.pk, exc)
        return Step(is_last=True)
    return Step(is_last=is_last)


def _wanted(row: OutsideReply) -> tuple[Reaction | None, bool]:
    """Returns: the reaction, None for none, and whether it is the last one."""
    assert row.session is not None
    session = Session.objects.get(pk=row.session.pk)
    if session.is_private:
        return None, True
    shown = state_of(session, row.prompt_id)
    if not shown.is_last:
        return Reaction.EYES, False
    is_done = shown.outcome == Outcome.DONE
    return Reaction.HOORAY if is_done else Reaction.CONFUSED, True


async def _exchange(row: OutsideReply, system: System, wanted: Reaction | None) -> None:
    """What is there is noted before it is asked for: then it is found where the answer was lost.

    Raises: ForgeError.
    """
    thread, there = Thread.parse(row.thread), text_of(row.data, "there")
    if there and there != wanted:
        before = Reaction(there)
        row.comment = row.comment or await system.react(thread, row.to, before)
        try:
            await system.unreact(thread, row.to, before, row.comment)
        except ForgeError as exc:
            if exc.reason not in _GONE:
                raise
        there = row.comment = ""
        await in_db(note, row, there="")
    if wanted is not None and not row.comment:
        await in_db(note, row, there=wanted.value)
        row.comment = await system.react(thread, row.to, wanted)
