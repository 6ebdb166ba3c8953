"""A text file as somebody edits it: opened with a digest, and saved when that still fits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TypedDict

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Forbidden, Invalid, NotFound, TooLarge
from sessions.browse.content import as_text
from sessions.browse.file_scope import GIT_DIR, FileScope, as_invalid
from tools.files.file_change import digest_of
from tools.paths import Located, read_bytes, replace_file
from tools.permissions.rules import Action, decide
from tools.text_file import BOM, decode_text, encode_text

# A larger text is nothing that people edit in a browser.
MAX_EDIT_BYTES = 512 * 1024
# The digest of a file that is not there.
ABSENT = ""


class OpenedFile(TypedDict):
    """The text has line feeds only. `digest` is of the bytes of the file."""

    text: str
    digest: str


class SavedFile(TypedDict):
    """`path` is from the worktree; `is_new`: there was none. `newer` is the file as it is now where
    nothing was written.
    """

    path: str
    digest: str
    is_new: bool
    newer: OpenedFile | None


class _Changed(Exception):
    """It is not the file that was opened."""

    def __init__(self, present: bytes | None) -> None:
        super().__init__()
        self.present = present


async def open_file(scope: FileScope, path: str) -> OpenedFile:
    """Raises: NotFound; Forbidden by the rules; Invalid or TooLarge for what cannot be edited."""
    located = _located(scope, path)
    data = await asyncio.to_thread(_read, located)
    if data is None:
        raise NotFound("File", located.relative)
    return _opened(scope, located, data)


async def save_file(scope: FileScope, path: str, text: str, digest: str) -> SavedFile:
    """Write a text in the place of the file with this digest, or `ABSENT` where none is.

    Byte order mark and line endings stay as they are.

    Raises: as `open_file`, which holds for both texts.
    """
    located = _located(scope, path)
    unified = text.replace("\r\n", "\n").replace("\r", "\n")

    def change(present: bytes | None) -> bytes:
        if (ABSENT if present is None else digest_of(present)) != digest:
            raise _Changed(present)
        old = present or b""
        _require_no_secret(scope, located, old)
        new = unified.replace("\n", "\r\n") if b"\r\n" in old else unified
        data = encode_text(new.removeprefix(BOM), bom=decode_text(old)[1])
        for one in (old, data):
            _require_text(located, one)
        return data

    path = located.key
    try:
        with as_invalid():
            old, new = await asyncio.to_thread(
                replace_file, located, change, max_bytes=MAX_EDIT_BYTES
            )
    except _Changed as exc:
        gone: OpenedFile = {"text": "", "digest": ABSENT}
        newer = gone if exc.present is None else _opened(scope, located, exc.present)
        return {"path": path, "digest": digest, "is_new": False, "newer": newer}
    except OSError as exc:
        raise Invalid(
            _("{path} cannot be written: {why}").format(path=located.relative, why=exc.strerror)
        ) from exc
    saved = digest_of(new)
    return {"path": path, "digest": saved, "is_new": old is None, "newer": None}


def _located(scope: FileScope, path: str) -> Located:
    located = scope.locate(path)
    scope.require_read(located)
    names = located.patterns
    # What is in there says which programs git runs.
    if any(GIT_DIR in Path(name).parts for name in names) or (
        decide("edit", names, scope.rules) is Action.DENY
    ):
        raise Forbidden(
            _("The project's rules do not allow you to change {path}.").format(
                path=located.relative or "."
            )
        )
    return located


def _read(located: Located) -> bytes | None:
    try:
        with as_invalid():
            return read_bytes(located, max_bytes=MAX_EDIT_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as exc:
        raise Invalid(_("{path} is a folder.").format(path=located.relative or ".")) from exc


def _opened(scope: FileScope, located: Located, data: bytes) -> OpenedFile:
    _require_no_secret(scope, located, data)
    _require_text(located, data)
    text, _bom = decode_text(data)
    return {"text": text.replace("\r\n", "\n"), "digest": digest_of(data)}


def _require_no_secret(scope: FileScope, located: Located, data: bytes) -> None:
    """What would be shown has marks in the place of secrets, and would be saved with them."""
    if scope.redactor.data(data) is not data:
        raise Forbidden(
            _("{path} contains a secret of the project, so it cannot be edited here.").format(
                path=located.relative
            )
        )


def _require_text(located: Located, data: bytes) -> None:
    """Refuse what a text field would not give back as it is."""
    path = located.relative
    if len(data) > MAX_EDIT_BYTES:
        raise TooLarge(
            _("{path} is too large to edit here: more than {size} KiB.").format(
                path=path, size=MAX_EDIT_BYTES // 1024
            )
        )
    if as_text(located, data) is None:
        raise Invalid(_("{path} is not a text file.").format(path=path))
    breaks = data.count(b"\r\n")
    if breaks not in {0, data.count(b"\n")} or breaks != data.count(b"\r"):
        raise Invalid(
            _("{path} mixes line endings, so it cannot be edited here.").format(path=path)
        )
