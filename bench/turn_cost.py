"""Runs inside our server's Django: what a trivial turn costs behind a history of some length.

On the server's database and without its processes: nothing but admission and drain, with the
provider that plays scripts in the process.
"""

from __future__ import annotations

import json
import time
from typing import Any

from django.db import transaction
from django.db.backends.signals import connection_created

from bench.stats import median
from bench.turns import INLINE_TEXT
from opencode_web.lib.ids import new_id
from opencode_web.lib.loop import submit
from providers.llm.messages import ModelRef
from sessions.access import access_project, access_session
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import create_session
from sessions.events.compaction import SessionCompacted
from sessions.events.messages import (
    AssistantMessage,
    MessageModel,
    MessagePath,
    MessageTime,
    UserMessage,
)
from sessions.events.parts import CompactionPart, PartTime, TextPart
from sessions.events.store import append, lock_session
from sessions.events.types import MessageUpdated, PartUpdated, SessionEvent
from sessions.models import Project, Session
from sessions.runner import run_session
from teams.auth import Principal, authenticate_user
from teams.models import User

SIZES = (10, 1_000, 10_000)
_WARM_UP = 3
_CHUNK = 250
# Messages since the conversation was summed up.
_RECENT = 10


def measure_turns(turns: int) -> None:
    """Print the figures. Must be the first to use the database in its process."""
    statements = [0]

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        statements[0] += 1
        return execute(sql, params, many, context)

    def watch(connection: Any, **_: Any) -> None:
        connection.execute_wrappers.append(note)

    connection_created.connect(watch)
    principal = authenticate_user(User.objects.earliest("pk"))
    project = Project.objects.earliest("created_at")
    found = {}
    for size in SIZES:
        session = create_session(access_project(principal, project.pk))
        _write_history(session, messages=size)
        costs = []
        for _ in range(_WARM_UP + turns):
            before, started = statements[0], time.monotonic()
            take_turn(principal, session.pk)
            costs.append((statements[0] - before, (time.monotonic() - started) * 1000))
        counts, walls = zip(*costs[_WARM_UP:], strict=True)
        found[f"history{size}.statements"] = median(counts)
        found[f"history{size}.ms"] = median(walls)
    print(json.dumps(found))


def take_turn(principal: Principal, session_id: str) -> None:
    draft = PromptDraft(
        parts=[{"type": "text", "text": INLINE_TEXT}], model=ModelRef("demo", "inline")
    )
    admit_prompt(access_session(principal, session_id), draft)
    submit(run_session(session_id)).result()
    ended = Session.objects.values_list("state", "outcome").get(pk=session_id)
    if ended != ("idle", "done"):
        raise RuntimeError(f"the turn ended as {ended}")


def _write_history(session: Session, *, messages: int) -> None:
    """Prompts and answers of one line each, as the runner writes them.

    What does not belong to the newest `_RECENT` was summed up, as in any session that long.
    """
    recent = min(messages, _RECENT)
    _write(session, (messages - recent) // 2)
    if messages > recent:
        _sum_up(session)
    _write(session, recent // 2)


def _write(session: Session, exchanges: int) -> None:
    events = [event for _ in range(exchanges) for event in _exchange(session)]
    for start in range(0, len(events), _CHUNK):
        with transaction.atomic():
            append(lock_session(session.pk), events[start : start + _CHUNK])


def _sum_up(session: Session) -> None:
    asked, _, answer, text = _exchange(session)
    assert isinstance(asked, MessageUpdated)
    assert isinstance(answer, MessageUpdated)
    part = CompactionPart(
        id=new_id("prt"), sessionID=session.pk, messageID=asked.info.id, auto=True
    )
    summary = answer.info.model_copy(update={"summary": True, "agent": "compaction"})
    with transaction.atomic():
        locked = lock_session(session.pk)
        end = SessionCompacted(
            message_id=asked.info.id,
            summary_id=summary.id,
            # Nothing before it is kept verbatim.
            history_from=locked.seq + 1,
            before=100_000,
            after=1_000,
            in_vain=False,
        )
        append(locked, [asked, PartUpdated(part=part), MessageUpdated(info=summary), text, end])


def _exchange(session: Session) -> list[SessionEvent]:
    prompt_id, answer_id, directory = new_id("msg"), new_id("msg"), session.project.directory
    prompt = UserMessage(
        id=prompt_id,
        sessionID=session.pk,
        time=MessageTime(created=1),
        agent="build",
        model=MessageModel(providerID="demo", modelID="inline"),
    )
    answer = AssistantMessage(
        id=answer_id,
        sessionID=session.pk,
        time=MessageTime(created=1, completed=2),
        parentID=prompt_id,
        modelID="inline",
        providerID="demo",
        mode="build",
        agent="build",
        path=MessagePath(cwd=directory, root=directory),
        finish="stop",
    )
    return [
        MessageUpdated(info=prompt),
        PartUpdated(part=_text(session, prompt_id, "And now?")),
        MessageUpdated(info=answer),
        PartUpdated(part=_text(session, answer_id, "Done.")),
    ]


def _text(session: Session, message_id: str, text: str) -> TextPart:
    return TextPart(
        id=new_id("prt"),
        sessionID=session.pk,
        messageID=message_id,
        text=text,
        time=PartTime(start=1, end=2),
    )
