"""The content of a file, and how it differs from the last commit."""

from __future__ import annotations

import asyncio
import re
from mimetypes import guess_type
from typing import Literal, NotRequired

from django.utils.translation import gettext as _
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid, TooLarge
from sessions.browse.changes import patch_of
from sessions.browse.file_scope import FileScope, as_invalid
from sessions.checkouts.repository import CheckoutError
from tools.files.file_kind import SAMPLE_BYTES, attachment_mime, is_binary
from tools.paths import Located, open_file

MAX_BYTES = 10 * 1024 * 1024
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class FileContent(TypedDict):
    """A file as the wire has it, with its change since the last commit."""

    type: Literal["text", "binary"]
    content: str
    encoding: NotRequired[Literal["base64"]]
    mimeType: NotRequired[str]
    diff: NotRequired[str]
    patch: NotRequired[FilePatch]


class Hunk(TypedDict):
    """A hunk of a unified diff."""

    oldStart: int
    oldLines: int
    newStart: int
    newLines: int
    lines: list[str]


class FilePatch(TypedDict):
    """A unified diff, taken apart."""

    oldFileName: str
    newFileName: str
    hunks: list[Hunk]


async def read_file(scope: FileScope, path: str) -> FileContent:
    """Returns: of a file that is not there, an empty text, as in OpenCode.

    Raises: Forbidden by the rules of the project; TooLarge; Invalid for a folder, a device, or what
    leaves the worktree.
    """
    located = scope.locate(path)
    scope.require_read(located)
    data = await asyncio.to_thread(_read, located)
    wire = _to_wire(scope, located, data or b"")
    if wire["type"] == "text":
        try:
            patch = await patch_of(scope, located.key)
        except CheckoutError:
            # The content is what was asked for.
            patch = ""
        if patch:
            wire["diff"], wire["patch"] = patch, _structured(located.key, patch)
    return wire


def _read(located: Located) -> bytes | None:
    try:
        with as_invalid(), open_file(located) as fd, open(fd, "rb", closefd=False) as file:
            # Not by its size: it may grow meanwhile.
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as exc:
        raise Invalid(
            _("{path} is a folder. List it instead.").format(path=located.relative or ".")
        ) from exc
    if len(data) > MAX_BYTES:
        raise TooLarge(
            _("{path} is larger than {size} MiB.").format(
                path=located.relative, size=MAX_BYTES // 1024 // 1024
            )
        )
    return data


def _to_wire(scope: FileScope, located: Located, data: bytes) -> FileContent:
    sample = data[:SAMPLE_BYTES]
    mime = attachment_mime(sample)
    text = as_text(located, data) if mime is None else None
    if text is not None:
        return {"type": "text", "content": text}
    guessed = mime or guess_type(located.real.name)[0] or "application/octet-stream"
    return {
        "type": "binary",
        "content": scope.encode(data, located.relative),
        "encoding": "base64",
        "mimeType": guessed,
    }


def as_text(located: Located, data: bytes) -> str | None:
    """Returns: None for what is no text."""
    if is_binary(located.real.name, data[:SAMPLE_BYTES]) or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _structured(name: str, patch: str) -> FilePatch:
    hunks: list[Hunk] = []
    lines: list[str] = []
    for line in patch.split("\n"):
        if found := _HUNK.match(line):
            old, old_count, new, new_count = (int(part or 1) for part in found.groups())
            lines = []
            hunks.append(
                {
                    "oldStart": old,
                    "oldLines": old_count,
                    "newStart": new,
                    "newLines": new_count,
                    "lines": lines,
                }
            )
        elif hunks and line:
            lines.append(line)
    return {"oldFileName": name, "newFileName": name, "hunks": hunks}
