"""A rollback as the second version of OpenCode's HTTP API has it."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from opencode_web.lib.json import JsonObject, list_of, number_of, object_of, text_of
from opencode_web.lib.shapes import Unchecked, drop_none
from sessions.git.snapshot_diffs import split_patches


class RevertedFile(TypedDict):
    """A file that was put back. Units: lines."""

    path: str
    status: Annotated[str, Unchecked(Literal["added", "modified", "deleted"])]
    additions: int
    deletions: int
    patch: str


class RevertV2(TypedDict):
    """A rollback that is not committed yet."""

    messageID: str
    partID: NotRequired[str | None]
    snapshot: NotRequired[str | None]
    diff: NotRequired[str | None]
    files: list[RevertedFile]


def revert_to_v2(revert: JsonObject) -> RevertV2:
    """Convert what a session's row has of a rollback. Returns: `RevertState`."""
    patches = split_patches(text_of(revert, "diff"))
    files = list_of(object_of(revert, "restored"), "files")
    state: RevertV2 = {
        "messageID": text_of(revert, "messageID"),
        "partID": text_of(revert, "partID") or None,
        "snapshot": text_of(revert, "snapshot") or None,
        "diff": text_of(revert, "diff") or None,
        "files": [_reverted(file, patches) for file in files if isinstance(file, dict)],
    }
    return drop_none(state)


def _reverted(file: JsonObject, patches: list[str]) -> RevertedFile:
    name = text_of(file, "file")
    own = (patch for patch in patches if patch.partition("\n")[0].endswith(f" b/{name}"))
    return {
        "path": name,
        "status": text_of(file, "status"),
        "additions": number_of(file, "additions") or 0,
        "deletions": number_of(file, "deletions") or 0,
        "patch": "".join(own),
    }
