"""The shadow git repository of a worktree: what its files were at a moment, and what changed since.

It has a git dir of its own below the data folder; the project's own repository is never touched.
Every session has its own index, so that two sessions of a project do not wait for each other. The
repository's own configuration is not read, so its hooks, filters and drivers do not run here.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.conf import settings

from opencode_web.lib.json import JsonObject
from sessions.models import Session

logger = logging.getLogger(__name__)

TIMEOUT_S = 60
MAX_PATCH_CHARS = 200_000
_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
_CONFIG = (
    *("-c", "core.autocrlf=false"),
    *("-c", "core.quotepath=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "gc.auto=0"),
    *("-c", "feature.manyFiles=true"),
)


class SnapshotError(Exception):
    """git could not do it. A turn goes on without the snapshot."""


@dataclass(frozen=True)
class FileChange:
    """One changed file between two snapshots.

    `patch` is a unified diff, empty for a binary file.
    """

    file: str
    status: Literal["added", "modified", "deleted"]
    additions: int
    deletions: int
    patch: str

    def to_wire(self) -> JsonObject:
        """Returns: `SnapshotFileDiff`."""
        return {
            "file": self.file,
            "status": self.status,
            "additions": self.additions,
            "deletions": self.deletions,
            "patch": self.patch,
        }


class Snapshots:
    """Snapshots for one session's worktree."""

    def __init__(self, session: Session) -> None:
        self._worktree = Path(session.project.directory)
        self._git_dir = settings.DATA_DIR / "snapshots" / session.project_id
        self._index = self._git_dir / f"index-{session.pk}"

    async def track(self) -> str:
        """Record the worktree as it is, without what its .gitignore leaves out.

        Returns: the tree's hash. Raises: SnapshotError.
        """
        if not (self._git_dir / "HEAD").exists():
            await asyncio.to_thread(self._git_dir.mkdir, parents=True, exist_ok=True)
            await self._run("init", "--quiet", "--bare", str(self._git_dir))
        await self._git("add", "--all", ".")
        return (await self._git("write-tree")).strip()

    async def changes(self, before: str, after: str) -> list[FileChange]:
        """Returns: the files that differ, by name. Raises: SnapshotError."""
        if before == after:
            return []
        flags = ("--no-renames", "--no-ext-diff", "--no-textconv")
        stat = await self._git("diff", *flags, "--numstat", "-z", before, after)
        names = await self._git("diff", *flags, "--name-status", "-z", before, after)
        patch = await self._git("diff", *flags, "--no-color", before, after)
        return _read_changes(stat, names, patch)

    async def _git(self, *arguments: str) -> str:
        place = ("--git-dir", str(self._git_dir), "--work-tree", str(self._worktree))
        return await self._run(*place, *arguments)

    async def _run(self, *arguments: str) -> str:
        env = {**_ENV, "GIT_INDEX_FILE": str(self._index), "HOME": str(self._git_dir)}
        process = await asyncio.create_subprocess_exec(
            "git",
            *_CONFIG,
            *arguments,
            cwd=self._worktree,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), TIMEOUT_S)
        except BaseException as exc:
            if process.returncode is None:
                process.kill()
                await process.wait()
            if isinstance(exc, TimeoutError):
                raise SnapshotError(f"git took over {TIMEOUT_S} s") from exc
            raise
        if process.returncode:
            raise SnapshotError(err.decode(errors="replace").strip()[:500])
        return out.decode(errors="replace")


_STATUS: dict[str, Literal["added", "modified", "deleted"]] = {"A": "added", "D": "deleted"}


def _read_changes(stat: str, names: str, patch: str) -> list[FileChange]:
    fields = names.split("\0")
    status = {
        name: _STATUS.get(letter, "modified")
        for letter, name in zip(fields[::2], fields[1::2], strict=False)
    }
    # One chunk for each file, in the order of the names.
    chunks = [chunk for chunk in re.split(r"(?m)^(?=diff --git )", patch) if chunk]
    changes = []
    for line, chunk in zip((row for row in stat.split("\0") if row), chunks, strict=False):
        added, deleted, file = line.split("\t", 2)
        binary = added == "-"
        changes.append(
            FileChange(
                file=file,
                status=status.get(file, "modified"),
                additions=0 if binary else int(added),
                deletions=0 if binary else int(deleted),
                patch="" if binary else chunk[:MAX_PATCH_CHARS],
            )
        )
    return changes
