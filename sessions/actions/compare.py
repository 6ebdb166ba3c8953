"""Several sessions with one prompt, each in a worktree of its own, of which one is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from providers.llm.messages import ModelRef
from sessions.access import ProjectAccess, SessionAccess
from sessions.actions.checkouts import choose_plan
from sessions.actions.composer_input import SHELL
from sessions.actions.control import request_stop
from sessions.actions.prompts import PromptDraft
from sessions.actions.sessions import update_session
from sessions.actions.start import start_session
from sessions.models import ComparedSession, Session, State
from sessions.visibility import sessions_in
from sessions.wire import to_ms

MAX_COMPARED = 4


@dataclass(frozen=True)
class Variation:
    """What another session has in place of the agent or the model of the first."""

    agent: str | None = None
    model: ModelRef | None = None


@transaction.atomic
def start_compared(
    access: ProjectAccess,
    draft: PromptDraft,
    others: Sequence[Variation],
    *,
    branch: str = "",
    private: bool = False,
) -> Session:
    """Start a session, and one more with the same prompt for each of `others`; all or none.

    Repeating a message id returns the session that it started.

    Raises: Invalid for too many, or a shell command; and as `start_session`.
    """
    if len(others) >= MAX_COMPARED:
        raise Invalid(
            _("At most %(count)s sessions can be compared.") % {"count": MAX_COMPARED}, field="also"
        )
    if str(draft.parts[0].get("text", "")).startswith(SHELL):
        raise Invalid(_("Shell commands cannot be compared. Write a prompt."), field="also")
    plan = choose_plan(access.project, worktree=True, branch=branch)
    first = start_session(access, draft, checkout=plan, private=private)
    if ComparedSession.objects.filter(session=first).exists():
        return first
    sessions = [first]
    for other in others:
        own = replace(
            draft,
            message_id=None,
            agent=other.agent or draft.agent,
            model=other.model or draft.model,
        )
        sessions.append(start_session(access, own, checkout=plan, private=private))
    ComparedSession.objects.bulk_create(
        ComparedSession(session=session, group=first.pk, place=place)
        for place, session in enumerate(sessions)
    )
    return first


def compared_with(access: SessionAccess) -> list[Session]:
    """Returns: the sessions that were started with the same prompt and that the person sees, itself
    too, in their order."""
    own = ComparedSession.objects.filter(session=access.session).values("group")
    rows = sessions_in(access.team).filter(comparedsession__group__in=own)
    return list(rows.select_related("project__team", "owner").order_by("comparedsession__place"))


def stop_compared(access: SessionAccess) -> None:
    """Stop a session and those that it is compared with, where they still run.

    Raises: NotFound where it is compared with none.
    """
    for one in _compared(access):
        if one.state != State.IDLE:
            request_stop(SessionAccess(one, access.team, access.principal))


@transaction.atomic
def keep_only(access: SessionAccess) -> int:
    """Archive all that are compared with a session, and keep their work until it is deleted.

    Returns: how many. Raises: Conflict while one of them runs; NotFound where there are none.
    """
    others = [
        one for one in _compared(access) if one.pk != access.session.pk and one.archived_at is None
    ]
    if any(one.state == State.BUSY for one in others):
        raise Conflict(_("Other attempts are still running. Stop them first."))
    for other in others:
        own = SessionAccess(other, access.team, access.principal)
        update_session(own, archived_ms=to_ms(timezone.now()))
    return len(others)


def _compared(access: SessionAccess) -> list[Session]:
    found = compared_with(access)
    if not found:
        raise NotFound("Comparison", access.session.pk)
    return found
