"""The MCP servers that this process keeps for sessions, and when they end.

A turn that ends or waits leaves them for the next one. They end without use, with what they are
for, and with the process; a session whose next turn runs in another process has new ones there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable
from contextvars import Context
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import DatabaseError

from opencode_web.lib.crypto import DecryptionError
from opencode_web.lib.db import in_db
from sessions.config.effective import project_config
from sessions.config.programs import McpConfig
from sessions.mcp.grants import grant_of, signed_in
from sessions.mcp.places import place_of
from sessions.mcp.servers import digest_of, running
from sessions.models import Checkout, Session
from sessions.runner.offers.mcp_mentions import note_update, resources_to_follow
from sessions.sandboxes.build import sandbox_for
from tools.errors import ToolError
from tools.mcp.exchange import Server
from tools.mcp.pool import Kept, Key, Pool
from tools.mcp.remote import Address
from tools.mcp.stdio import Program
from tools.redaction import NO_SECRETS
from tools.sandbox.base import Sandbox
from tools.sandbox.bubblewrap import BubblewrapSandbox

logger = logging.getLogger(__name__)

# How often it is looked whether those that are kept may still be there, when nobody says so.
WATCH_S = 30.0
# A server that was listed is not listed again before, unless one of its tools has run.
_LISTED_S = 10.0
_MAX_LISTED = 1_000
_DROP = Checkout.Job.DROP


@dataclass(frozen=True)
class Identity:
    """What a server is, and with whose rights it acts. Nothing of it says a secret.

    `given` is the digest of what it is sent or finds in its environment, `programs` that of the
    files of the worktree that it was started from.
    """

    settings: str
    user_id: int | None
    given: str = field(repr=False)
    sandbox: Sandbox | None
    programs: str


@runtime_checkable
class OwnIdentity(Protocol):
    """Of what is kept beside MCP servers, and knows itself whether it may still be there."""

    def holds(self, session: Session) -> bool:
        """Asks the database."""


@dataclass
class _Keeping:
    pool: Pool
    watch: asyncio.Task[None] | None = None
    # Somebody has said that something has changed.
    stirred: asyncio.Event = field(default_factory=asyncio.Event)


# Session and name of servers that have others than they were known by; and of those that will be
# noted a little later.
_others: set[tuple[str, str]] = set()
_waiting: set[tuple[str, str]] = set()
# Since when what they say of changes is old.
_listed_at: OrderedDict[tuple[str, str], float] = OrderedDict()
# A process has one loop that drains; each test has one of its own.
_keeping: WeakKeyDictionary[asyncio.AbstractEventLoop, _Keeping] = WeakKeyDictionary()


def identity_of(server: McpConfig, place: Server, programs: str, user_id: int | None) -> Hashable:
    """Returns: what differs for servers that may not be taken for one another.

    Without sign-ins of people it is the same whoever prompts.
    """
    given, sandbox = {}, None
    if isinstance(place, Program):
        given, sandbox = dict(place.command.env), place.sandbox
    elif isinstance(place, Address):
        given = dict(place.headers)
    if isinstance(sandbox, BubblewrapSandbox):
        # It is started without those that it is not given.
        sandbox = replace(sandbox, redactor=NO_SECRETS)
    digest = hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
    own = user_id if server.takes_own else None
    return Identity(digest_of(server), own, digest, sandbox, programs)


def keep(key: Key, place: Server, *, start_s: float) -> Server:
    """Returns: the server of this key, which is started when it is first reached."""
    loop = asyncio.get_running_loop()
    keeping = _keeping.get(loop)
    if keeping is None:
        pool = Pool(settings.MCP_SERVERS, idle_s=settings.MCP_IDLE_S)
        pool.on_change, pool.on_update = _changed, note_update
        pool.mentioned = resources_to_follow
        keeping = _keeping[loop] = _Keeping(pool)
    if keeping.watch is None or keeping.watch.done():
        # It is about no session, so it has nothing of the call that begins it.
        keeping.watch = loop.create_task(_watch(keeping), name="mcp servers", context=Context())
    return Kept(keeping.pool, key, place, start_s)


def other_now(session_id: str) -> set[str]:
    """Returns: the servers of a session that have said since they were listed that their tools,
    prompts or resources are others. From any thread."""
    return {name for of_session, name in set(_others) if of_session == session_id}


def listed(session_id: str, names: Iterable[str]) -> None:
    """They are being asked what they have, or just were."""
    for name in names:
        _others.discard((session_id, name))
        _listed_at[session_id, name] = time.monotonic()
    while len(_listed_at) > _MAX_LISTED:
        _listed_at.popitem(last=False)


def _changed(key: Key, in_call: bool) -> None:
    """One that says so all the time is not listed again and again: only a call is reason enough."""
    which = key.session_id, key.name
    wait_s = _listed_at.get(which, -_LISTED_S) + _LISTED_S - time.monotonic()
    if in_call or wait_s <= 0:
        _note(which)
    elif which not in _waiting:
        _waiting.add(which)
        asyncio.get_running_loop().call_later(wait_s, _note_later, which)


def _note_later(which: tuple[str, str]) -> None:
    _waiting.discard(which)
    _note(which)


def _note(which: tuple[str, str]) -> None:
    if len(_others) < _MAX_LISTED:
        _others.add(which)


def give_up_waiting_calls(session_id: str) -> None:
    """Somebody has stopped the session, so its servers wait for no person any more."""
    if (keeping := _keeping.get(asyncio.get_running_loop())) is not None:
        keeping.pool.give_up_waiting(session_id)


async def end_session_servers(session_id: str) -> None:
    """End the servers that are kept for a session, with everything that they have started."""
    if (keeping := _keeping.get(asyncio.get_running_loop())) is not None:
        await keeping.pool.end_session(session_id)


async def end_server(key: Key) -> None:
    """End one server, also when it is at work."""
    if (keeping := _keeping.get(asyncio.get_running_loop())) is not None:
        await keeping.pool.end([key])


async def end_kept_servers() -> None:
    """End every server that this process keeps."""
    if (keeping := _keeping.get(asyncio.get_running_loop())) is not None:
        await keeping.pool.close()


def look_after_servers() -> None:
    """Look now whether those that are kept may still be there. From any loop of the process."""
    for loop, keeping in list(_keeping.items()):
        if not loop.is_closed():
            loop.call_soon_threadsafe(keeping.stirred.set)


async def _watch(keeping: _Keeping) -> None:
    """End those that nobody may use any more, as long as any are kept."""
    while True:
        try:
            async with asyncio.timeout(WATCH_S):
                await keeping.stirred.wait()
        except TimeoutError:
            pass
        keeping.stirred.clear()
        keys = keeping.pool.kept_keys()
        if not keys:
            return
        try:
            lost = await in_db(unwanted, keys)
        except DatabaseError as exc:
            logger.warning("mcp.not_looked_after", exc_info=exc)
            continue
        await keeping.pool.end(lost)


def unwanted(keys: Collection[Key]) -> list[Key]:
    """Returns: those whose session is gone or at rest for good, whose folder is, or that would not
    be what they are if they were started now."""
    rows = Session.objects.select_related("project__team").in_bulk({key.session_id for key in keys})
    return [key for key in keys if not _is_wanted(key, rows.get(key.session_id))]


def _is_wanted(key: Key, session: Session | None) -> bool:
    if session is None or session.archived_at is not None:
        return False
    if session.folder and Checkout.objects.filter(folder=session.folder, job=_DROP).exists():
        return False
    if isinstance(key.identity, OwnIdentity):
        return Path(session.worktree).is_dir() and key.identity.holds(session)
    server = running(project_config(session.project).mcp).get(key.name)
    if server is None or not Path(session.worktree).is_dir():
        return False
    kept = key.identity
    assert isinstance(kept, Identity)
    try:
        row = signed_in(session.project, key.name, server, kept.user_id)
        bearer = grant_of(row).access_token if row else ""
        place = place_of(server, Path(session.worktree), sandbox_for(session), bearer=bearer)
    except (ToolError, DecryptionError):
        return False
    # Files of the worktree are looked at before each use.
    return identity_of(server, place, kept.programs, kept.user_id) == kept
