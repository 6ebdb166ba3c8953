from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import AppError
from opencode_web.lib.loop import submit
from opencode_web.lib.shapes import as_json
from sessions.agents.loader import load_agents
from sessions.browse.ask import browse
from sessions.browse.file_scope import Where
from sessions.browse.operations import FIND_FILES, FIND_SYMBOLS
from sessions.config.effective import project_config, session_config
from sessions.mcp.servers import mentionable_resources
from sessions.models import Project, Session
from sessions.present.pages.find_pages import slash_targets
from sessions.present.pages.mentions import (
    MAX_SESSIONS,
    MAX_SHOWN,
    Mention,
    agent_mentions,
    command_mentions,
    file_mentions,
    newest_changed,
    people_mentions,
    resource_mentions,
    session_mentions,
    symbol_mentions,
)
from sessions.views.commands import commands_of
from sessions.views.requests import acting_of, project_of, session_of
from sessions.visibility import people_who_see, sessions_in
from teams.access import TeamAccess
from teams.http import TeamRequest, team_view
from teams.models import Role

_MAX_OPEN = 5


@require_GET
@team_view()
@never_cache
def mentions(request: TeamRequest, project: str) -> HttpResponse:
    """What `q` can become: `@` and a part of a path or a name, or `/` and one of a command's.

    `open` names files that are looked at. `symbols=1` asks for what is defined in files instead,
    which takes language servers a while.
    """
    row = project_of(request, project, need=Role.MEMBER).project
    shown = request.GET.get("session")
    # Its own worktree may have other files, agents and commands than the project's folder.
    session = session_of(request, shown, need=Role.MEMBER).session if shown else None
    if session is not None and session.project_id != row.pk:
        session = None
    typed = request.GET.get("q", "")[:200]
    problem, found = "", list[Mention]()
    try:
        if typed.startswith("/"):
            commands = commands_of(row, session, request.user.pk).values()
            targets = slash_targets(request.access, row, acting_of(request))
            found = command_mentions(commands, targets, typed[1:])
        elif request.GET.get("symbols"):
            found = _symbols(row, session, typed)
        else:
            found = _named(
                request.access, row, session, typed, request.GET.getlist("open")[:_MAX_OPEN]
            )
    except AppError as exc:
        problem = exc.message
    return render(request, "sessions/_mentions.html", {"mentions": found, "problem": problem})


def _where(project: Project, session: Session | None) -> Where:
    if session is not None:
        return Where.of_session(session, cautious=False)
    return Where(project.pk, project.host, project.directory, cautious=False)


def _symbols(project: Project, session: Session | None, typed: str) -> list[Mention]:
    where = _where(project, session)
    asked = browse(where, FIND_SYMBOLS, query=typed.removeprefix("@"))
    return symbol_mentions(map(as_json, submit(asked).result()), where.directory)


def _named(
    access: TeamAccess, project: Project, session: Session | None, typed: str, opened: list[str]
) -> list[Mention]:
    config = session_config(session) if session is not None else project_config(project)
    wanted = typed.removeprefix("@")
    agents = agent_mentions(load_agents(config).values(), wanted)
    # What somebody looks at, then what the agent has changed, then what else has such a name.
    first = [*opened, *(newest_changed(session) if session else [])]
    where = _where(project, session)
    asked = browse(where, FIND_FILES, query=wanted, limit=MAX_SHOWN, first=first)
    past = session_mentions(_past(access, session, wanted)) if wanted else []
    of_servers = mentionable_resources(project, config.mcp, access.user.pk)
    others = [*resource_mentions(of_servers, wanted), *past]
    first_ones = [*agents, *(_people(access, project, session, wanted) if wanted else [])]
    files = file_mentions(submit(asked).result())
    return [*first_ones, *files[: MAX_SHOWN - len(first_ones) - len(others)], *others]


def _people(
    access: TeamAccess, project: Project, session: Session | None, wanted: str
) -> list[Mention]:
    """Others who see where this is written."""
    others = (one for one in people_who_see(project, session) if one.pk != access.user.pk)
    return people_mentions(others, wanted)


def _past(access: TeamAccess, session: Session | None, wanted: str) -> QuerySet[Session]:
    """Sessions of the team by their title, the newest first."""
    rows = sessions_in(access).filter(parent=None)
    rows = rows.filter(title__icontains=wanted) | rows.filter(pk=wanted)
    return rows.exclude(pk=session.pk if session else "").order_by("-active_at")[:MAX_SESSIONS]
