"""Names of branches."""

from __future__ import annotations

import re

# Characters that git refuses in the name of a branch, and a first one that is taken for an option.
_BRANCH = re.compile(
    r"(?![-./])(?!.*(\.\.|//|@\{|\.lock(/|$)|/\.))[^\s\x00-\x1f\x7f~^:?*\[\\]{1,250}"
)
_BAD_END = ("/", ".")


def is_branch_name(name: str) -> bool:
    """Whether git takes it for a branch."""
    return bool(_BRANCH.fullmatch(name)) and not name.endswith(_BAD_END)
