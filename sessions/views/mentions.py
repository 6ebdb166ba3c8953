from __future__ import annotations

from typing import cast

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import AppError
from opencode_web.lib.loop import submit
from sessions.agents.loader import load_agents
from sessions.browse.ask import browse
from sessions.browse.place import Where
from sessions.effective_config import project_config, session_config
from sessions.models import Project, Session
from sessions.present.mentions import (
    MAX_SHOWN,
    Mention,
    agent_mentions,
    command_mentions,
    file_mentions,
)
from sessions.views.commands import commands_of
from sessions.views.requests import project_of, session_of
from teams.http import TeamRequest, team_view
from teams.models import Role


@require_GET
@team_view(need=Role.MEMBER)
@never_cache
def mentions(request: TeamRequest, project: str) -> HttpResponse:
    """What `q` can become: `@` and a part of a path or a name, or `/` and one of a command's."""
    row = project_of(request, project, need=Role.MEMBER).project
    shown = request.GET.get("session")
    # Its own worktree may have other files, agents and commands than the project's folder.
    session = session_of(request, shown, need=Role.MEMBER).session if shown else None
    if session is not None and session.project_id != row.pk:
        session = None
    typed = request.GET.get("q", "")[:200]
    problem, found = "", list[Mention]()
    try:
        found = _offer(row, session, typed)
    except AppError as exc:
        problem = exc.message
    return render(request, "sessions/_mentions.html", {"mentions": found, "problem": problem})


def _offer(project: Project, session: Session | None, typed: str) -> list[Mention]:
    if typed.startswith("/"):
        return command_mentions(commands_of(project, session).values(), typed[1:])
    return _named(project, session, typed)


def _named(project: Project, session: Session | None, typed: str) -> list[Mention]:
    config = session_config(session) if session is not None else project_config(project)
    wanted = typed.removeprefix("@")
    agents = agent_mentions(load_agents(config).values(), wanted)
    where = (
        Where.of_session(session, cautious=False)
        if session is not None
        else Where(project.pk, project.host, project.directory, cautious=False)
    )
    asked = browse(where, "find.files", query=wanted, limit=MAX_SHOWN)
    paths = cast(list[str], submit(asked).result())
    return [*agents, *file_mentions(paths)][:MAX_SHOWN]
