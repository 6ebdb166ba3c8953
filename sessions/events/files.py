"""What becomes of files that came with a prompt or a result of a tool."""

from __future__ import annotations

from typing import Literal

from sessions.events.messages import Frozen


class FileRefused(Frozen):
    """A file is left out of all that one model is sent from here on.

    `part_id` is the file's part, or that of the call whose result has it, as `file_id`. `model` is
    `provider/model`; `reason` is what it reads in its place, without an end.
    """

    type: Literal["file.refused"] = "file.refused"
    message_id: str
    part_id: str
    file_id: str
    model: str
    reason: str
