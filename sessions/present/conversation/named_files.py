"""The files that a text of a turn may name: those that the turn has read or changed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from opencode_web.lib.json import JsonObject, object_of, text_of
from sessions.models import Part
from sessions.present.changes.patches import names_in
from sessions.present.place import Place

_TOOLS = frozenset({"read", "edit", "multiedit", "write", "patch", "apply_patch"})


def named_files(parts: Iterable[Part], diffs: Iterable[JsonObject], place: Place) -> dict[str, str]:
    """`diffs`: what the turn has changed. Returns: the page of each file by every name that texts
    have for it, which are its path, the whole path and, unless two share it, its last part."""
    changed = {text_of(one, "file"): text_of(one, "status") != "deleted" for one in diffs}
    called = {place.short(path): True for part in parts for path in _paths_of(part.data)}
    paths = [path for path, is_there in (called | changed).items() if is_there and _is_within(path)]
    last = Counter(PurePosixPath(path).name for path in paths)
    found = dict[str, str]()
    for path in paths:
        if not (url := place.file_url(path)):
            continue
        name = PurePosixPath(path).name
        found |= {path: url, f"{place.worktree}/{path}": url}
        if last[name] == 1 and "." in name:
            found.setdefault(name, url)
    return found


def _paths_of(part: JsonObject) -> list[str]:
    state = object_of(part, "state")
    if part.get("tool") not in _TOOLS or state.get("status") != "completed":
        return []
    given = object_of(state, "input")
    is_folder = text_of(object_of(object_of(state, "metadata"), "display"), "type") == "directory"
    return [
        *([] if is_folder else [text_of(given, "filePath")]),
        *names_in(text_of(given, "patchText")),
    ]


def _is_within(path: str) -> bool:
    return bool(path) and not path.startswith("/") and ".." not in path.split("/")
