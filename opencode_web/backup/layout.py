"""Which files of an installation belong into a backup, and which of them may be links."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from opencode_web.lib.removals import LOCK_NAME, SCRATCH_PREFIX
from opencode_web.preflight import RESTORING

DATA, WORKTREES = "data", "worktrees"
# Never copied, and never replaced by a restore: the key, which a backup must not give away; locks;
# what is made again (terminals end with the server).
_OWN = frozenset({"secret_key", "setup_key", "lock", LOCK_NAME, RESTORING})
_OWN_PREFIXES = ("secret_key.", SCRATCH_PREFIX)
_REMADE = frozenset({"static", "terminals", "code", "exports"})
# Where agents and people put links. Elsewhere in the data folder nothing of ours is one.
_WITH_LINKS = ("sessions/", "checkouts/", "rescued/")


@dataclass(frozen=True)
class Root:
    """A folder that is archived under a name."""

    name: str
    path: Path

    def is_kept(self, entry: str) -> bool:
        """Whether an entry directly below belongs to this host alone."""
        if self.name != DATA:
            return entry.startswith(SCRATCH_PREFIX)
        if entry in _OWN | _REMADE or entry.startswith(_OWN_PREFIXES):
            return True
        database = sqlite_file()
        if database is None or database.parent != self.path:
            return False
        return entry.startswith(database.name)

    def allows_link(self, path: str) -> bool:
        """Whether a link at this path, from the root, is to be expected."""
        return self.name == WORKTREES or path.startswith(_WITH_LINKS)


def roots() -> list[Root]:
    """Returns: those of this host. Links in their paths are resolved, as rows name them so."""
    return [
        Root(DATA, Path(os.path.realpath(settings.DATA_DIR))),
        Root(WORKTREES, Path(os.path.realpath(settings.WORKTREES_DIR))),
    ]


def sqlite_file() -> Path | None:
    """Returns: where the database is, None for one that is not a file."""
    if connection.vendor != "sqlite":
        return None
    return Path(os.path.realpath(connection.settings_dict["NAME"]))


def identities(paths: list[Path]) -> frozenset[tuple[int, int]]:
    """Returns: what tells each of the folders that exist from every other, whatever its name."""
    stats = [path.stat() for path in paths if path.exists()]
    return frozenset((stat.st_dev, stat.st_ino) for stat in stats)
