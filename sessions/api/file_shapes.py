"""What the routes of files answer, for `/doc`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import SkipJsonSchema

_Text = str | SkipJsonSchema[None]
_State = Literal["added", "deleted", "modified"]


class FileNode(BaseModel):
    """Paths of folders end with a slash."""

    name: str
    path: str
    absolute: str
    type: Literal["file", "directory"]
    ignored: bool


class Hunk(BaseModel):
    oldStart: int
    oldLines: int
    newStart: int
    newLines: int
    lines: list[str]


class FilePatch(BaseModel):
    oldFileName: str
    newFileName: str
    hunks: list[Hunk]


class FileContent(BaseModel):
    """`diff` and `patch` are there when the file is not as it was committed last."""

    type: Literal["text", "binary"]
    content: str
    diff: _Text = None
    patch: FilePatch | SkipJsonSchema[None] = None
    encoding: Literal["base64"] | SkipJsonSchema[None] = None
    mimeType: _Text = None


class File(BaseModel):
    path: str
    added: int
    removed: int
    status: _State


class MatchText(BaseModel):
    text: str


class Submatch(BaseModel):
    """Units: bytes from the start of the line."""

    match: MatchText
    start: int
    end: int


class FoundLine(BaseModel):
    path: MatchText
    lines: MatchText
    line_number: int
    absolute_offset: int
    submatches: list[Submatch]


class Position(BaseModel):
    line: int
    character: int


class Range(BaseModel):
    start: Position
    end: Position


class SymbolPlace(BaseModel):
    uri: str
    range: Range


class Symbol(BaseModel):
    name: str
    kind: int
    location: SymbolPlace


class VcsFileStatus(BaseModel):
    file: str
    additions: int
    deletions: int
    status: _State


class VcsFileDiff(VcsFileStatus):
    """`patch` is empty for a binary or large file, and for one that you may not read."""

    patch: str


class VcsApplied(BaseModel):
    applied: bool


ANSWERS: dict[tuple[str, str], Any] = {  # types and generic aliases
    ("get", "/file"): list[FileNode],
    ("get", "/file/content"): FileContent,
    ("get", "/file/status"): list[File],
    ("get", "/find"): list[FoundLine],
    ("get", "/find/file"): list[str],
    ("get", "/find/symbol"): list[Symbol],
    ("get", "/vcs/status"): list[VcsFileStatus],
    ("get", "/vcs/diff"): list[VcsFileDiff],
    # Text, no JSON.
    ("get", "/vcs/diff/raw"): None,
    ("post", "/vcs/apply"): VcsApplied,
}
