"""What a model has really given to a call whose part in the log has marks in the place of keys.

What a tool writes to disk must not change because of what is shown of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from opencode_web.lib.crypto import DecryptionError, decrypt, encrypt
from opencode_web.lib.json import JsonObject
from opencode_web.lib.known_keys import MARK
from sessions.events.parts import ToolPart, ToolPending
from sessions.models import HeldInput, Part
from tools.errors import ToolError

_OPEN = ("pending", "running")


def hold_input(part: ToolPart, arguments: JsonObject) -> None:
    """Keep the arguments of a call until it has ended. What ended calls have left goes."""
    open_calls = Part.objects.filter(
        session=part.sessionID, type="tool", data__state__status__in=_OPEN
    )
    rows = HeldInput.objects.filter(session=part.sessionID)
    rows.exclude(part__in=open_calls.values("pk")).exclude(part=part.id).delete()
    HeldInput.objects.update_or_create(
        part=part.id,
        defaults={"session_id": part.sessionID, "arguments": encrypt(json.dumps(arguments))},
    )


def hold_inputs(parts: Sequence[ToolPart], given: Mapping[str, JsonObject]) -> None:
    """Keep what is `given`, by the ids of the parts, to calls that are still to be made."""
    for part in parts:
        if part.id in given and isinstance(part.state, ToolPending):
            hold_input(part, given[part.id])


def stands_for_more(part: ToolPart) -> bool:
    """Whether something may be held of a call."""
    return MARK.search(json.dumps(part.state.input).encode()) is not None


def input_of(part: ToolPart) -> JsonObject:
    """Returns: the arguments of a call as they were given.

    Raises: ToolError when they cannot be read any more.
    """
    row = HeldInput.objects.filter(part=part.id).first()
    if row is None:
        # The model has written the mark itself.
        return part.state.input
    try:
        given: JsonObject = json.loads(decrypt(row.arguments))
    except DecryptionError as exc:
        raise ToolError("The arguments are not readable any more. Make the call again.") from exc
    return given


def drop_input(part: ToolPart) -> None:
    """The call has ended."""
    HeldInput.objects.filter(part=part.id).delete()
