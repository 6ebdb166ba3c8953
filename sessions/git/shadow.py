"""git over a worktree with a git dir of ours: see `sessions.git.box` for what it may touch."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from sessions.git.box import Box, Given, Output, git_environment

TIMEOUT_S = 60
_CONFIG = {
    "core.autocrlf": "false",
    "diff.ignoreSubmodules": "all",
    "index.version": "4",
}
# Over whatever the worktree's .gitattributes say: bytes are kept as they are.
ATTRIBUTES = "* !diff !filter -text !eol !crlf -ident !working-tree-encoding\n"


@dataclass(frozen=True)
class ShadowGit:
    """git for one worktree, with the git dir and the index file it is to use."""

    worktree: Path
    git_dir: Path
    index: Path

    def with_index(self, index: Path) -> ShadowGit:
        """The same repository and worktree with another index file."""
        return replace(self, index=index)

    async def run(self, *arguments: str, given: Given = b"", limit_bytes: int) -> Output:
        """Run `git` once, with `given` as its input; the worktree is only read.

        Returns: at most `limit_bytes` of its output; git is ended when there is more.
        Raises: BoxedGitError; BoxedGitOff.
        """
        return await self._box.run(
            *self._place(arguments[0]),
            *arguments,
            **self._terms,
            given=given,
            limit_bytes=limit_bytes,
        )

    def fields(self, *arguments: str, given: Given = b"") -> AsyncGenerator[list[bytes]]:
        """As `Box.fields`, in this repository."""
        place = self._place(arguments[0])
        return self._box.fields(*place, *arguments, **self._terms, given=given)

    def _place(self, command: str) -> list[str]:
        # `git init` takes its place as an argument, and must not come near the worktree's `.git`.
        if command == "init":
            return ["-C", str(self.git_dir)]
        return ["-C", str(self.worktree), f"--git-dir={self.git_dir}", "--work-tree=."]

    @property
    def _box(self) -> Box:
        return Box(read=(self.worktree,), write=(self.git_dir,))

    @property
    def _terms(self) -> _Terms:
        environment = git_environment(_CONFIG, home=self.git_dir)
        return {
            "environment": {**environment, "GIT_INDEX_FILE": str(self.index)},
            "timeout_s": TIMEOUT_S,
        }


class _Terms(TypedDict):
    environment: dict[str, str]
    timeout_s: float
