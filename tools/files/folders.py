from __future__ import annotations

import stat

from tools.errors import ToolError
from tools.paths import Located, open_file, stat_located


def is_folder(located: Located) -> bool | None:
    """Tell a folder from a file. Returns: None when nothing is there."""
    status = stat_located(located)
    return None if status is None else stat.S_ISDIR(status.st_mode)


def require_folder(located: Located, *, tool: str) -> None:
    """Refuse what is not a folder.

    Raises: ToolError naming the tool and the path.
    """
    match is_folder(located):
        case None:
            raise ToolError(f"Folder not found: {located.path}")
        case False:
            raise ToolError(f"{tool} path must be a directory: {located.path}")


def require_file(located: Located) -> None:
    """Refuse what cannot be read to an end: a pipe, a device. Raises: as `open_file`."""
    with open_file(located):
        return
