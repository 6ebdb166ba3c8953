"""Files as people look at them: folders with what git says, and one file with its size."""

from __future__ import annotations

import asyncio
import os
from mimetypes import guess_type
from typing import NotRequired, TypedDict

from django.utils.translation import gettext as _

from opencode_web.lib.errors import AppError, Invalid, NotFound
from opencode_web.lib.json import JsonValue
from sessions.browse.changes import list_files_changed
from sessions.browse.content import MAX_BYTES, as_text
from sessions.browse.file_scope import FileScope, as_invalid
from sessions.browse.listing import FileNode, list_folder
from tools.files.file_kind import SAMPLE_BYTES, attachment_mime
from tools.paths import Located, open_file

# A path that leads deeper is shown as far as this.
MAX_FOLDERS = 24


class Tree(TypedDict):
    """`folders` by their paths, and what git says of files by theirs."""

    folders: dict[str, list[FileNode]]
    marks: dict[str, str]


class FileLook(TypedDict):
    """`mime` is by the first bytes for raster images and PDFs (`sniffed`), else by the name.

    Units: `size` in bytes. `content` is base64.
    """

    size: int
    mime: str
    sniffed: bool
    text: NotRequired[str]
    content: NotRequired[str]


async def list_tree(scope: FileScope, folders: list[str]) -> Tree:
    """List several folders at once. Of those that are not there, all but the first are left out.

    Returns: no marks where git fails.
    Raises: what `list_folder` does for the first.
    """
    found: dict[str, list[FileNode]] = {}
    for folder in folders[:MAX_FOLDERS]:
        try:
            found[scope.redactor.text(folder)] = await list_folder(scope, folder)
        except (NotFound, Invalid):
            if folder == folders[0]:
                raise
    return {"folders": found, "marks": await _marks(scope)}


async def _marks(scope: FileScope) -> dict[str, str]:
    try:
        changed = await list_files_changed(scope)
    except AppError:
        # They decorate; the files are what was asked for.
        return {}
    paths: list[JsonValue] = [one["path"] for one in changed]
    shown = scope.redactor.json(paths)
    return {str(path): one["status"] for path, one in zip(shown, changed, strict=True)}


async def view_file(scope: FileScope, path: str, most_bytes: int) -> FileLook:
    """Look at a file. `content` (base64) is there when it has at most so many bytes, and no text.

    Raises: NotFound; Forbidden by the rules of the project; Invalid for a folder or a device.
    """
    located = scope.locate(path)
    scope.require_read(located)
    size, data = await asyncio.to_thread(_look, located, min(most_bytes, MAX_BYTES))
    sniffed = attachment_mime(data[:SAMPLE_BYTES])
    mime = sniffed or guess_type(located.real.name)[0] or "application/octet-stream"
    wire: FileLook = {"size": size, "mime": mime, "sniffed": sniffed is not None}
    if len(data) < size:
        return wire
    text = as_text(located, data) if sniffed is None else None
    if text is not None:
        return {**wire, "text": text}
    return {**wire, "content": await asyncio.to_thread(scope.encode, data, located.relative)}


def _look(located: Located, most_bytes: int) -> tuple[int, bytes]:
    """Returns: the size, and everything or, of a larger one, how it begins."""
    try:
        with as_invalid(), open_file(located) as fd, open(fd, "rb", closefd=False) as file:
            size = os.fstat(fd).st_size
            data = file.read(most_bytes + 1 if size <= most_bytes else SAMPLE_BYTES)
    except (FileNotFoundError, NotADirectoryError) as exc:
        raise NotFound("File", located.relative) from exc
    except IsADirectoryError as exc:
        raise Invalid(_("{path} is a folder.").format(path=located.relative or ".")) from exc
    # It may have grown meanwhile.
    return (size, data) if len(data) <= most_bytes else (len(data), data[:SAMPLE_BYTES])
