"""Signing in to an MCP server at an address, from the first request to the grant."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from django.urls import reverse
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.outside import asking
from opencode_web.lib.public_url import site_origin
from sessions.access import ProjectAccess
from sessions.actions.mcp_sign_ins import (
    begin_attempt,
    erase_removed_grants,
    keep_grant,
    role_for,
    take_own_attempt,
)
from sessions.config.effective import project_config
from sessions.config.programs import McpConfig
from sessions.mcp.grants import grant_of, signed_in
from sessions.mcp.places import address_of, client_of, redactor_of
from sessions.mcp.servers import running
from sessions.models import McpSignIn, McpSignInAttempt, Project
from sessions.secrets import project_redactor
from teams.access import require_role
from tools.errors import ToolError
from tools.mcp.client import challenge_of
from tools.mcp.remote import oauth
from tools.mcp.sign_in import Attempt, Begun, Client, Grant, Wish

# Of everything that is asked before the browser can go there.
_TIMEOUT_S = 40.0
T = TypeVar("T")


def begin_sign_in(access: ProjectAccess, name: str, *, own: bool = False) -> Begun:
    """Find out where a server is signed in to, and begin: for the team, or for one's own.

    Raises: Forbidden, see `role_for`; NotFound for the server; Invalid where it cannot be begun;
    TooManyRequests.
    """
    require_role(access.team, role_for(own=own))
    server = _server(access.project, name, own=own)
    secrets = project_redactor(access.project.pk).secrets
    known = _known_client(access, name, server)
    try:
        with asking(access.team.user.pk):
            begun = _run(_begin(server, secrets, known))
    except ToolError as exc:
        raise Invalid(redactor_of(server, secrets).text(exc.message)) from exc
    begin_attempt(access, name=name, url=server.url, begun=begun, own=own)
    return begun


def complete_sign_in(
    access: ProjectAccess,
    attempt: McpSignInAttempt,
    *,
    code: str,
    issuer: str | None,
    ip: str | None = None,
) -> None:
    """Keep what came of an attempt that has been taken.

    `issuer` is what the browser was told of where the code is from.
    Raises: NotFound, Invalid; Forbidden for who has lost the role; TooManyRequests.
    """
    server = _server(access.project, attempt.name, own=attempt.is_own)
    if server.url != attempt.url:
        raise Invalid(_("The address of the server has changed. Sign in again."))
    if not code:
        raise Invalid(_("Access was not granted."))
    secrets = project_redactor(access.project.pk).secrets
    try:
        with asking(access.team.user.pk):
            grant = _run(_finish(server, secrets, _opened(attempt), code, issuer))
    except ToolError as exc:
        raise Invalid(redactor_of(server, secrets).text(exc.message)) from exc
    own = attempt.is_own
    row = keep_grant(access, name=attempt.name, url=attempt.url, grant=grant, own=own, ip=ip)
    # Somebody may have changed the settings while the server was asked.
    erase_removed_grants(access.team.team)
    if not McpSignIn.objects.live().filter(pk=row.pk).exists():
        raise Invalid(_("The settings of the server have changed. Sign in again."))


def finish_own_sign_in(
    access: ProjectAccess, *, name: str, code: str, ip: str | None = None
) -> None:
    """Like `complete_sign_in`, for a client that has only the code.

    Raises: Forbidden, see `role_for`; NotFound; Invalid.
    """
    attempt = take_own_attempt(access, name=name)
    require_role(access.team, role_for(own=attempt.is_own))
    # Who gives a code by hand has seen where it is from.
    issuer = _opened(attempt).client.issuer
    complete_sign_in(access, attempt, code=code, issuer=issuer, ip=ip)


async def _begin(server: McpConfig, secrets: dict[str, str], known: Client | None) -> Begun:
    challenge = await challenge_of(address_of(server, secrets), timeout_s=server.timeout_s)
    client_id, client_secret = client_of(server, secrets)
    wish = Wish(
        url=server.url,
        challenge=challenge or "",
        redirect_uri=site_origin() + reverse("mcp_callback"),
        client_id=client_id,
        client_secret=client_secret,
        scope=server.oauth.scope if server.oauth else "",
        known=known,
    )
    begun: Begun = await (await oauth()).begin(wish)
    return begun


async def _finish(
    server: McpConfig, secrets: dict[str, str], attempt: Attempt, code: str, issuer: str | None
) -> Grant:
    """Raises: ToolError, also where the server does not take what was granted for it."""
    grant: Grant = await (await oauth()).finish(attempt, code, issuer)
    address = address_of(server, secrets, bearer=grant.access_token)
    try:
        challenge = await challenge_of(address, timeout_s=server.timeout_s)
    except ToolError as exc:
        redactor = redactor_of(server, secrets, bearer=grant.access_token)
        raise ToolError(redactor.text(exc.message)) from exc
    if challenge is not None:
        raise ToolError("The server rejected the access it was granted.")
    return grant


def _server(project: Project, name: str, *, own: bool) -> McpConfig:
    server = running(project_config(project).mcp).get(name)
    if server is None:
        raise NotFound("MCP server", name[:100])
    if not server.signs_in:
        raise Invalid(
            _(
                "This server does not use a sign-in. Its settings contain credentials or turn the "
                "sign-in off."
            )
        )
    if own and not server.takes_own:
        raise Invalid(_("Only an admin can sign in to this server, for the whole team."))
    if not own and not server.takes_team:
        raise Invalid(_("Everyone signs in to this server with their own account."))
    return server


def _known_client(access: ProjectAccess, name: str, server: McpConfig) -> Client | None:
    row = signed_in(access.project, name, server, access.principal.user.pk)
    try:
        return grant_of(row).client if row else None
    except DecryptionError:
        return None  # it is replaced by what comes of this sign-in


def _opened(attempt: McpSignInAttempt) -> Attempt:
    try:
        return Attempt.model_validate_json(decrypt(attempt.sealed))
    except DecryptionError as exc:
        raise Invalid(_("This server's key has changed. Sign in again.")) from exc


def _run(work: Coroutine[Any, Any, T]) -> T:  # Any: of no use to anybody
    async def bounded() -> T:
        async with asyncio.timeout(_TIMEOUT_S):
            return await work

    try:
        return asyncio.run(bounded())
    except TimeoutError as exc:
        raise ToolError(f"The server took longer than {_TIMEOUT_S:g} s.") from exc
