"""Why a message cannot be sent now, or will wait, in words beside the message field."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import money
from sessions.actions.admission import Closure, find_closure
from sessions.config.cost_limit import find_overrun
from sessions.models import Message, Session, State, WaitsFor
from sessions.present.place import Place
from sessions.present.projects import project_url
from sessions.present.stored_text import outcome_of
from teams.budgets import load_standings, reached, why_not


@dataclass(frozen=True)
class Block:
    """`restore_url` brings an archived session back; `url` is where something else is changed.

    `stops`: nothing can be sent. `ask_url` is where members ask for more of a budget.
    """

    text: str
    restore_url: str = ""
    url: str = ""
    action: str = ""
    stops: bool = False
    ask_url: str = ""


def find_block(session: Session) -> Block | None:
    """`session.project.team` should be loaded. Returns: None where nothing is in the way."""
    project = session.project
    if (closure := find_closure(session)) is not None:
        text = closure.text(session)
        if session.archived_at is not None:
            return Block(text, restore_url=Place.of(session).url("archive"), stops=True)
        if closure is Closure.ARCHIVED:
            return Block(text, stops=True)
        return Block(text, url=project_url(project), action=_("Open the project"), stops=True)
    if (funds := _funds_block(session)) is not None:
        return funds
    if session.parent_id is None and session.state == State.IDLE:
        return _cost_block(session)
    return None


def _cost_block(session: Session) -> Block | None:
    # While it works the question to an admin stands above.
    budget = find_overrun(session)
    if budget is None:
        return None
    text = _(
        "This session has reached its cost limit of %(limit)s. The agent continues with "
        "your message when an admin allows more."
    )
    return Block(text % {"limit": money(budget.limit)})


def _funds_block(session: Session) -> Block | None:
    """In the language of the reader, when a budget still is as the log says.

    Returns: None while the team can spend, and neither the session nor a sub-agent of it waits.
    """
    team = session.project.team
    if not team.has_budgets:
        return None
    waiting, author_id = _who_waits(session), None
    if waiting is not None:
        prompts = Message.objects.filter(session=waiting, role="user").order_by("-seq")
        author_id = prompts.values_list("author", flat=True).first()
    standing = reached(load_standings(team, author_id, session.project_id))
    if standing is not None:
        text = why_not(standing).worded()
    elif waiting is not None:
        text = outcome_of(waiting)
    else:
        return None
    url = reverse("sessions:budgets", kwargs={"team": team.slug})
    # What a member has spent stops nobody else.
    stops = standing is not None and not standing.is_member
    ask_url = f"{reverse('sessions:budget_ask', kwargs={'team': team.slug})}?session={session.pk}"
    return Block(text, url=url, action=_("Open the budgets"), stops=stops, ask_url=ask_url)


def _who_waits(session: Session) -> Session | None:
    if session.waits_for == WaitsFor.FUNDS:
        return session
    if session.waits_for != WaitsFor.CHILDREN:
        return None
    return session.descendants.filter(waits_for=WaitsFor.FUNDS).first()
