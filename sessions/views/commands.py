from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import Invalid
from sessions.commands.catalog import Command, load_commands
from sessions.commands.template import parse_line
from sessions.config.effective import project_config, session_config
from sessions.mcp.servers import prompts_of_servers
from sessions.models import Project, Session
from sessions.present.frame.builtin import describe
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.skills import project_skills, session_skills
from sessions.views.requests import project_of, rail_filter, session_of
from teams.http import TeamRequest, team_view

_SOURCES = {"command": "", "skill": "Skill", "mcp": "MCP"}


def commands_of(
    project: Project, session: Session | None, user_id: int | None
) -> dict[str, Command]:
    """What can be called in a session, or in the project's folder; its own worktree may bring
    others.
    """
    if session is not None:
        config = session_config(session)
        skills = session_skills(session, config)
    else:
        config, skills = project_config(project), project_skills(project)
    prompts = prompts_of_servers(project, config.mcp, user_id)
    return load_commands(config, skills.skills.values(), prompts)


def settle_command(request: HttpRequest, project: Project, session: Session | None) -> None:
    """Let a text pass unless it calls a command that is not there and is not sent a second time.

    Raises: Invalid naming it in `command`, for the composer to ask.
    """
    name, _rest = parse_line(request.POST.get("text", "")) or ("", "")
    # With another slash it is a path.
    if not name or "/" in name or request.POST.get("as_text") == name:
        return
    if name not in commands_of(project, session, request.user.pk):
        said = _("There is no command /%(name)s.") % {"name": name}
        raise Invalid(said, field="text", command=name)


@require_GET
@team_view()
def commands(request: TeamRequest, project: str) -> HttpResponse:
    """What can be typed as `/name`, in a project or in one of its sessions."""
    row = project_of(request, project).project
    shown = request.GET.get("session")
    found = commands_of(row, session_of(request, shown).session if shown else None, request.user.pk)
    context = {
        "commands": [
            {
                "name": command.name,
                "hints": " ".join(command.hints),
                "description": describe(command.config.description or ""),
                "source": command.path or _SOURCES[command.source],
                "ignored": bool(command.path) and not command.runs_shell,
            }
            for command in found.values()
        ],
        "project": row,
        "rail": load_rail(request.access, rail_filter(request)),
        "crumbs": [
            {"label": row.name, "url": project_url(row)},
            {"label": _("Commands"), "url": ""},
        ],
    }
    return render(request, "sessions/commands.html", context)
