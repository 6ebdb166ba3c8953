"""Trust in files that bring agents, tools and programs, as a change that a second person approves.

What they may do is otherwise decided by the permission rules that the same person approves.
"""

from __future__ import annotations

from collections.abc import Iterable

from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.approvals.hold import Change, hold_for_approval
from sessions.models import ChangeKind
from teams.models import Role


def hold_trust(
    access: ProjectAccess, files: Iterable[str], *, digest: str, server: str = ""
) -> None:
    """Hold the trust in files of a project; `server`: an MCP server that is to run them.

    Raises: NeedsApproval.
    """
    arguments: JsonObject = {"digest": digest}
    if server:
        arguments["name"] = server
    change = Change(
        kind=ChangeKind.RULES,
        what="trust.program" if server else "trust.repository",
        need=Role.ADMIN,
        arguments=arguments,
        told={"name": server, "files": [*files]},
        # The change itself compares the digest. Who asks for other files withdraws what they asked.
        state={"project": access.project.pk, "name": server},
        project=access.project,
    )
    hold_for_approval(access.team, change)
