"""The files of npm packages of teams and of the server on this host."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from opencode_web.lib.db import in_db
from sessions.models import TeamPlugin
from sessions.repository.brought import Package
from tools.errors import ToolError
from tools.plugins.registry import Pinned
from tools.plugins.store import fetch_packages

USER_AGENT = f"opencode-web/{settings.VERSION}"


def folder_of(digest: str) -> Path:
    """Returns: where the packages with a digest lie, on a host that has them."""
    return packages_root() / digest


def packages_root() -> Path:
    """Returns: the folder of all of them."""
    return Path(settings.DATA_DIR) / "packages"


async def have_packages(team_id: str, packages: Iterable[Package]) -> None:
    """Fetch what is not here yet, such as after a move to another host; it is what was pinned.

    Raises: ToolError.
    """
    for package in packages:
        if not folder_of(package.digest).is_dir():
            pinned = await in_db(_pinned, team_id, package.digest)
            await fetch_packages(pinned, folder_of(package.digest), user_agent=USER_AGENT)


def _pinned(team_id: str, digest: str) -> list[Pinned]:
    rows = TeamPlugin.objects.filter(Q(team=team_id) | Q(team=None), digest=digest)
    row = rows.first()
    if row is None:
        raise ToolError("The package was removed.")
    return [Pinned(**one) for one in row.packages]
