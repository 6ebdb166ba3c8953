"""Write what is said in a workspace, and edit it as the sessions go on.

One process does this for a workspace, so nothing is written twice or out of order. A message is
edited at most once a second, and nothing is sent while Slack wants to be left alone. The id of an
answer stands in its message's metadata: where Slack's answer was lost, the message is looked for
before another one is written.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.json import JsonObject, JsonValue, object_of, text_of
from sessions.access import access_session
from sessions.actions.deliveries import claim_due
from sessions.integrations.replies import (
    CLAIMED_FOR,
    give_up,
    put_off,
    session_url,
    settle,
    state_of,
)
from sessions.integrations.slack.api import FINAL, Slack, SlackError
from sessions.integrations.slack.blocks import (
    MAX_BLOCKS,
    Block,
    context,
    escape,
    fallback,
    link,
    section,
    text_blocks,
)
from sessions.integrations.slack.cards import card, find_ask, pending_asks
from sessions.integrations.slack.files import file_buttons, send_files
from sessions.integrations.steps import begin_reply, is_again
from sessions.models import Conversation, OutsideReply, Session, SessionInput, SlackWorkspace, State
from sessions.secrets import project_redactor
from teams.auth import authenticate_for

logger = logging.getLogger(__name__)

_BATCH = 20
_State = OutsideReply.State
_EVENT = "opencode_answer"


@dataclass(frozen=True)
class Shown:
    """What a message says now, and whether nothing more will come."""

    blocks: list[Block]
    is_last: bool

    @property
    def digest(self) -> str:
        """Differs where anything differs."""
        return hashlib.sha256(json.dumps(self.blocks, sort_keys=True).encode()).hexdigest()


_GONE = Shown([section("*This is not shown here any more.*")], is_last=True)


@dataclass
class Outbox:
    """What is written in a workspace. Each process that speaks with Slack has one for each."""

    workspace: SlackWorkspace
    slack: Slack
    # By the ids of answers: what was written last.
    _written: dict[str, str] = field(default_factory=dict)
    # When something last happened to what is shown, as of the last look.
    _seen: dict[OutsideReply, datetime] = field(default_factory=dict)
    _rests_until: float = 0.0

    async def send(self) -> int:
        """Write what is due. Returns: how many messages were tried."""
        if time.monotonic() < self._rests_until:
            return 0
        await in_db(self.note_changes)
        claimed = await in_db(self._claim)
        for number, row in enumerate(claimed):
            if not await self._send(row):
                await in_db(_give_back, claimed[number + 1 :])
                return number + 1
        return len(claimed)

    def note_changes(self) -> None:
        """Have what says something else by now written again, and what is asked shown.

        Two queries where nothing has happened.
        """
        shown = self._rows().filter(state=_State.SHOWN).select_related("session__project")
        before, self._seen = self._seen, _marks(shown.order_by("pk"))
        for row, mark in self._seen.items():
            if before.get(row) == mark:
                continue
            session = row.session
            if (
                session is not None
                and session.state != State.IDLE
                and not (_is_card(row) or row.to)
            ):
                _show_asks(row, session)
            if compose(self.workspace, row).digest != self._written.get(row.pk):
                again = OutsideReply.objects.filter(pk=row.pk)
                again.write_anew(_State.SHOWN, now=timezone.now())

    def _rows(self) -> QuerySet[OutsideReply]:
        return OutsideReply.objects.filter(integration=self.workspace.pk)

    def _claim(self) -> list[OutsideReply]:
        due = self._rows().filter(state=_State.PENDING).select_related("session__project")
        return claim_due(due.order_by("pk"), _BATCH, lasts=CLAIMED_FOR)

    async def _send(self, row: OutsideReply) -> bool:
        """Returns: False where Slack wants to be left alone."""
        try:
            shown = await in_db(compose, self.workspace, row)
            if row.data and shown.blocks != _GONE.blocks and not row.comment:
                left_out = await send_files(self.slack, row)
                shown = Shown([section(escape(left_out))] if left_out else [], is_last=True)
            if shown.blocks and not (row.comment and self._written.get(row.pk) == shown.digest):
                await self._write(row, shown)
        except SlackError as exc:
            if exc.wait_s:
                self._rests_until = time.monotonic() + exc.wait_s
                await in_db(_rest, row, exc)
                return False
            if exc.code in FINAL:
                await in_db(give_up, row, exc.told)
            else:
                await in_db(put_off, row, exc.told, 0)
        except Exception:  # the edge of a task: one bad answer must not hold up the others
            logger.exception("slack.crashed answer=%s", row.pk)
            failed = "The server failed while it wrote this. The error was logged."
            await in_db(put_off, row, failed, 0)
        else:
            self._written[row.pk] = shown.digest
            if shown.is_last:
                self._written.pop(row.pk)
            await in_db(settle, row, is_last=shown.is_last)
        return True

    async def _write(self, row: OutsideReply, shown: Shown) -> None:
        """Raises: SlackError."""
        blocks: list[JsonValue] = [*shown.blocks]
        said: JsonObject = {"channel": row.place, "blocks": blocks, "text": fallback(shown.blocks)}
        if row.to:
            # One person alone sees it, and nobody can edit it.
            if shown.is_last:
                thread = {"thread_ts": row.thread} if row.thread else {}
                await self.slack.call("chat.postEphemeral", **said, user=row.to, **thread)
            return
        if not row.comment and is_again(row):
            row.comment = await self._find(row)
        if row.comment:
            try:
                await self.slack.call("chat.update", **said, ts=row.comment)
            except SlackError as exc:
                if exc.code != "message_not_found":
                    raise
                # Somebody has deleted it.
                row.comment = ""
        if not row.comment:
            row.comment = await self._post(row, said)
        await in_db(_begin_thread, row)

    async def _post(self, row: OutsideReply, said: JsonObject) -> str:
        mark: JsonObject = {"event_type": _EVENT, "event_payload": {"id": row.pk}}
        thread: JsonObject = {"thread_ts": row.thread} if row.thread else {}
        quiet: JsonObject = {"unfurl_links": False, "unfurl_media": False, "link_names": False}
        sent = await self.slack.call("chat.postMessage", **said, **thread, **quiet, metadata=mark)
        return text_of(sent, "ts")[:40]

    async def _find(self, row: OutsideReply) -> str:
        """Returns: the time of a message that was written although its answer was lost."""
        for one in await self.slack.replies(row.place, row.thread, since=row.created_at):
            payload = object_of(object_of(one, "metadata"), "event_payload")
            if text_of(payload, "id") == row.pk:
                return text_of(one, "ts")[:40]
        return ""


def compose(workspace: SlackWorkspace, row: OutsideReply) -> Shown:
    """Read what a message has to say now."""
    if row.session is None:
        return Shown([section(row.text)], is_last=True)
    session = Session.objects.select_related("project__team").get(pk=row.session.pk)
    if not _may_show(workspace, row, session):
        return _GONE
    if row.data:
        return Shown([], is_last=True)
    if _is_card(row):
        ask = find_ask(row.prompt_id, session)
        if ask is None:
            return _GONE
        blocks, is_last = card(ask, session)
        return Shown(blocks, is_last)
    if not row.prompt_id:
        says, is_last = row.text, True
    else:
        shown = state_of(session, row.prompt_id, so_far=True)
        says, is_last = shown.text, shown.is_last
    says = project_redactor(session.project_id).text(says)
    # The state is written in Markdown's emphasis.
    blocks = text_blocks(says, most=MAX_BLOCKS - 2)
    asks = file_buttons(session, row.prompt_id) if is_last and not row.to else []
    return Shown([*blocks, *asks, context(session_link(session))], is_last)


def session_link(session: Session) -> str:
    """Returns: a link to a session, or its title while the server's own address is not set."""
    url = session_url(session.project.team, session)
    return link(url, "Open the session") if url else "OpenCode"


