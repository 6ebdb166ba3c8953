"""Sessions with the same prompt side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils.safestring import SafeString

from opencode_web.lib.json import list_of, text_of
from opencode_web.lib.markdown import render_markdown
from sessions.changes.turn_diffs import counts_now
from sessions.models import Part, Session, State
from sessions.present.conversation.docks import Card, load_cards
from sessions.present.conversation.history import load_waiting
from sessions.present.place import Place
from sessions.present.sessions import Header, build_header
from sessions.runner.log.lease import has_lost_worker

_MAX_ANSWER_CHARS = 20_000


@dataclass(frozen=True)
class Attempt:
    """One of the compared sessions. `answer`: what its agent said last; `cards`: what it asks."""

    session: Header
    url: str
    answer: SafeString
    took: timedelta | None
    files: int
    added: int
    removed: int
    changes_url: str
    keep_url: str
    cards: list[Card]


@dataclass(frozen=True)
class Comparison:
    """`is_running`: one of them still works, so the page asks again."""

    prompt: str
    attempts: list[Attempt]
    url: str
    stop_url: str
    is_running: bool
    is_decided: bool


def load_comparison(session: Session, compared: Sequence[Session]) -> Comparison:
    """`compared`: with their `project.team` loaded; `session` is the one whose page it is."""
    place = Place.of(session)
    left = [one for one in compared if one.archived_at is None]
    return Comparison(
        prompt=_first_prompt(compared[0]),
        attempts=[_attempt(one) for one in compared],
        url=place.url("compare"),
        stop_url=place.url("compare_stop"),
        is_running=any(one.state != State.IDLE for one in left),
        is_decided=len(left) < 2,
    )


def _attempt(session: Session) -> Attempt:
    place = Place.of(session)
    changed = counts_now(session)
    return Attempt(
        session=build_header(session, is_lost=has_lost_worker(session)),
        url=place.url("session"),
        answer=render_markdown(_last_answer(session)),
        took=session.state_since - session.created_at if session.state == State.IDLE else None,
        files=changed.files,
        added=changed.additions,
        removed=changed.deletions,
        changes_url=f"{place.url('session')}?panel=changes&source=session&full=1",
        keep_url=place.url("compare_keep"),
        cards=load_cards(session, load_waiting(session)) if session.state == State.WAITING else [],
    )


def _first_prompt(session: Session) -> str:
    """Also while it waits for a worker."""
    first = session.inputs.order_by("admitted_seq").first()
    parts = list_of(first.data, "parts") if first else []
    return next((text_of(one, "text") for one in parts if isinstance(one, dict)), "")


def _last_answer(session: Session) -> str:
    texts = Part.objects.visible(session).filter(type="text", message__role="assistant")
    newest = texts.order_by("-seq", "-id").values_list("data", flat=True).first()
    return text_of(newest or {}, "text")[:_MAX_ANSWER_CHARS]
