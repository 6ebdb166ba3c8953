from __future__ import annotations

from pathlib import PurePosixPath

from sessions.models import Part, Session


def changed_paths(session: Session, *, most_patches: int | None = None) -> list[str]:
    """`most_patches`: how many of the newest steps that changed files are looked at.

    Returns: the files that its agent has changed, from its folder, the last ones first.
    """
    parts = Part.objects.visible(session).filter(type="patch")
    newest = parts.order_by("-seq").values_list("data", flat=True)[:most_patches]
    root = PurePosixPath(session.worktree)
    # Patches name files from the folder; a whole path stays what it is.
    named = [root / str(one) for data in newest for one in data.get("files", [])]
    inside = [str(path.relative_to(root)) for path in named if path.is_relative_to(root)]
    return list(dict.fromkeys(inside))
