"""Files that a call has shown to the model: it may change them without reading them once more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice

from tools.context import ToolContext
from tools.errors import ToolError
from tools.files.file_change import digest_of
from tools.paths import locate, read_bytes

# Past these the model reads a file before it changes it.
_MAX_FILES = 20
_MAX_BYTES = 1024 * 1024
_NEW_SIDE = re.compile(r"^\+\+\+ b/([^\t\n]+)", re.MULTILINE)


def digests_of(
    context: ToolContext,
    names: Iterable[str],
    *,
    holds: Callable[[str, bytes], bool] = lambda _name, _data: True,
) -> dict[str, str]:
    """Returns: the digests of files, given by their paths in the worktree, by their keys.

    What is no file that can be read, or does not hold what was shown of it, is left out.
    """
    found = {}
    for name in islice(names, _MAX_FILES):
        try:
            located = locate(context, str(context.worktree / name))
            data = read_bytes(located, max_bytes=_MAX_BYTES)
        except (ToolError, OSError):
            continue
        if holds(name, data):
            found[located.key] = digest_of(data)
    return found


def files_in_diffs(text: str) -> list[str]:
    """Returns: the paths of the files whose new side a text shows in unified diffs."""
    return list(dict.fromkeys(_NEW_SIDE.findall(text)))
