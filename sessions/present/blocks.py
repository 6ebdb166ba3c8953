"""Why a message cannot be sent now, or will wait, in words beside the message field."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import money
from sessions.cost_limit import find_overrun
from sessions.models import Message, Project, Session, State, WaitsFor
from sessions.present.place import Place
from sessions.present.projects import project_url
from teams.budgets import load_standings, reached, why_not


@dataclass(frozen=True)
class Block:
    """`restore_url` brings an archived session back; `url` is where something else is changed."""

    text: str
    restore_url: str = ""
    url: str = ""
    action: str = ""


def find_block(session: Session) -> Block | None:
    """`session.project.team` should be loaded. Returns: None where nothing is in the way."""
    project = session.project
    if session.archived_at is not None:
        text = _("This session is archived. Bring it back to write to it.")
        return Block(text, restore_url=Place.of(session).url("archive"))
    if project.status == Project.Status.PREPARING:
        text = _("The files of %(project)s are still prepared. What you write is kept.")
        return Block(text % {"project": project.name}, url=project_url(project), action=_("Look"))
    if project.status == Project.Status.FAILED:
        text = _("The files of %(project)s are not there: the agent has nothing to work on.")
        url = project_url(project)
        return Block(text % {"project": project.name}, url=url, action=_("Open the project"))
    if (funds := _funds_text(session)) is not None:
        url = reverse("sessions:budgets", kwargs={"team": project.team.slug})
        return Block(funds, url=url, action=_("Open the budgets"))
    if session.parent_id is None and session.state == State.IDLE:
        return _cost_block(session)
    return None


def _cost_block(session: Session) -> Block | None:
    # While it works the question to an admin stands above.
    budget = find_overrun(session)
    if budget is None:
        return None
    text = _(
        "The cost limit of this session, %(limit)s, is reached. The agent goes on with your "
        "message when an admin has allowed more."
    )
    return Block(text % {"limit": money(budget.limit)})


def _funds_text(session: Session) -> str | None:
    """In the language of the reader, when it is still as the log says.

    Returns: None while the team can spend and the session waits for no budget.
    """
    team = session.project.team
    if session.waits_for != WaitsFor.FUNDS:
        hit = reached(load_standings(team, None))
        return None if hit is None else why_not(hit)
    prompts = Message.objects.filter(session=session, role="user").order_by("-seq")
    author_id = prompts.values_list("author", flat=True).first()
    standing = reached(load_standings(team, author_id))
    return session.outcome_detail if standing is None else why_not(standing)
