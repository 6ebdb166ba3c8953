"""Files of a repository whose text settings take in by `{file:path}`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from opencode_web.lib.config_references import TEMPLATE, TEXTS, references_in, stands_in, within
from opencode_web.lib.jsonc import parse_jsonc
from sessions.repository.reading import MAX_FILE_BYTES, Unavailable, read_instructions
from tools.permissions.defaults import DEFAULTS
from tools.permissions.rules import Action, evaluate

# In a repository's own settings, where a changed file has to be trusted again.
PLACES = (*TEXTS, TEMPLATE)
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Referenced:
    """A file by its path from the root; `reason` says as a sentence why there is no text."""

    path: str
    text: str = ""
    reason: str = ""


@lru_cache(maxsize=128)
def paths_in(settings: str) -> tuple[str, ...]:
    """Returns: the paths that the text of a settings file names, as they are written."""
    if "{file:" not in settings:
        return ()
    try:
        found = references_in(parse_jsonc(settings))
        named = [one.file for one in found if one.file and stands_in(one.path, PLACES)]
    except ValueError:  # it does not count at all, which is said elsewhere
        return ()
    return tuple(dict.fromkeys(named))


def read_referenced(worktree: Path, folder: str, path: str) -> Referenced:
    """Read a file by a path from a folder of the worktree. A link is followed within that only."""
    shown = within(folder, path)
    root = Path(os.path.realpath(worktree))
    real = Path(os.path.realpath(root / shown)) if shown is not None else root
    if shown is None or not real.is_relative_to(root):
        return Referenced(shown or path, reason="It is outside of the repository.")
    if any(map(_is_guarded, (shown, real.relative_to(root).as_posix()))):
        return Referenced(shown, reason="Settings never take in a file that may hold secrets.")
    try:
        text = read_instructions(root, real)
        reason = _unusable(text, real)
    except (Unavailable, OSError):
        text, reason = None, "It cannot be read now."
    return Referenced(shown, reason=reason) if reason else Referenced(shown, text or "")


def _unusable(text: str | None, path: Path) -> str:
    if text is None:
        return "There is no such file."
    if path.stat().st_size > MAX_FILE_BYTES:
        return f"It is larger than {MAX_FILE_BYTES // 1024} KiB."
    return "It is not UTF-8 text." if _UNREADABLE in text else ""


def _is_guarded(path: str) -> bool:
    """Whether agents would be asked for it, or it is git's own."""
    names = path.lower().split("/")
    return ".git" in names or evaluate("read", path, DEFAULTS) is not Action.ALLOW
