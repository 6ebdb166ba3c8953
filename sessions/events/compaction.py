"""The event of a finished compaction."""

from __future__ import annotations

from typing import Literal

from sessions.events.messages import Frozen


class SessionCompacted(Frozen):
    """From here on the model reads the summary in place of what came before `history_from`.

    Units: `history_from` is a sequence number: what stands from there on up to the message that
    asked for the summary is kept verbatim. `before` and `after` are tokens of the conversation.
    """

    type: Literal["session.compacted"] = "session.compacted"
    message_id: str
    summary_id: str
    history_from: int
    before: int
    after: int
    # It has made too little room.
    in_vain: bool