def project_of_channel(workspace: SlackWorkspace, channel: str) -> str:
    """Returns: the id of the project that a channel is about; empty where nothing is said."""
    is_direct = channel.startswith("D")
    rows = workspace.channels.filter(channel="" if is_direct else channel)
    return rows.values_list("project_id", flat=True).first() or ""


def _may_show(workspace: SlackWorkspace, row: OutsideReply, session: Session) -> bool:
    """Whether the session may still be read where it was asked for."""
    if session.is_private or session.project_id != project_of_channel(workspace, row.place):
        return False
    if not (row.place.startswith("D") or row.to) or _is_card(row) or not row.prompt_id:
        return True
    # Nobody else reads it there.
    prompt = SessionInput.objects.filter(pk=row.prompt_id).select_related("author").first()
    if prompt is None or prompt.author is None:
        return False
    try:
        access_session(authenticate_for(prompt.author, session.project.team), session.pk)
    except AppError:
        return False
    return prompt.author.is_active


def _marks(shown: Iterable[OutsideReply]) -> dict[OutsideReply, datetime]:
    """Returns: for each when something last happened in its session or below it."""
    newest = dict[str | None, datetime]()
    rows, now = list(shown), timezone.now()
    tops = {row.session_id for row in rows}
    below = Session.objects.filter(Q(pk__in=tops) | Q(root__in=tops))
    for top, session_id, state, updated_at in below.values_list(
        "root", "pk", "state", "updated_at"
    ):
        # No event tells of text that grows.
        changed_at = now if state == State.BUSY else updated_at
        of = top or session_id
        newest[of] = max(changed_at, newest.get(of, changed_at))
    return {row: newest.get(row.session_id, now) for row in rows}


def _is_card(row: OutsideReply) -> bool:
    return row.prompt_id.startswith(("per_", "que_"))


def _show_asks(row: OutsideReply, session: Session) -> None:
    """Have each thing that the session waits for asked below its prompt."""
    here = {"integration_id": row.integration_id, "place": row.place}
    here["thread"] = row.thread or row.comment
    for ask in pending_asks(session):
        if not OutsideReply.objects.filter(prompt_id=ask.pk, **here).exists():
            begin_reply(session=session, prompt_id=ask.pk, **here)


def _begin_thread(row: OutsideReply) -> None:
    """What is said below a message that begins a thread goes on with its session."""
    if row.thread or row.session_id is None:
        return
    Conversation.objects.update_or_create(
        integration_id=row.integration_id,
        place=row.place,
        thread=row.comment,
        defaults={"session_id": row.session_id},
    )


def _rest(row: OutsideReply, exc: SlackError) -> None:
    """To be left alone is no failed attempt."""
    mine = OutsideReply.objects.filter(pk=row.pk, attempts=row.attempts)
    later = timezone.now() + timedelta(seconds=exc.wait_s)
    mine.update(next_at=later, attempts=row.attempts - 1, problem=exc.told, comment=row.comment)


def _give_back(rows: list[OutsideReply]) -> None:
    for row in rows:
        mine = OutsideReply.objects.filter(pk=row.pk, attempts=row.attempts)
        mine.update(next_at=timezone.now(), attempts=row.attempts - 1)
