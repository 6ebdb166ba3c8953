"""Messages and parts as they are written into another session: new ids, the same words."""

from __future__ import annotations

from dataclasses import dataclass, field

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.events.types import SessionEvent, SessionStatus
from sessions.models import Message, Session


@dataclass
class Copier:
    """Copies the history of one session in its order; what refers back follows the new ids."""

    session_id: str
    # New ids of messages by their old ones.
    _ids: dict[str, str] = field(default_factory=dict)
    _prompt_id: str = ""
    # New ids of parts by their old ones.
    part_ids: dict[str, str] = field(default_factory=dict)

    # For how long the turn that is copied has waited for people.
    _waited_ms: int = 0

    def copy_message(self, info: JsonObject, *, waited_s: float = 0) -> JsonObject:
        """`waited_s`: for how long it has waited for people. Who answered is not copied, so the
        copy is what it would have been if nobody had been waited for.

        Returns: `info` with a new id, as a message of the new session.
        """
        message_id = new_id("msg")
        copied: JsonObject = {**info, "id": message_id, "sessionID": self.session_id}
        if info.get("role") == "assistant":
            # The prompt that it answered may have been deleted.
            nearest = self._prompt_id or message_id
            copied["parentID"] = self._ids.get(str(info.get("parentID")), nearest)
            copied["time"] = self._without_waits(info.get("time"), waited_s)
        else:
            self._prompt_id = message_id
            self._waited_ms = 0
        self._ids[str(info.get("id"))] = message_id
        return copied

    def copy_part(self, part: JsonObject, *, message_id: JsonValue) -> JsonObject:
        """Returns: `part` with a new id, as one of the new message."""
        copied = self._address(part, message_id)
        self.part_ids[str(part.get("id"))] = str(copied["id"])
        if "tail_start_id" in part:
            # Where the kept end of a compacted history begins; without it everything is compacted.
            tail = self._ids.get(str(part["tail_start_id"]))
            del copied["tail_start_id"]
            copied |= {"tail_start_id": tail} if tail else {}
        state = part.get("state")
        if isinstance(state, dict) and isinstance(files := state.get("attachments"), list):
            own = [self._address(one, message_id) for one in files if isinstance(one, dict)]
            copied["state"] = {**state, "attachments": list(own)}
        return copied

    def _without_waits(self, time: JsonValue, waited_s: float) -> JsonValue:
        if not isinstance(time, dict):
            return time
        before = self._waited_ms
        self._waited_ms += int(waited_s * 1000)
        shifts = {"created": before, "completed": self._waited_ms}
        return {
            key: at - shifts.get(key, 0) if isinstance(at, int) else at for key, at in time.items()
        }

    def _address(self, part: JsonObject, message_id: JsonValue) -> JsonObject:
        place = {"sessionID": self.session_id, "messageID": message_id}
        return {**part, "id": new_id("prt"), **place}


def settled(session: Session) -> list[SessionEvent]:
    """What a copied conversation ends with: it is done, not new. Nothing where nothing was said."""
    answers = Message.objects.filter(session=session, role="assistant")
    return [SessionStatus(state="idle", outcome="done")] if answers.exists() else []
