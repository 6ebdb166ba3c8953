"""Mentioned resources that have changed are read again before the next step, once for each step."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from pathlib import Path

from opencode_web.lib.db import in_db
from sessions.mcp.servers import READ_RESOURCE, resource_pattern, running
from sessions.models import Session
from sessions.rules.in_force import Setup
from sessions.runner.log.steps import McpUpdates
from sessions.runner.offers.mcp_mentions import (
    changed_resources,
    forget_update,
    keep_text,
    mentions_in,
)
from sessions.runner.offers.mcp_reach import McpTarget, call_mcp
from sessions.runner.offers.mcp_resources import read_shown
from sessions.sandboxes.build import sandbox_for
from tools.base import ToolError
from tools.mcp.client import read_resource
from tools.permissions.rules import Action, evaluate

_MAX_CHARS = 16_000
_CUT = f"\n(Cut here. {READ_RESOURCE} gives all of it.)"
_MAX_READS = 20
_MAX_KNOWN = 1_000
# How long the log of a session was when its resources were read: a server that says with each read
# that something has changed keeps no step from its beginning.
_read_at: OrderedDict[str, int] = OrderedDict()


def updates_wanted(session: Session, setup: Setup, author_id: int | None) -> McpUpdates | None:
    """What has to be read again before a turn of this person, if anything has.

    Only what they mentioned themselves: it is read in their name, and without a question.
    """
    changed = changed_resources(session.pk)
    if not changed or author_id is None or _read_at.get(session.pk) == session.seq:
        return None
    mine = {(one.server, one.uri) for one in mentions_in(session) if one.author_id == author_id}
    servers = running(setup.config.mcp)
    wanted = [
        (server, uri)
        for server, uri in sorted(changed & mine)
        if server in servers
        and evaluate("read", resource_pattern({"server": server, "uri": uri}), setup.ruleset)
        is not Action.DENY
    ]
    if not wanted:
        return None
    return McpUpdates(session, servers, tuple(wanted[:_MAX_READS]), author_id)


async def read_updates(step: McpUpdates) -> None:
    """Read all at once, and keep what came for the turn that follows."""
    session = step.session
    _read_at[session.pk] = session.seq
    while len(_read_at) > _MAX_KNOWN:
        _read_at.popitem(last=False)
    sandbox, folder = await in_db(sandbox_for, session), Path(session.worktree)
    targets = {
        name: McpTarget(session.project, name, server, folder, sandbox, step.user_id, session.pk)
        for name, server in step.servers.items()
    }
    texts = await asyncio.gather(*(_read(targets[name], uri) for name, uri in step.resources))
    for (name, uri), text in zip(step.resources, texts, strict=True):
        keep_text(session.pk, name, uri, text)


async def _read(target: McpTarget, uri: str) -> str:
    forget_update(target.session_id, target.name, uri)
    timeout_s = target.server.timeout_s
    try:
        result, redactor = await call_mcp(
            target,
            lambda place, _: read_resource(place, uri, timeout_s=timeout_s, subscribes=True),
        )
        found = await asyncio.to_thread(read_shown, result, redactor)
    except ToolError as exc:
        return f"It could not be read: {exc.message}"
    files = (f"[A file of type {one.mime} is left out]" for one in found.attachments)
    text = "\n\n".join(filter(None, [found.output, *files]))
    return text if len(text) <= _MAX_CHARS else text[:_MAX_CHARS] + _CUT
