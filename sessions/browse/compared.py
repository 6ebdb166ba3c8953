"""Between which states of the files a review looks for changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from opencode_web.lib.errors import Invalid
from sessions.browse.changes import EMPTY_TREE, branch_point, head_of
from sessions.browse.file_scope import FileScope
from sessions.checkouts.repository import Repository

# Why there is nothing to compare.
Nothing = Literal["no-git", "main", "no-commit"]


@dataclass(frozen=True)
class Compared:
    """From the commit `old` to the commit `new`, or to the files where that is empty.

    `has_index`: what is staged lies between them.
    """

    old: str
    new: str = ""
    has_index: bool = False

    @property
    def revisions(self) -> tuple[str, ...]:
        """As `git diff` takes them."""
        return (self.old, self.new) if self.new else (self.old,)


async def find_compared(
    scope: FileScope, repository: Repository | None, mode: str
) -> Compared | Nothing:
    """Since the last commit (`git`), since the branch began (`branch`), or in the last commit.

    Raises: Invalid for another mode; CheckoutError.
    """
    if mode not in ("git", "branch", "commit"):
        raise Invalid("mode must be git, branch or commit.", kind="Query")
    if repository is None:
        return "no-git"
    head = await head_of(repository)
    match mode:
        case "git":
            return Compared(head, has_index=True)
        case "branch":
            base = await branch_point(scope, repository)
            return Compared(base) if base else "main"
        case _:
            if await repository.find(head) is None:
                return "no-commit"
            parent = await repository.find(f"{head}^") or EMPTY_TREE[repository.object_format]
            return Compared(parent, head)
