from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from sessions.commands.catalog import load_commands
from sessions.commands.template import placeholders
from sessions.effective_config import project_config, session_config
from sessions.present.projects import project_url
from sessions.present.rail import load_rail
from sessions.skills import project_skills, session_skills
from sessions.views.requests import project_of, rail_filter, session_of
from teams.http import TeamRequest, show, team_view


@require_GET
@team_view()
def commands(request: TeamRequest, project: str) -> HttpResponse:
    """What can be typed as `/name`, as a page and for the list beside the message field."""
    row = project_of(request, project).project
    if shown := request.GET.get("session"):
        # Its own worktree may bring others than the project's folder.
        session = session_of(request, shown).session
        config, skills = session_config(session), session_skills(session)
    else:
        config, skills = project_config(row), project_skills(row)
    found = load_commands(config, skills.skills.values())
    context: dict[str, object] = {
        "commands": [
            {
                "name": command.name,
                "hints": " ".join(placeholders(command.config.template)),
                "description": command.config.description or "",
                "source": command.path or ("Skill" if command.source == "skill" else ""),
                "ignored": bool(command.path) and not command.runs_shell,
            }
            for command in found.values()
        ],
        "project": row,
    }
    if not request.htmx:
        context["rail"] = load_rail(request.team, request.user, rail_filter(request))
        context["crumbs"] = [
            {"label": row.name, "url": project_url(row)},
            {"label": "Commands", "url": ""},
        ]
    return show(request, "sessions/commands.html", "sessions/_commands.html", context)
