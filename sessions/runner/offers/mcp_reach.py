"""Being with an MCP server: with the secrets that it is given, and what it has granted.

A grant is renewed before it ends, and when the server does not take it any more; one renews it at
a time, whoever else needs it waits. One that counts no more is erased.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from opencode_web.lib.crypto import DecryptionError
from opencode_web.lib.db import in_db
from sessions.actions.mcp_servers import forget_mcp_server
from sessions.actions.mcp_sign_ins import claim_renewal, drop_grant, keep_renewal
from sessions.config.programs import McpConfig
from sessions.mcp.grants import grant_of, signed_in
from sessions.mcp.places import place_of, redactor_of
from sessions.mcp.programs import accepted_programs, programs_in, unaccepted
from sessions.models import McpSignIn, Project
from tools.base import ToolError
from tools.mcp.exchange import Server, SignInNeeded
from tools.mcp.remote import oauth
from tools.mcp.sign_in import Grant, Revoked
from tools.redaction import Redactor
from tools.sandbox.base import Sandbox

logger = logging.getLogger(__name__)

# A grant that ends sooner is renewed before it is used.
_SPARE_S = 60
# Somebody else renews meanwhile.
_WAIT_S = 20
_LOOK_S = 0.2
WANTS_SIGN_IN = "An admin of the team has to sign in to it, on the project's page of MCP servers."
REFUSES_HEADERS = "It does not take who asks: look at its headers in the settings."
T = TypeVar("T")


@dataclass(frozen=True)
class Visit:
    """Who goes to which server: in a project, from a folder with its sandbox."""

    project: Project
    name: str
    server: McpConfig
    folder: Path
    sandbox: Sandbox


async def at_server(visit: Visit, use: Callable[[Server], Awaitable[T]]) -> tuple[T, Redactor]:
    """Do something with a server. It is done again where the server wanted a new grant first.

    Returns: what came of it, and what knows all secrets that the server may say.
    Raises: ToolError without them; SignInNeeded where somebody has to sign in.
    """
    bearer = await _bearer(visit)
    try:
        return await _use(visit, bearer, use)
    except SignInNeeded:
        renewed = await _bearer(visit, spent=bearer) if bearer else ""
        if not renewed:
            raise
        return await _use(visit, renewed, use)


async def ask_server(visit: Visit, use: Callable[[Server], Awaitable[T]]) -> tuple[T, Redactor]:
    """`at_server` for a call of an agent. Raises: ToolError, also where somebody has to sign in."""
    try:
        return await at_server(visit, use)
    except SignInNeeded as exc:
        # The next turn asks it what it has, and finds out what is to be done.
        await in_db(forget_mcp_server, visit.project, visit.name)
        raise ToolError(WANTS_SIGN_IN if visit.server.signs_in else REFUSES_HEADERS) from exc


async def _use(
    visit: Visit, bearer: str, use: Callable[[Server], Awaitable[T]]
) -> tuple[T, Redactor]:
    redactor = redactor_of(visit.server, visit.sandbox.redactor.secrets, bearer=bearer)
    await require_accepted(visit)
    try:
        place = place_of(visit.server, visit.folder, visit.sandbox, bearer=bearer)
        return await use(place), redactor
    except SignInNeeded:
        raise
    except ToolError as exc:
        raise ToolError(redactor.text(exc.message)) from exc


async def require_accepted(visit: Visit) -> None:
    """Raises: ToolError where it runs files of the worktree that nobody accepted as they are."""
    files = await asyncio.to_thread(programs_in, visit.folder, visit.server)
    accepted = await in_db(accepted_programs, visit.project.pk) if files else {}
    if reason := unaccepted(files, accepted.get(visit.name)):
        raise ToolError(reason)


async def _bearer(visit: Visit, *, spent: str = "") -> str:
    """Returns: what was granted, renewed where it has to be; nothing where nothing counts.

    `spent` is what the server does not take.
    """
    deadline = time.monotonic() + _WAIT_S
    while (row := await in_db(signed_in, visit.project, visit.name, visit.server)) is not None:
        grant = _read(row)
        if grant.access_token != spent and not _is_ending(grant):
            return grant.access_token
        if await in_db(claim_renewal, row):
            # Seen through although the turn is stopped: what is renewed cannot be renewed twice.
            return await asyncio.shield(asyncio.create_task(_renew(row, grant)))
        if time.monotonic() > deadline:
            raise ToolError("Its sign-in is being renewed for too long. Try again later.")
        await asyncio.sleep(_LOOK_S)
    return ""


def _read(row: McpSignIn) -> Grant:
    try:
        return grant_of(row)
    except DecryptionError as exc:
        raise ToolError("What it granted cannot be read any more: sign out and in again.") from exc


def _is_ending(grant: Grant) -> bool:
    # Without anything to renew it by, it is used to its end.
    if not grant.refresh_token or grant.expires_at is None:
        return False
    return grant.expires_at < time.time() + _SPARE_S


async def _renew(row: McpSignIn, grant: Grant) -> str:
    renewed: Grant | None = None
    try:
        renewed = await (await oauth()).renew(grant)
        assert renewed is not None
        return renewed.access_token
    except Revoked as exc:
        logger.info("mcp sign-in %s counts no more: %s", row.pk, exc)
        await in_db(drop_grant, row)
        return ""
    finally:
        await in_db(keep_renewal, row, renewed)
