"""Reach an MCP server, with the secrets that it is given and the grant that it has issued.

A grant is renewed before it ends and when the server no longer accepts it. Only one caller renews
it at a time; the others wait. A revoked grant is deleted.
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
from sessions.actions.mcp_sign_ins import claim_renewal, keep_renewal, refuse_grant
from sessions.config.programs import McpConfig
from sessions.mcp.grants import grant_of, sign_in_url, signed_in
from sessions.mcp.places import place_of, redactor_of
from sessions.mcp.programs import accepted_programs, digest_of_programs, programs_in, unaccepted
from sessions.models import McpSignIn, Project
from sessions.runner.offers.mcp_kept import identity_of, keep
from tools.base import ToolError
from tools.mcp.exchange import Server, SignInNeeded
from tools.mcp.pool import Key
from tools.mcp.remote import oauth
from tools.mcp.sign_in import Grant, Revoked
from tools.redaction import Redactor
from tools.sandbox.base import Sandbox

logger = logging.getLogger(__name__)

# A grant that ends sooner is renewed before it is used.
_SPARE_S = 60
# How long to wait for another caller to renew it.
_WAIT_S = 20
_LOOK_S = 0.2
_WANTS_ADMIN = "An admin of the team has to sign in to it, on the project's page of MCP servers"
_WANTS_OWN = (
    "It is used with the account of whoever prompts, who has not signed in to it yet, or has to do "
    "it again. They can do that on the project's page of MCP servers"
)
REFUSES_HEADERS = "The server rejected the credentials: check its headers in the settings."
T = TypeVar("T")
Use = Callable[[Server, Redactor], Awaitable[T]]


@dataclass(frozen=True)
class McpTarget:
    """The server to reach: for a project, from a folder with its sandbox.

    It acts for the person whose prompt the turn is about. It is kept for the session of this id;
    without one it ends with the call.
    """

    project: Project
    name: str
    server: McpConfig
    folder: Path
    sandbox: Sandbox
    user_id: int | None
    session_id: str = ""

    @property
    def wants_sign_in(self) -> str:
        """What is said where nobody has signed in, as a sentence with the address."""
        wanted = _WANTS_OWN if self.server.takes_own else _WANTS_ADMIN
        return f"{wanted}: {sign_in_url(self.project)}"


async def with_mcp_session(target: McpTarget, use: Use[T]) -> tuple[T, Redactor]:
    """Call `use` with a server, and once more when the server wanted a new grant first.

    It gets a redactor of all secrets that the server may repeat. Returns: its result, and that.
    Raises: ToolError without those secrets; SignInNeeded when somebody has to sign in.
    """
    bearer = await _bearer(target)
    try:
        return await _use(target, bearer, use)
    except SignInNeeded:
        renewed = await _bearer(target, spent=bearer) if bearer else ""
        if not renewed:
            raise
        return await _use(target, renewed, use)


async def call_mcp(target: McpTarget, use: Use[T]) -> tuple[T, Redactor]:
    """`with_mcp_session` for a call by an agent.

    Raises: ToolError, also when somebody has to sign in.
    """
    try:
        return await with_mcp_session(target, use)
    except SignInNeeded as exc:
        # The next turn asks it what it has, and finds out what is to be done.
        await in_db(forget_mcp_server, target.project, target.name, target.user_id)
        wanted = target.wants_sign_in if target.server.signs_in else REFUSES_HEADERS
        raise ToolError(wanted) from exc


async def _use(target: McpTarget, bearer: str, use: Use[T]) -> tuple[T, Redactor]:
    known = target.sandbox.redactor
    redactor = redactor_of(target.server, known.secrets, bearer=bearer, keys=known.keys)
    programs = await require_accepted(target)
    try:
        place = place_of(target.server, target.folder, target.sandbox, bearer=bearer)
        return await use(_kept(target, place, programs), redactor), redactor
    except SignInNeeded:
        raise
    except ToolError as exc:
        raise ToolError(redactor.text(exc.message)) from exc


def _kept(target: McpTarget, place: Server, programs: str) -> Server:
    if not target.session_id:
        return place
    identity = identity_of(target.server, place, programs, target.user_id)
    key = Key(target.session_id, target.name, identity)
    return keep(key, place, start_s=target.server.timeout_s)


async def require_accepted(target: McpTarget) -> str:
    """Returns: the digest of the files of the worktree that it runs; nothing when there are none.

    Raises: ToolError where nobody has accepted them as they are.
    """
    files = await asyncio.to_thread(programs_in, target.folder, target.server)
    accepted = await in_db(accepted_programs, target.project.pk) if files else {}
    if reason := unaccepted(files, accepted.get(target.name)):
        raise ToolError(reason)
    return digest_of_programs(files)


async def _bearer(target: McpTarget, *, spent: str = "") -> str:
    """Returns: what was granted, renewed where it has to be; nothing where nothing counts.

    `spent` is what the server does not take.
    """
    deadline = time.monotonic() + _WAIT_S
    of = target.project, target.name, target.server, target.user_id
    while (row := await in_db(signed_in, *of)) is not None:
        grant = _read(row)
        if grant.access_token != spent and not _is_ending(grant):
            return grant.access_token
        if await in_db(claim_renewal, row):
            # Seen through although the turn is stopped: what is renewed cannot be renewed twice.
            if token := await asyncio.shield(asyncio.create_task(_renew(row, grant))):
                return token
            continue
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
    """Returns: nothing where it counts no more."""
    renewed: Grant | None = None
    may_use = False
    try:
        renewed = await (await oauth()).renew(grant)
    except Revoked as exc:
        logger.info("mcp sign-in %s counts no more: %s", row.pk, exc)
        await in_db(refuse_grant, row)
        return ""
    finally:
        may_use = await in_db(keep_renewal, row, renewed)
    return renewed.access_token if renewed and may_use else ""
