"""Stored events to html operations of the browser's socket, through the fragments of the page.

A frame renders what its events touched from the rows as they are when it is made. Rows may be newer
than the events: the frames of the newer events then render the same again, which changes nothing.

Operations are `[selector, how, html]`, in order: `put` replaces the element with the id of the
html's root, or appends to the selected one where there is none; `outer` replaces the selected one,
where there is one; `inner` its children; `remove` takes it away; `say` announces a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.json import JsonValue
from sessions.changes.restore_request import is_restoring
from sessions.changes.turn_diffs import counts_of, newest_prompt
from sessions.events.live import Estimate
from sessions.events.stored import StoredTool
from sessions.models import (
    Message,
    Outcome,
    Part,
    PermissionRequest,
    QuestionRequest,
    Session,
    State,
    WaitsFor,
)
from sessions.present.changes.entries import Changed
from sessions.present.conversation.blocks import find_block
from sessions.present.conversation.decisions import load_decisions
from sessions.present.conversation.history import (
    load_turns_of,
    load_waiting,
    load_window,
    newest_prompt_ids,
    render_context,
)
from sessions.present.conversation.items import GrowingText, RenderContext, build_item
from sessions.present.conversation.turns import TurnRows, build_turn
from sessions.present.place import Place
from sessions.present.sessions import build_header, with_estimate
from sessions.present.stored_text import outcome_of
from sessions.stream.changed_parts import Touched
from sessions.stream.fragments import (
    render_agents,
    render_block,
    render_changes_mark,
    render_count,
    render_footer,
    render_header_part,
    render_item,
    render_permissions,
    render_queue,
    render_reverted,
    render_todos,
    render_turn,
    render_turns,
)
from sessions.totals import used_below

_SESSION: CompiledQuery[Session] = CompiledQuery(
    lambda session_id: Session.objects.select_related("project__team", "owner").filter(
        pk=session_id
    )[:1],
    str,
)

# Each `[selector, how, html]`.
Ops = list[JsonValue]
Growing = Mapping[str, GrowingText]


def load_session(session_id: str) -> Session | None:
    """Returns: the session with what its fragments need, None when it is gone."""
    return _SESSION.first(session_id)


def render_touched(
    session: Session, touched: Touched, growing: Growing, *, is_lost: bool = False
) -> Ops:
    """`is_lost`: its worker has died. Returns: what makes a page without these events show them."""
    if touched.history:
        # What stood in the log is gone or back, with all that follows from it.
        said = _sentence(session) if touched.status else _("The conversation has changed.")
        return [*render_window(session, growing, is_lost=is_lost), ["", "say", said]]
    waiting = load_waiting(session)
    ops = _turn_ops(session, touched, render_context(session, waiting, growing))
    if touched.header:
        ops += _header_ops(session, is_lost=is_lost)
    if touched.permissions:
        ops.append(["#permissions", "inner", render_permissions(session, waiting)])
    if touched.queue or touched.status:
        ops.append(["#queue", "outer", render_queue(session)])
    if touched.todos or touched.status:
        ops.append(["#todos", "outer", render_todos(session)])
    if touched.agent:
        ops.append(["#composer-agent", "outer", render_agents(session)])
    if touched.changes:
        ops += _changes_ops(session)
    if touched.status:
        ops.append(["", "say", _sentence(session)])
    return ops


def render_growing(session: Session, growing: Growing) -> Ops:
    """Returns: the texts that grow just now, as far as they are known."""
    context = RenderContext(Place.of(session), growing=growing)
    ops: Ops = []
    for part in Part.objects.filter(session=session, pk__in=list(growing)).order_by("seq", "id"):
        item = build_item(part.data, context)
        if item is not None:
            ops.append([f"#prt-{part.pk}", "outer", render_item(item)])
    return ops


def render_status(session: Session, *, is_lost: bool) -> Ops:
    """Returns: what the session does now, or where it waits."""
    status = render_header_part("status", build_header(session, is_lost=is_lost))
    return [[f"#status-{session.pk}", "outer", status]]


def render_estimate(session: Session, guess: Estimate) -> Ops:
    """Returns: the figures that go up while an answer streams, in the header and under Context."""
    header = with_estimate(build_header(session, used_below(session)), guess)
    return [
        [f"#meter-{session.pk}", "outer", render_header_part("meter", header)],
        ["#context-use", "outer", render_header_part("context_use", header)],
        ["#context-cost", "outer", render_header_part("context_cost", header)],
    ]


def render_tool(session: Session, part: StoredTool) -> Ops:
    """Returns: the row of a running tool."""
    decisions = load_decisions([part["messageID"]])
    item = build_item(part, RenderContext(Place.of(session), decisions=decisions))
    return [[f"#prt-{part['id']}", "outer", render_item(item)]] if item else []


def render_below(session: Session, *, is_lost: bool) -> Ops:
    """Returns: what changes on the page of a session when one of its sub-agents does something."""
    waiting = load_waiting(session)
    return [
        *_task_ops(session, render_context(session, waiting)),
        *_header_ops(session, is_lost=is_lost),
        ["#permissions", "inner", render_permissions(session, waiting)],
    ]


def _task_ops(session: Session, context: RenderContext) -> Ops:
    """The rows of the calls whose sub-agents work: how far they are."""
    newest = newest_prompt_ids(session, 1)
    prompts = Message.objects.filter(session=session, pk__in=newest).values("seq")
    parts = Part.objects.filter(session=session, type="tool", message__seq__gte=prompts)
    items = [
        (part.pk, build_item(part.data, context))
        for part in parts.filter(data__tool="task", data__state__status="running")
    ]
    return [[f"#prt-{pk}", "outer", render_item(item)] for pk, item in items if item is not None]


def render_window(session: Session, growing: Growing, *, is_lost: bool) -> Ops:
    """Returns: what makes any older page of the session show its newest turns."""
    waiting = load_waiting(session)
    window = load_window(session, render_context(session, waiting, growing))
    return [
        ["#log", "inner", render_turns(session, window)],
        *_header_ops(session, is_lost=is_lost),
        ["#permissions", "inner", render_permissions(session, waiting)],
        ["#reverted", "outer", render_reverted(session)],
        ["#todos", "outer", render_todos(session)],
        ["#queue", "outer", render_queue(session)],
        *_changes_ops(session),
    ]


def _turn_ops(session: Session, touched: Touched, context: RenderContext) -> Ops:
    if touched.requests:
        rows = PermissionRequest.objects.filter(pk__in=touched.requests)
        questions = QuestionRequest.objects.filter(pk__in=touched.requests)
        asked = {
            *rows.values_list("message_id", "call_id"),
            *questions.values_list("message_id", "call_id"),
        }
    else:
        asked = set()
    wanted = set(touched.messages) | {message_id for message_id, _ in asked}
    newest = newest_prompt_ids(session, 2) if touched.status or touched.prompted else []
    # A new prompt ends the turn before it; the end of the work ends the newest.
    wanted.update(newest)
    if not wanted:
        return []
    ops: Ops = []
    for rows_of_turn, is_newest in load_turns_of(session, wanted):
        running = is_newest and session.state != State.IDLE
        ops += _ops_of_turn(rows_of_turn, touched, asked, context, running=running)
    return ops


def _ops_of_turn(
    rows: TurnRows,
    touched: Touched,
    asked: set[tuple[str, str]],
    context: RenderContext,
    *,
    running: bool,
) -> Ops:
    turn = build_turn(rows, context, running=running)
    first_seq = touched.messages.get(turn.id)
    if rows.prompt is not None and first_seq and rows.prompt.seq >= first_seq:
        return [["#log-empty", "remove", ""], ["#log", "put", render_turn(turn)]]
    own_ids = {message.pk for message, _ in rows.answers}
    if turn.divider is not None and any(touched.messages.get(pk) for pk in own_ids):
        return [["#log", "put", render_turn(turn)]]
    if touched.shortened & {rows.id, *(message.pk for message, _ in rows.answers)}:
        return [["#log", "put", render_turn(turn)]]
    sources = touched.parts | {key for key, seq in touched.messages.items() if seq}
    sources |= {
        part.pk
        for message, parts in rows.answers
        for part in parts
        if (message.pk, part.data.get("callID")) in asked
    }
    ops: Ops = [
        [f"#parts-{turn.id}", "put", render_item(item)]
        for item in turn.items
        if item.sources & sources
    ]
    if turn.footer is not None:
        ops.append([f"#turn-{turn.id}", "put", render_footer(turn)])
    elif touched.status:
        ops.append([f"#turn-footer-{turn.id}", "remove", ""])
    return ops


def _header_ops(session: Session, *, is_lost: bool) -> Ops:
    block = find_block(session)
    header = build_header(session, used_below(session), is_lost=is_lost)
    header = replace(header, blocked=header.blocked or (block is not None and block.stops))
    return [
        ["#session-title", "outer", render_header_part("title", header)],
        ["#rename-title", "outer", render_header_part("rename_title", header)],
        [f"#status-{session.pk}", "outer", render_header_part("status", header)],
        [f"#meter-{session.pk}", "outer", render_header_part("meter", header)],
        [f"#send-{session.pk}", "outer", render_header_part("send", header)],
        ["#block", "outer", render_block(block)],
    ]


def _changes_ops(session: Session) -> Ops:
    # The pane is another for each person: who has it open fetches it when this mark changes.
    changed = Changed.of(session)
    ops: Ops = [["#changes-mark", "outer", render_changes_mark(changed)]]
    for name in ("changes-count", "changes-count-switch"):
        ops.append([f"#{name}", "outer", render_count(name, changed.count)])
    return ops


def _sentence(session: Session) -> str:
    if session.state == State.WAITING:
        return _("The agent is waiting for an answer.")
    if session.waits_for in (WaitsFor.FUNDS, WaitsFor.ROOM):
        return outcome_of(session)
    if session.state == State.BUSY:
        return _("Restoring files.") if is_restoring(session) else _("The agent is working.")
    if _was_restored(session):
        return _("Files restored.")
    if session.outcome == Outcome.DONE and not session.outcome_detail:
        return _finished(session)
    return outcome_of(session) or _("The agent has stopped.")


def _was_restored(session: Session) -> bool:
    """Whether a person had a file put back last, and no agent worked."""
    newest = session.events.order_by("-seq").values_list("type", flat=True)[:2]
    return "file.reverted" in newest


def _finished(session: Session) -> str:
    count = counts_of(newest_prompt(session)).files
    if not count:
        return _("The agent has finished.")
    text = ngettext(
        "The agent has finished: %(count)s file changed.",
        "The agent has finished: %(count)s files changed.",
        count,
    )
    return text % {"count": count}
