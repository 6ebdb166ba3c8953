"""The panel with the changed files of a turn, or of all turns of a session."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

from opencode_web.lib.diff_html import DiffLine, render_diff
from opencode_web.lib.json import JsonObject
from sessions.models import Message, Session
from sessions.present.data import number_of, object_of, text_of
from sessions.present.place import Place
from sessions.turn_diffs import diffs_of

# Files after these come folded: their diff is fetched when they are opened.
OPEN_FILES = 12
OPEN_ROWS = 600


@dataclass(frozen=True)
class ScopeLink:
    label: str
    url: str
    current: bool


@dataclass(frozen=True)
class ChangedFile:
    id: str
    path: str
    name: str
    folder: str
    status: str
    added: int
    removed: int
    lines: list[DiffLine]
    binary: bool
    size: int
    url: str
    # The prompt of the turn before which its state is wanted, when it is to go back.
    turn: str
    reverted: bool = False


@dataclass(frozen=True)
class Changes:
    """`scope`: "turn" for the newest turn, "all", or the id of the prompt of a turn."""

    scope: str
    count: int
    added: int
    removed: int
    files: list[ChangedFile] = field(default_factory=list)
    scopes: list[ScopeLink] = field(default_factory=list)
    empty: str = ""
    notes: list[str] = field(default_factory=list)
    revert_url: str = ""
    undo_url: str = ""


@dataclass(frozen=True)
class TurnDiff:
    """A file's diff in the turn of the prompt `turn`."""

    turn: str
    diff: JsonObject


@dataclass(frozen=True)
class TurnDiffs:
    """`notes` are sentences about what no diff shows."""

    diffs: list[TurnDiff]
    notes: list[str]


def load_diffs(session: Session, scope: str) -> TurnDiffs:
    """Returns: the file diffs of the scope in the order of the turns."""
    prompts = Message.objects.visible(session).filter(role="user", data__has_key="summary")
    if scope not in ("turn", "all"):
        prompts = prompts.filter(pk=scope)
    ordered = prompts.order_by("-seq").values_list("pk", "data")
    found = list(ordered[: 1 if scope == "turn" else 200])[::-1]
    diffs = [TurnDiff(turn, diff) for turn, data in found for diff in diffs_of(data)]
    notes = [text_of(object_of(data, "summary"), "body") for _, data in found]
    return TurnDiffs(diffs, list(dict.fromkeys(note for note in notes if note)))


def load_changes(session: Session, *, scope: str = "turn") -> Changes:
    """Several diffs of one file, from several turns, are shown one after the other."""
    place, found = Place.of(session), load_diffs(session, scope)
    by_path: dict[str, list[TurnDiff]] = {}
    for one in found.diffs:
        by_path.setdefault(text_of(one.diff, "file"), []).append(one)
    room, reverted = OPEN_ROWS, {one["file"] for one in session.file_reverts}
    files = []
    for index, (path, own) in enumerate(by_path.items()):
        file = _file(path, own, place, scope=scope, show=index < OPEN_FILES and room > 0)
        room -= len(file.lines)
        files.append(replace(file, reverted=path in reverted))
    base = place.url("session")
    return Changes(
        scope=scope,
        count=len(files),
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
        files=files,
        scopes=[
            ScopeLink("Last turn", f"{base}?panel=changes", scope == "turn"),
            ScopeLink("All turns", f"{base}?panel=changes&turn=all", scope == "all"),
        ],
        empty="" if scope == "turn" else "No files were changed.",
        notes=found.notes,
        revert_url=place.url("file_revert"),
        undo_url=place.url("file_undo"),
    )


def _file(path: str, own: list[TurnDiff], place: Place, *, scope: str, show: bool) -> ChangedFile:
    diffs = [one.diff for one in own]
    folder, slash, name = path.rpartition("/")
    file_id = hashlib.sha256(path.encode()).hexdigest()[:12]
    views = [render_diff(text_of(diff, "patch"), path=path) for diff in diffs]
    size = sum(view.size for view in views)
    lines = [line for view in views for line in view.lines]
    is_whole = show and all(view.lines or not view.size for view in views)
    added = sum(number_of(diff, "additions") or 0 for diff in diffs)
    removed = sum(number_of(diff, "deletions") or 0 for diff in diffs)
    return ChangedFile(
        id=file_id,
        path=path,
        name=name,
        folder=folder + slash,
        status=text_of(diffs[-1], "status"),
        added=added,
        removed=removed,
        lines=lines if is_whole else [],
        binary=not size and not any(text_of(diff, "patch") for diff in diffs),
        size=size,
        turn=own[0].turn,
        url="" if is_whole or not size else f"{place.url('file')}?turn={scope}&path={file_id}",
    )


def find_file(found: TurnDiffs, file_id: str) -> tuple[str, list[DiffLine]] | None:
    """Returns: the path and every row of its diff."""
    lines: list[DiffLine] = []
    path = ""
    for one in found.diffs:
        name = text_of(one.diff, "file")
        if hashlib.sha256(name.encode()).hexdigest()[:12] == file_id:
            path = name
            lines += render_diff(text_of(one.diff, "patch"), path=name, show_large=True).lines
    return (path, lines) if path else None
