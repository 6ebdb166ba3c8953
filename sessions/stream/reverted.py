"""A rollback as the second version of OpenCode's HTTP API has it."""

from __future__ import annotations

from opencode_web.lib.json import JsonObject, list_of, object_of, text_of
from sessions.git.snapshot_diffs import split_patches


def revert_to_v2(revert: JsonObject) -> JsonObject:
    """Convert what a session's row has of a rollback. Returns: `RevertState`."""
    kept = ("messageID", "partID", "snapshot", "diff")
    state = {key: revert[key] for key in kept if revert.get(key)}
    patches = split_patches(text_of(revert, "diff"))
    files = list_of(object_of(revert, "restored"), "files")
    return {
        **state,
        "files": [_reverted(file, patches) for file in files if isinstance(file, dict)],
    }


def _reverted(file: JsonObject, patches: list[str]) -> JsonObject:
    name = text_of(file, "file")
    own = (patch for patch in patches if patch.partition("\n")[0].endswith(f" b/{name}"))
    return {
        "path": name,
        "status": file["status"],
        "additions": file.get("additions", 0),
        "deletions": file.get("deletions", 0),
        "patch": "".join(own),
    }
