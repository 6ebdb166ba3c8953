"""Files that somebody sent with a form, as parts of a prompt."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.files import MAX_FILE_BYTES
from tools.files.file_kind import attachment_mime

MAX_FILES = 20
_MAX_NAME_CHARS = 200


def attached_parts(files: Sequence[Any]) -> list[JsonObject]:  # Django's UploadedFile
    """Returns: a part for each file, with the type that its content has, whatever is claimed.

    Raises: Invalid for too many files, or one that is empty or too large.
    """
    if len(files) > MAX_FILES:
        raise Invalid(_("A message can have at most {count} files.").format(count=MAX_FILES))
    return [_part(file) for file in files]


def attached_texts(files: Sequence[Any]) -> list[str]:  # as above
    """Returns: what stands in those that are text; the files can be read again."""
    texts = []
    for file in files:
        if file.size <= MAX_FILE_BYTES:
            raw = file.read()
            file.seek(0)
            if not attachment_mime(raw[:16]):
                texts.append(raw.decode(errors="replace"))
    return texts


def _part(file: Any) -> JsonObject:
    name = str(file.name or "attachment").replace("\0", "")[-_MAX_NAME_CHARS:]
    if not file.size:
        raise Invalid(_("{name} is empty.").format(name=name))
    if file.size > MAX_FILE_BYTES:
        raise Invalid(
            _("{name} is too large: a file can have at most {size} MiB.").format(
                name=name, size=MAX_FILE_BYTES >> 20
            )
        )
    raw = file.read()
    mime = attachment_mime(raw[:16]) or "text/plain"
    url = f"data:{mime};base64,{base64.b64encode(raw).decode()}"
    return {"type": "file", "mime": mime, "filename": name, "url": url}
