"""What a team was granted at MCP servers, as it is read."""

from __future__ import annotations

import hashlib

from opencode_web.lib.crypto import decrypt
from sessions.config.programs import McpConfig
from sessions.models import McpSignIn, Project
from tools.mcp.sign_in import Grant


def signed_in(project: Project, name: str, server: McpConfig) -> McpSignIn | None:
    """Returns: what was granted to the team of a project for this server at this address."""
    if not server.signs_in:
        return None
    rows = McpSignIn.objects.filter(team=project.team_id, name=name)
    return rows.filter(url_digest=digest_of_url(server.url)).first()


def granted_by(project: Project, servers: dict[str, McpConfig]) -> set[str]:
    """Returns: the names of those that are signed in to. One query at most."""
    wanted = {name: digest_of_url(one.url) for name, one in servers.items() if one.signs_in}
    if not wanted:
        return set()
    rows = McpSignIn.objects.filter(team=project.team_id, name__in=wanted)
    found = rows.values_list("name", "url_digest")
    return {name for name, digest in found if wanted[name] == digest}


def digest_of_url(url: str) -> str:
    """Returns: what rows of this address are found by."""
    return hashlib.sha256(url.encode()).hexdigest()


def grant_of(row: McpSignIn) -> Grant:
    """Raises: DecryptionError."""
    return Grant.model_validate_json(decrypt(row.sealed))
