"""The rows that pages and frames are made of, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max, Q
from django.utils.translation import gettext as _

from opencode_web.lib.compiled import CompiledQuery
from sessions.config.effective import model_names
from sessions.models import Message, Part, PermissionRequest, QuestionRequest, Session, State
from sessions.present.conversation.decisions import load_decisions
from sessions.present.conversation.items import GrowingText, RenderContext
from sessions.present.conversation.subagent_work import LoadedBelow
from sessions.present.conversation.turns import Turn, TurnRows, build_turn, split_turns
from sessions.present.place import Place

WINDOW = 30
# Turns that are shown after one that somebody looked for.
_AFTER = 10
Waiting = PermissionRequest | QuestionRequest
_PERMISSIONS: CompiledQuery[PermissionRequest] = CompiledQuery(
    lambda session_id: PermissionRequest.objects.filter(
        Q(session=session_id) | Q(session__root=session_id), status=PermissionRequest.Status.PENDING
    ).select_related("session"),
    str,
)
_QUESTIONS: CompiledQuery[QuestionRequest] = CompiledQuery(
    lambda session_id: QuestionRequest.objects.filter(
        Q(session=session_id) | Q(session__root=session_id), status=QuestionRequest.Status.PENDING
    ).select_related("session"),
    str,
)


@dataclass(frozen=True)
class Window:
    """A stretch of the conversation.

    `before`: where an earlier one ends, None at the beginning. `start`: where a later one begins,
    None at the end.
    """

    turns: list[Turn]
    before: int | None
    start: int | None


def load_window(
    session: Session, context: RenderContext, *, before: int | None = None, size: int = WINDOW
) -> Window:
    """The newest turns, or those that start before the sequence number `before`."""
    rows, earlier = load_rows(session, before=before, size=size)
    return Window(build_turns(session, rows, context, newest=before is None), earlier, before)


def load_later(
    session: Session, context: RenderContext, *, start: int, size: int = WINDOW
) -> Window:
    """The first turns that start at the sequence number or after it."""
    prompts = Message.objects.visible(session).filter(role="user").order_by("seq")
    starts = list(prompts.filter(seq__gte=start).values_list("seq", flat=True)[: size + 1])
    end = starts[size] if len(starts) > size else None
    rows = _load(session, first=start, before=end)
    has_earlier = prompts.filter(seq__lt=start).exists()
    turns = build_turns(session, rows, context, newest=end is None)
    return Window(turns, start if has_earlier else None, end)


def build_turns(
    session: Session, rows: Sequence[TurnRows], context: RenderContext, *, newest: bool
) -> list[Turn]:
    """`newest`: the last of them is the newest of the session, and may run."""
    runs = newest and session.state != State.IDLE
    last = len(rows) - 1
    return [
        build_turn(row, context, running=runs and index == last) for index, row in enumerate(rows)
    ]


def load_rows(
    session: Session, *, before: int | None = None, size: int = WINDOW
) -> tuple[list[TurnRows], int | None]:
    """Like `load_window`, the rows only. Returns: with them, where earlier ones end."""
    prompts = Message.objects.visible(session).filter(role="user")
    if before is not None:
        prompts = prompts.filter(seq__lt=before)
    starts = list(prompts.order_by("-seq").values_list("seq", flat=True)[: size + 1])
    more = len(starts) > size
    first = starts[size - 1] if more else 0
    return _load(session, first=first, before=before), first if more else None


def window_end(session: Session, message_id: str) -> int | None:
    """Returns: where a window ends that has a message in it; None when the newest one has it, and
    for a message that is not there.
    """
    if not message_id:
        return None
    rows = Message.objects.visible(session)
    seq = rows.filter(pk=message_id).values_list("seq", flat=True).first()
    if seq is None:
        return None
    later = rows.filter(role="user", seq__gt=seq).order_by("seq")
    return later.values_list("seq", flat=True)[_AFTER : _AFTER + 1].first()


def turn_id_of(session: Session, message_id: str) -> str:
    """Returns: the turn that a message is in; empty for one that is not there."""
    turns = load_turns_of(session, [message_id]) if message_id else []
    return turns[0][0].id if turns else ""


def load_turns_of(session: Session, message_ids: Collection[str]) -> list[tuple[TurnRows, bool]]:
    """Returns: the turns that contain the messages, and for each whether it is the newest."""
    wanted = Message.objects.visible(session).filter(pk__in=message_ids)
    seqs = sorted(wanted.values_list("seq", flat=True))
    if not seqs:
        return []
    prompts = Message.objects.visible(session).filter(role="user")
    first = prompts.filter(seq__lte=seqs[0]).aggregate(seq=Max("seq"))["seq"] or 0
    after = prompts.filter(seq__gt=seqs[-1]).order_by("seq").values_list("seq", flat=True).first()
    rows = _load(session, first=first, before=after)
    wanted_ids = set(message_ids)
    last = len(rows) - 1
    return [
        (row, after is None and index == last)
        for index, row in enumerate(rows)
        if wanted_ids & _message_ids(row)
    ]


def newest_prompt_ids(session: Session, count: int) -> list[str]:
    """Returns: newest first."""
    prompts = Message.objects.visible(session).filter(role="user").order_by("-seq")
    return list(prompts.values_list("pk", flat=True)[:count])


def next_message_id(session: Session, message_id: str) -> str | None:
    """Returns: the message after this one, None at the end."""
    rows = Message.objects.visible(session)
    place = rows.filter(pk=message_id).values("seq")
    return rows.filter(seq__gt=place).order_by("seq").values_list("pk", flat=True).first()


def _message_ids(row: TurnRows) -> set[str]:
    ids = {message.pk for message, _ in row.answers}
    return ids | {row.prompt.pk} if row.prompt else ids


def _load(session: Session, *, first: int, before: int | None) -> list[TurnRows]:
    messages = Message.objects.visible(session).filter(seq__gte=first)
    if before is not None:
        messages = messages.filter(seq__lt=before)
    found = list(messages.select_related("author").order_by("seq"))
    ids = [message.pk for message in found]
    parts = Part.objects.visible(session).filter(message__in=ids).order_by("seq", "id")
    return split_turns(found, parts, load_decisions(ids))


def load_waiting(session: Session) -> list[Waiting]:
    """Returns: what a session and its sub-agents ask a person, oldest first."""
    rows: list[Waiting] = [*_PERMISSIONS.all(session.pk), *_QUESTIONS.all(session.pk)]
    for row in rows:
        if row.session_id == session.pk:
            row.session = session
    return sorted(rows, key=lambda row: (row.created_at, row.pk))


def waiting_text(request: Waiting) -> str:
    """Returns: for whom a call waits."""
    if isinstance(request, PermissionRequest) and request.second_person:
        return _("Waiting for a second person")
    return _("Waiting for you")


def render_context(
    session: Session,
    waiting: Sequence[Waiting],
    growing: Mapping[str, GrowingText] | None = None,
) -> RenderContext:
    return RenderContext(
        place=Place.of(session),
        waiting={(row.message_id, row.call_id): waiting_text(row) for row in waiting},
        growing=growing or {},
        below=LoadedBelow(session),
        caller=session.parent.agent if session.parent else "",
        model_name=model_names(session.project),
        is_partly_unpriced=session.is_partly_unpriced,
    )
