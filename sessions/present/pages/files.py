"""The files pane: a tree that opens folder by folder, what a filter finds, and one file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.highlight import lexer_for_path, runs_to_html, split_runs
from sessions.browse.edit import MAX_EDIT_BYTES
from sessions.browse.listing import FileNode
from sessions.browse.view import FileLook, Tree
from sessions.present.changes.file_diff import IMAGE_TYPES
from sessions.present.conversation.bodies import NumberedLine
from sessions.present.place import Place

# Of a text that is shown; a larger one is downloaded.
MAX_TEXT_BYTES = MAX_EDIT_BYTES
MAX_LINES = 20_000
_MAX_LINE_CHARS = 2_000
# Of a file that leaves the server in one answer.
MAX_DOWNLOAD_BYTES = 10 * 1024 * 1024
_MARKS = {
    "added": ("A", gettext_noop("new")),
    "modified": ("M", gettext_noop("changed")),
    "deleted": ("D", gettext_noop("deleted")),
}

Look = Literal["text", "image", "binary", "large"]


@dataclass(frozen=True)
class Addresses:
    """Of the pane of one session."""

    page: str
    part: str
    raw: str
    download: str
    edit: str

    @classmethod
    def of(cls, place: Place) -> Addresses:
        return cls(
            place.url("session"),
            place.url("files"),
            place.url("file_raw"),
            place.url("file_download"),
            place.url("file_edit"),
        )

    def to_page(self, **names: str) -> str:
        return f"{self.page}?{urlencode({'panel': 'files', **names})}"

    def to_part(self, **names: str) -> str:
        return f"{self.part}?{urlencode(names)}"


@dataclass(frozen=True)
class Node:
    """A row of the tree. `src` is where its children or its content come from by themselves."""

    id: str
    name: str
    path: str
    is_folder: bool
    is_open: bool
    is_current: bool
    is_ignored: bool
    mark: str
    mark_text: str
    url: str
    src: str
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class FileView:
    """`lines` for a text only; `download_url` is empty when it is too large. Units: bytes."""

    path: str
    folder: str
    name: str
    look: Look
    size: int
    lines: list[NumberedLine]
    raw_url: str
    download_url: str
    edit_url: str
    close_url: str


@dataclass(frozen=True)
class FileEdit:
    """`newer` is the file as it is now, where it is another than `digest` was of at first."""

    path: str
    folder: str
    name: str
    url: str
    close_url: str
    close_src: str
    text: str
    digest: str
    newer: str | None = None
    is_gone: bool = False
    error: str = ""


@dataclass(frozen=True)
class Files:
    """`found` are rows without a tree while a filter is set; else None."""

    page_url: str
    filter_src: str
    filter: str = ""
    error: str = ""
    nodes: list[Node] = field(default_factory=list)
    found: list[Node] | None = None
    view: FileView | None = None
    view_error: str = ""


def folders_to(path: str) -> list[str]:
    """Returns: the folders that lead to a path, the root of everything first; each ends with `/`.

    `path` is a folder when it ends with a slash.
    """
    parts = path.split("/")[:-1]
    return ["", *("/".join(parts[: end + 1]) + "/" for end in range(len(parts)))]


def build_tree(tree: Tree, addresses: Addresses, *, at: str, current: str) -> list[Node]:
    """The rows of the folder `at`, and below it those that are there too.

    `current` is the file that is shown.
    """
    changed = _with_folders(tree["marks"])
    return [
        _node(row, changed, tree, addresses, current)
        for row in tree["folders"].get(at, [])
        # git's own folder is no file of anybody.
        if row["name"] != ".git"
    ]


def _node(
    row: FileNode,
    changed: Mapping[str, str],
    tree: Tree,
    addresses: Addresses,
    current: str,
) -> Node:
    path, is_folder = row["path"], row["type"] == "directory"
    is_open = is_folder and path in tree["folders"]
    named = {"folder": path} if is_folder else {"file": path}
    mark, mark_text = _MARKS.get(changed.get(path, ""), ("", ""))
    mark_text = _(mark_text) if mark_text else ""
    if is_folder and path in changed:
        mark, mark_text = "•", _("has changes")
    return Node(
        id=_id_of(path),
        name=row["name"],
        path=path,
        is_folder=is_folder,
        is_open=is_open,
        is_current=path == current,
        is_ignored=row["ignored"],
        mark=mark,
        mark_text=mark_text,
        url=addresses.to_page(**named),
        src=addresses.to_part(**named),
        children=build_tree(tree, addresses, at=path, current=current) if is_open else [],
    )


def _with_folders(marks: Mapping[str, str]) -> dict[str, str]:
    found = dict(marks)
    for path in marks:
        found |= dict.fromkeys(folders_to(path)[1:], "changed")
    return found


def build_found(paths: list[str], addresses: Addresses) -> list[Node]:
    """Rows of what a filter has found, each with its whole path."""
    return [
        Node(
            id=_id_of(path),
            name=path,
            path=path,
            is_folder=False,
            is_open=False,
            is_current=False,
            is_ignored=False,
            mark="",
            mark_text="",
            url=addresses.to_page(file=path),
            src=addresses.to_part(file=path),
        )
        for path in paths
    ]


def build_file(path: str, wire: FileLook, addresses: Addresses) -> FileView:
    folder, slash, name = path.rpartition("/")
    text, size = wire.get("text", ""), wire["size"]
    look = _look(wire, text)
    download = f"{addresses.download}?{urlencode({'file': path})}"
    return FileView(
        path=path,
        folder=folder + slash,
        name=name,
        look=look,
        size=size,
        lines=_numbered(path, text) if look == "text" else [],
        raw_url=f"{addresses.raw}?{urlencode({'file': path})}",
        download_url=download if size <= MAX_DOWNLOAD_BYTES else "",
        edit_url=f"{addresses.edit}?{urlencode({'file': path})}" if look == "text" else "",
        close_url=addresses.to_page(folder=folder + slash),
    )


def build_edit(path: str, addresses: Addresses, *, text: str, digest: str) -> FileEdit:
    folder, slash, name = path.rpartition("/")
    return FileEdit(
        path=path,
        folder=folder + slash,
        name=name,
        url=f"{addresses.edit}?{urlencode({'file': path})}",
        close_url=addresses.to_page(file=path),
        close_src=addresses.to_part(file=path),
        text=text,
        digest=digest,
    )


def _look(wire: FileLook, text: str) -> Look:
    if wire["sniffed"] and wire["mime"] in IMAGE_TYPES:
        return "image" if wire["size"] <= MAX_DOWNLOAD_BYTES else "large"
    if "text" in wire:
        return "large" if text.count("\n") > MAX_LINES else "text"
    return "binary" if "content" in wire or wire["sniffed"] else "large"


def _numbered(path: str, text: str) -> list[NumberedLine]:
    lines = text.removesuffix("\n").split("\n")
    shown = [
        line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…" for line in lines
    ]
    coloured = split_runs("\n".join(shown), lexer_for_path(path))
    return [NumberedLine(number, runs_to_html(runs)) for number, runs in enumerate(coloured, 1)]


def _id_of(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()[:12]
