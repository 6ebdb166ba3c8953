"""Where the folders of projects lie. What the server makes is apart from what teams bring.

<worktrees>/managed/<project id>/<name>   clones, empty and sample projects: the server's own
<worktrees>/…                             folders that somebody put there
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.text import slug_of

_MANAGED = "managed"


def managed_root() -> Path:
    """The folder of everything that the server made."""
    return Path(settings.WORKTREES_DIR).resolve() / _MANAGED


def managed_home(project_id: str) -> Path:
    """The folder of one project, with its worktree in it. Raises: ValueError for a bad id."""
    # It is removed as a whole one day: nothing but a plain name may come after the root.
    if not re.fullmatch(r"[A-Za-z0-9_-]+", project_id):
        raise ValueError(project_id)
    return managed_root() / project_id


def managed_directory(project_id: str, name: str) -> Path:
    """Where the worktree of a new project goes. The last piece is for people; nothing reads it."""
    return managed_home(project_id) / (slug_of(name)[:60].strip("-_") or "code")


@contextmanager
def made_or_nothing(folder: Path) -> Iterator[Path]:
    """Make a project's worktree; when the block fails, nothing of the project is left."""
    folder.mkdir(parents=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder.parent, ignore_errors=True)
        raise


def remove_managed(project_id: str) -> None:
    """Remove what the server made for a project. A folder that a team brought is never below it."""
    shutil.rmtree(managed_home(project_id), ignore_errors=True)


def resolve_brought_folder(text: str, *, for_operator: bool = False) -> Path:
    """Find a folder by its path or its path below the root.

    Returns: its real path. Raises: Invalid when there is none, or it leads out of the root.
    """
    root = Path(settings.WORKTREES_DIR).resolve()
    text = text.strip()
    if not text or "\0" in text:
        raise Invalid(_("Enter a folder."), field="path")
    try:
        folder = (root / text).resolve(strict=True)
        is_usable = _is_usable(folder, root)
    except (OSError, RuntimeError):
        is_usable = False
    if not is_usable:
        raise unusable_folder(for_operator=for_operator)
    return folder


def unusable_folder(*, for_operator: bool = False) -> Invalid:
    """One refusal for every reason: it must not tell what exists on this host, or whose it is."""
    if for_operator:
        return Invalid(
            _(
                "There is no such folder in {folder}, or it is not assigned to this team. Assign "
                "folders under “Operations → Folders” first."
            ).format(folder=Path(settings.WORKTREES_DIR).resolve()),
            field="path",
        )
    return Invalid(
        _(
            "Your team has no such folder in {folder}. Ask an operator of this server to "
            "create it and assign it to your team."
        ).format(folder=Path(settings.WORKTREES_DIR).resolve()),
        field="path",
    )


def _is_usable(folder: Path, root: Path) -> bool:
    if not folder.is_dir() or root not in folder.parents or folder.is_relative_to(managed_root()):
        return False
    # A disk that ignores case finds a folder by several names, which could belong to two teams.
    below = (folder, *folder.parents[: len(folder.relative_to(root).parts) - 1])
    return all(one in one.parent.iterdir() for one in below)
