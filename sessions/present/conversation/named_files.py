"""The files that a text of a turn may name: those that calls before it have read or changed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from opencode_web.lib.json import JsonObject, list_of, object_of, text_of
from sessions.models import Part
from sessions.present.changes.patches import names_in
from sessions.present.place import Place

_TOOLS = frozenset({"read", "edit", "multiedit", "write", "patch", "apply_patch"})


class NamedFiles:
    """Grows along a turn: what comes later changes nothing in texts that have been shown."""

    def __init__(self, place: Place) -> None:
        self._place = place
        # Paths by each name that texts have for them; empty for one that two files share.
        self._paths: dict[str, str] = {}

    def add(self, parts: Iterable[Part]) -> None:
        for path in (path for part in parts for path in _paths_of(part.data)):
            short = self._place.short(path)
            if not short or short.startswith("/") or ".." in short.split("/"):
                continue
            self._paths |= {short: short, f"{self._place.worktree}/{short}": short}
            name = PurePosixPath(short).name
            if "." in name and self._paths.setdefault(name, short) not in (short, name):
                self._paths[name] = ""

    def page_of(self, name: str) -> str:
        """Returns: the page of a file; empty for any other word, and where files have no pages."""
        path = self._paths.get(name)
        return self._place.file_url(path) if path else ""


def _paths_of(part: JsonObject) -> list[str]:
    if part.get("type") == "patch":
        # What a step has changed, by a command for example.
        return [text for text in list_of(part, "files") if isinstance(text, str)]
    state = object_of(part, "state")
    if part.get("tool") not in _TOOLS or state.get("status") != "completed":
        return []
    given = object_of(state, "input")
    if text_of(object_of(object_of(state, "metadata"), "display"), "type") == "directory":
        return []
    return [text_of(given, "filePath"), *names_in(text_of(given, "patchText"))]
