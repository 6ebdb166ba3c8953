"""Events of the System Context: what the model is told beside the conversation."""

from __future__ import annotations

from typing import Literal

from opencode_web.lib.json import JsonObject
from sessions.events.messages import Frozen

EpochReason = Literal["start", "compaction", "pruning", "move", "incompatible", "length"]


class EpochStarted(Frozen):
    """A Context Epoch begins: `baseline` is sent as it stands here until the epoch is over.

    `snapshot` has the value of each Context Source that the baseline tells of, by its key.
    """

    type: Literal["context.started"] = "context.started"
    reason: EpochReason
    baseline: list[str]
    snapshot: JsonObject


class ContextUpdated(Frozen):
    """One Mid-Conversation System Message: everything that changed since the last boundary."""

    type: Literal["context.updated"] = "context.updated"
    id: str
    text: str
    # The sources that are new or have another value, and those that are gone.
    changed: JsonObject = {}
    removed: list[str] = []


class EpochEnded(Frozen):
    """The epoch is over; the next provider turn begins another with a fresh baseline."""

    type: Literal["context.ended"] = "context.ended"
    reason: EpochReason
