"""The language servers of the sessions that this process drains."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.text import clean_text
from sessions.events.live import publish_servers
from sessions.models import LanguageServer, Session
from tools.lsp.pool import Pool, ServerState, Status
from tools.lsp.spec import ServerSpec
from tools.lsp.workspace import Workspace
from tools.sandbox.base import Sandbox

logger = logging.getLogger(__name__)

# A process has one loop that drains; each test has one of its own.
_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, Pool] = WeakKeyDictionary()
_MAX_CHARS = 400


def workspace_of(
    session: Session, sandbox: Sandbox, specs: Sequence[ServerSpec]
) -> Workspace | None:
    """Returns: the servers of a session for its tools; None where there are none."""
    if not specs or not settings.LANGUAGE_SERVERS:
        return None
    pool = _pool()

    async def on_state(state: ServerState) -> None:
        try:
            there = await in_db(note_server, session.pk, state)
        except DatabaseError as exc:
            # The servers go on without it; what is shown of them is refreshed now and then.
            logger.warning("lsp.not_noted session=%s", session.pk, exc_info=exc)
            return
        if not there and state.status is not Status.GONE:
            pool.spawn(end_servers(session.pk))

    return Workspace.of(pool, sandbox, specs, on_state)


def workspace_for(sandbox: Sandbox, specs: Sequence[ServerSpec]) -> Workspace | None:
    """Returns: servers for a folder that is no session's, of which nobody is told."""

    async def on_state(state: ServerState) -> None:
        logger.debug("lsp.state server=%s status=%s", state.id, state.status)

    return Workspace.of(_pool(), sandbox, specs, on_state)


def _pool() -> Pool:
    return _pools.setdefault(asyncio.get_running_loop(), Pool(settings.LANGUAGE_SERVERS))


async def end_servers(session_id: str) -> None:
    """End the servers of a session, with everything that they have started."""
    pool = _pools.get(asyncio.get_running_loop())
    if pool is not None:
        folder = os.path.realpath(settings.DATA_DIR / "sessions" / session_id)
        await pool.close_session(Path(folder))


async def end_all_servers() -> None:
    """End every server of this process."""
    pool = _pools.get(asyncio.get_running_loop())
    if pool is not None:
        await pool.close()


@transaction.atomic
def note_server(session_id: str, state: ServerState) -> bool:
    """Write down what became of a language server of a session, and tell the clients.

    Nothing of it is in the log: it is about a process and not about the conversation.

    Returns: whether the session is still there.
    """
    session = Session.objects.select_related("project__team").filter(pk=session_id).first()
    if session is None:
        return False
    rows = LanguageServer.objects.filter(session=session)
    key = {"name": state.id[:80], "root": _below(session, state.root)}
    before = rows.filter(**key).values_list("status", flat=True).first()
    if state.status is Status.GONE:
        rows.filter(**key).delete()
    else:
        rows.update_or_create(
            session=session,
            name=key["name"],
            root=key["root"],
            defaults={
                "status": state.status.value,
                "reason": clean_text(state.reason)[:_MAX_CHARS],
                "seen_at": timezone.now(),
            },
        )
    if before != state.status.value:
        transaction.on_commit(lambda: publish_servers(session))
    return True


def _below(session: Session, root: Path) -> str:
    folder = Path(session.worktree).resolve()
    below = root.relative_to(folder).as_posix() if root.is_relative_to(folder) else str(root)
    return "" if below == "." else clean_text(below)[:_MAX_CHARS]
