from __future__ import annotations

from pathlib import Path

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import NotFound
from opencode_web.lib.json import JsonValue
from sessions.access import ProjectAccess
from sessions.actions.held_trust import hold_trust
from sessions.actions.mcp_servers import forget_mcp_server
from sessions.approvals.hold import NoLongerFits
from sessions.config.effective import project_config
from sessions.mcp.programs import digest_of_programs, programs_in
from sessions.mcp.servers import running
from sessions.models import McpProgram
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role


@transaction.atomic
def accept_mcp_program(
    access: ProjectAccess, name: str, *, digest: str, ip: str | None = None
) -> McpProgram:
    """Let an MCP server run the files of the project that its command names, until one changes.

    `digest` is that of the files as the person has seen them.
    Raises: NotFound for a server that is not known or never started; NoLongerFits when they are
    others by now, or there are none; Forbidden below admin; NeedsApproval.
    """
    require_role(access.team, Role.ADMIN)
    project = access.project
    server = running(project_config(project).mcp).get(name)
    if server is None:
        raise NotFound("MCP server", name[:100])
    files = programs_in(Path(project.directory), server)
    if not files or digest_of_programs(files) != digest:
        raise NoLongerFits(_("The files have changed. Review them again."))
    hold_trust(access, sorted(files), digest=digest, server=name)
    row = McpProgram.objects.update_or_create(
        project=project,
        name=name,
        defaults={
            "digest": digest,
            "accepted_by": access.principal.user,
            "accepted_at": timezone.now(),
        },
    )[0]
    paths: list[JsonValue] = [*sorted(files)]
    record(
        AuditAction.MCP_PROGRAM_ACCEPTED,
        actor=access.principal.user,
        team=project.team,
        target=project,
        data={"server": name, "files": paths, "digest": digest},
        ip=ip,
    )
    # What it said before is that nobody had accepted it.
    forget_mcp_server(project, name, None)
    return row
