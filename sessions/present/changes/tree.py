"""The changed files as a tree: folders that hold nothing but one folder are one row. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sessions.present.changes.entries import ChangeEntry

# With more files than these the folders are closed, and their rows come when they are opened.
OPEN_FILES = 200
# More rows than these in one folder are not shown: a filter finds them.
MAX_ROWS = 300


@dataclass(frozen=True)
class TreeFile:
    """A file, in the order of the entries from `index` on."""

    name: str
    entry: ChangeEntry
    url: str


@dataclass(frozen=True)
class TreeFolder:
    """`path` ends with a slash. Without rows it is closed: they come from `src`, or at `url`."""

    name: str
    path: str
    count: int
    added: int
    removed: int
    url: str
    src: str
    rows: TreeRows | None


@dataclass(frozen=True)
class TreeRows:
    """What is in one folder; `more` are rows that are not shown."""

    folders: list[TreeFolder] = field(default_factory=list)
    files: list[TreeFile] = field(default_factory=list)
    more: int = 0


Link = Callable[[str], str]


@dataclass(frozen=True)
class TreeLinks:
    """The addresses of a file, of a folder as a page, and of its rows by themselves."""

    file: Link
    folder: Link
    rows: Link


def build_rows(
    entries: Sequence[ChangeEntry], links: TreeLinks, *, at: str, is_open: bool
) -> TreeRows:
    """The rows of the folder `at`; `entries` are those below it."""
    own: list[ChangeEntry] = []
    below: dict[str, list[ChangeEntry]] = {}
    for entry in entries:
        name, slash, _ = entry.path.removeprefix(at).partition("/")
        if slash:
            below.setdefault(f"{name}/", []).append(entry)
        else:
            own.append(entry)
    folders = [
        _folder(inside, links, at=at, name=name, is_open=is_open) for name, inside in below.items()
    ]
    room = max(0, MAX_ROWS - len(folders))
    files = [
        TreeFile(entry.path.removeprefix(at), entry, links.file(entry.path)) for entry in own[:room]
    ]
    more = len(folders) + len(own) - len(folders[:MAX_ROWS]) - len(files)
    return TreeRows(folders[:MAX_ROWS], files, more)


def _folder(
    inside: Sequence[ChangeEntry], links: TreeLinks, *, at: str, name: str, is_open: bool
) -> TreeFolder:
    path = _shared_folder(inside, f"{at}{name}")
    return TreeFolder(
        name=path.removeprefix(at).removesuffix("/"),
        path=path,
        count=len(inside),
        added=sum(entry.added for entry in inside),
        removed=sum(entry.removed for entry in inside),
        url=links.folder(path),
        src=links.rows(path),
        rows=build_rows(inside, links, at=path, is_open=True) if is_open else None,
    )


def _shared_folder(inside: Sequence[ChangeEntry], path: str) -> str:
    """The deepest folder that all of them are in."""
    # They are sorted: what the first and the last share, all share.
    first, last = inside[0].path.split("/")[:-1], inside[-1].path.split("/")[:-1]
    shared = []
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        shared.append(one)
    deepest = "/".join(shared) + "/"
    return deepest if deepest.startswith(path) else path
