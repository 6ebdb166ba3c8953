"""What the agent has changed, from the snapshots before and after: as far as they are kept."""

from __future__ import annotations

from typing import TypedDict

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import NotFound
from sessions.browse.file_scope import FileScope
from sessions.browse.review import (
    MAX_PICTURE_BYTES,
    Picture,
    apart,
    diff_options,
    readable_names,
    tell_picture,
)
from sessions.git.snapshot_diffs import whole_lines
from sessions.git.snapshots import SnapshotError, Snapshots
from sessions.models import Session
from tools.text_file import decode_text, displayable

# The lines of a larger file are not shown around a change of it.
MAX_TEXT_BYTES = 2 * 1024 * 1024


class SpanCounts(TypedDict):
    """What has become of a file between two snapshots. Units: lines."""

    file: str
    status: str
    additions: int
    deletions: int


class SpanDiff(TypedDict):
    """One file between two snapshots."""

    binary: bool
    patch: str


async def count_span(
    scope: FileScope,
    session_id: str,
    before: str,
    after: str,
    files: list[str],
    old: list[str] | None = None,
) -> list[SpanCounts]:
    """`old`: names that some of the files had before.

    Returns: those that differ between two snapshots. Raises: NotFound when one is not kept any
    more.
    """
    snapshots, names = await _snapshots(session_id), frozenset([*files, *(old or ())])
    try:
        changes = await snapshots.counts(before, after, names)
        if old:
            changes += await snapshots.renames(before, after, changes, least="1%")
    except SnapshotError as exc:
        raise NotFound("Snapshot", before) from exc
    return [
        {
            "file": change.file,
            "status": change.kind,
            "additions": change.additions,
            "deletions": change.deletions,
        }
        for change in changes
    ]


async def diff_span(
    scope: FileScope,
    session_id: str,
    before: str,
    after: str,
    file: str,
    old: str = "",
    *,
    spaces: bool = True,
    context: int = 3,
) -> SpanDiff:
    """`old`: the name that it had before. Returns: an empty patch for no change.

    Raises: Forbidden by the rules of the project; NotFound when a snapshot is not kept any more.
    """
    names = apart(*readable_names(scope, file, old))
    options = (*diff_options(spaces=spaces, context=context), *(("-M1%",) if names[1:] else ()))
    try:
        patch = await (await _snapshots(session_id)).patch_of(before, after, names, *options)
    except SnapshotError as exc:
        raise NotFound("Snapshot", before) from exc
    is_binary = "\nBinary files " in patch.partition("\n@@")[0]
    return {"binary": is_binary, "patch": "" if is_binary else whole_lines(patch)}


async def text_of_span(scope: FileScope, session_id: str, tree: str, file: str) -> str:
    """Returns: the text of a file in a snapshot.

    Raises: NotFound, also for what is no file of it or too large; Forbidden by the rules of the
    project.
    """
    data = await _content(scope, session_id, tree, file, most=MAX_TEXT_BYTES)
    return displayable(decode_text(data)[0])


async def picture_of_span(scope: FileScope, session_id: str, tree: str, file: str) -> Picture:
    """Returns: a picture in a snapshot.

    Raises: NotFound, also for what is no picture; Forbidden by the rules of the project.
    """
    data = await _content(scope, session_id, tree, file, most=MAX_PICTURE_BYTES)
    return tell_picture(scope, data, file)


async def _content(scope: FileScope, session_id: str, tree: str, file: str, *, most: int) -> bytes:
    """Units: `most` in bytes. Raises: NotFound, also for a larger one; Forbidden."""
    readable_names(scope, file)
    snapshots = await _snapshots(session_id)
    try:
        data = await snapshots.content(tree, file, limit_bytes=most + 1)
    except SnapshotError as exc:
        raise NotFound("File", file) from exc
    if data is None:
        raise NotFound("File", file)
    return data


async def _snapshots(session_id: str) -> Snapshots:
    rows = Session.objects.select_related("project").filter(pk=session_id)
    found = await in_db(rows.first)
    if found is None:
        raise NotFound("Session", session_id)
    return await in_db(Snapshots, found)
