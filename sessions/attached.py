"""Files that somebody sent with a form, as parts of a prompt."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.files import MAX_FILE_BYTES
from tools.file_kind import attachment_mime

MAX_FILES = 20
_MAX_NAME_CHARS = 200


def attached_parts(files: Sequence[Any]) -> list[JsonObject]:  # Django's UploadedFile
    """Returns: a part for each file, with the type that its content has, whatever is claimed.

    Raises: Invalid for too many files, or one that is empty or too large.
    """
    if len(files) > MAX_FILES:
        raise Invalid(f"A message has at most {MAX_FILES} files.")
    return [_part(file) for file in files]


def _part(file: Any) -> JsonObject:
    name = str(file.name or "attachment").replace("\0", "")[-_MAX_NAME_CHARS:]
    if not file.size:
        raise Invalid(f"{name} is empty.")
    if file.size > MAX_FILE_BYTES:
        raise Invalid(f"{name} is too large: a file has at most {MAX_FILE_BYTES >> 20} MiB.")
    raw = file.read()
    mime = attachment_mime(raw[:16]) or "text/plain"
    url = f"data:{mime};base64,{base64.b64encode(raw).decode()}"
    return {"type": "file", "mime": mime, "filename": name, "url": url}
