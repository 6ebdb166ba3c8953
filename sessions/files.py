"""Files that come with a prompt: attached as data, or named in the project."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.ids import new_id
from sessions.events.parts import AnyPart, FilePart, TextPart
from sessions.models import Session

MAX_FILE_BYTES = 20 * 1024 * 1024
# Shown to models and in browsers; none of these can hold a script.
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def decode_data_url(url: str) -> bytes:
    """Raises: Invalid when it is not a data: URL, is broken, or holds more than 20 MiB."""
    head, comma, body = url.partition(",")
    if not head.startswith("data:") or not comma:
        raise Invalid("A file has to come as a data: URL or as file:// inside the project.")
    try:
        raw = (
            base64.b64decode(body, validate=True)
            if head.endswith(";base64")
            else unquote_to_bytes(body)
        )
    except binascii.Error as exc:
        raise Invalid("The file's data: URL is not valid base64.") from exc
    if len(raw) > MAX_FILE_BYTES:
        raise Invalid(
            _("A file has at most {size} MiB.").format(size=MAX_FILE_BYTES // 1024 // 1024)
        )
    return raw


def resolve_file_part(part: AnyPart, session: Session) -> list[AnyPart]:
    """Returns: the parts a file becomes: for text its content as a synthetic part before it.

    A file:// URL is handed to the agent as a path to read: it reads with the prompter's rights, in
    the sandbox of the turn, and sees the file as it is then.

    Raises: Invalid for an unknown kind of file, or one outside the session's folder.
    """
    if not isinstance(part, FilePart):
        return [part]
    if part.url.startswith("file:"):
        path = unquote(urlsplit(part.url).path)
        if path != session.directory and not path.startswith(f"{session.directory}/"):
            raise Invalid(f"Not in the folder of this session: {path}")
        return [
            _note(part, f"The user points to the file {path}. Read it before you answer."),
            part,
        ]
    raw = decode_data_url(part.url)
    if part.mime in PICTURES:
        return [part]
    try:
        text = raw.decode()
    except UnicodeDecodeError as exc:
        raise Invalid(
            _("{name} is neither text nor a supported image.").format(
                name=part.filename or _("The file")
            )
        ) from exc
    name = part.filename or "attachment"
    return [_note(part, f"The user attached {name}:\n\n{text}"), part]


def _note(part: FilePart, text: str) -> TextPart:
    return TextPart(
        id=new_id("prt"),
        sessionID=part.sessionID,
        messageID=part.messageID,
        text=text,
        synthetic=True,
    )
