"""Pin an npm package that an administrator wants: look it up, fetch it, and read which hooks its
texts name. Nothing of it runs."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from django.conf import settings

from opencode_web.lib.db import in_db
from sessions.actions.team_plugins import keep_pins, keep_problem
from sessions.models import TeamPlugin
from sessions.repository.packages import USER_AGENT, folder_of
from sessions.repository.plugins import REFUSED, named_in
from tools.errors import ToolError
from tools.plugins.registry import Registry, digest_of, resolve
from tools.plugins.store import fetch_packages

logger = logging.getLogger(__name__)

_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts"})
_MAX_READ_BYTES = 64 * 1024 * 1024


async def pin_package(plugin: int) -> None:
    """Pin a package unless that is done, or it was removed."""
    row = await in_db(TeamPlugin.objects.filter(pk=plugin, digest="").first)
    if row is None:
        return
    try:
        registry = Registry(settings.NPM_REGISTRY, USER_AGENT)
        pinned = await resolve(registry, row.name, row.version)
        folder = folder_of(digest_of(pinned))
        await fetch_packages(pinned, folder, user_agent=USER_AGENT)
    except ToolError as exc:
        logger.warning("plugin.not_pinned team=%s plugin=%s", row.team_id, row)
        await in_db(keep_problem, plugin, exc.message)
        return
    hooks = await asyncio.to_thread(_named, folder / "node_modules" / row.name)
    await in_db(keep_pins, plugin, pinned=pinned, hooks=hooks)


def _named(folder: Path) -> list[str]:
    """Returns: the hooks that the texts of a package name, without those of what it needs."""
    found: set[str] = set()
    left = _MAX_READ_BYTES
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.suffix not in _SUFFIXES or path.name.endswith(".d.ts"):
            continue
        if "node_modules" in inside.parts or not path.is_file() or path.stat().st_size > left:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        left -= len(text)
        found.update(named_in(text), (name for name in REFUSED if f'"{name}"' in text))
    return sorted(found)
