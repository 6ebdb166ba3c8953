"""One replacement in the bytes of a text file. Pure."""

from __future__ import annotations

from tools.errors import ToolError
from tools.files.edit_match import EditMatchError, replace_text
from tools.text_file import BOM, decode_text, encode_text

IDENTICAL = "No changes to apply: oldString and newString are identical."


def replace_in_file(
    path: object, present: bytes | None, old: str, new: str, *, replace_all: bool
) -> bytes:
    """Replace one text of a file, or create the file where there is none and `old` is empty.

    `path` names the file in errors. A byte order mark of the file stays; one in `new` adds it.

    Raises: ToolError when the text is missing or ambiguous, or there is no such file.
    """
    if present is None:
        if old:
            raise ToolError(f"File {path} not found")
        return encode_text(new, bom=False)
    if not old:
        raise ToolError(
            "oldString cannot be empty when editing an existing file. Give the text to replace, "
            "or use write to replace the whole file."
        )
    text, bom = decode_text(present)
    try:
        changed = replace_text(
            text, old.removeprefix(BOM), new.removeprefix(BOM), replace_all=replace_all
        )
    except EditMatchError as exc:
        raise ToolError(str(exc)) from exc
    return encode_text(changed, bom=bom or new.startswith(BOM))
