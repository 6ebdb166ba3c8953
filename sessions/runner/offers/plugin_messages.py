"""What plugins make of the messages of people, before a model reads them."""

from __future__ import annotations

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_text
from sessions.config.model import Config
from sessions.events.messages import UserMessage
from sessions.events.parts import PART, AnyPart, TextPart
from sessions.events.types import PartUpdated, SessionEvent
from sessions.models import Message, Part, Session
from sessions.repository.custom_tools import described
from sessions.repository.plugins import MESSAGE, PluginNote
from sessions.runner.log.steps import MessageHook
from sessions.runner.offers.plugin_hooks import HookAnswer, session_plugins

# In the metadata of a message's first text: what plugins did, also when that is nothing.
NOTES = "plugins"
MAX_TEXT_BYTES = 1024 * 1024
_MAX_ADDED = 10


def message_hook_wanted(session: Session, config: Config) -> MessageHook | None:
    """Returns: the messages that plugins have not seen yet, if they want to. No query without."""
    if not config.brought.runs_plugins:
        return None
    found = described(session.project, config.brought)
    if found is None or not any(MESSAGE in one.hooks and not one.is_off for one in found.plugins):
        return None
    answered = Message.objects.filter(session=session, role="assistant").order_by("-seq").first()
    rows = Message.objects.filter(
        session=session, role="user", seq__gt=answered.seq if answered else 0
    )
    unseen = {
        row.pk: UserMessage.model_validate(row.data)
        for row in rows.order_by("seq")
        if _is_unseen(_parts(row.pk))
    }
    return MessageHook(session, config.brought, unseen) if unseen else None


async def call_message_hook(step: MessageHook) -> list[SessionEvent]:
    """Returns: the texts of the messages as the plugins leave them, each marked as seen."""
    events: list[SessionEvent] = []
    for message_id, info in step.messages.items():
        parts = await in_db(_parts, message_id)
        plugins = await in_db(session_plugins, step.session, step.brought, message_id)
        if plugins is None:
            continue
        about: JsonObject = {
            "sessionID": step.session.pk,
            "agent": info.agent,
            "model": {"providerID": info.model.providerID, "modelID": info.model.modelID},
            "messageID": message_id,
        }
        shown: list[JsonValue] = [part.to_json() for part in parts]
        output: JsonObject = {"message": info.to_json(), "parts": shown}
        events += _changed(parts, await plugins.call(MESSAGE, about, output))
    return events


def _parts(message_id: str) -> list[AnyPart]:
    rows = Part.objects.filter(message=message_id).order_by("seq", "id")
    return [PART.validate_python(row.data) for row in rows]


def _texts(parts: list[AnyPart]) -> list[TextPart]:
    return [part for part in parts if isinstance(part, TextPart)]


def _is_unseen(parts: list[AnyPart]) -> bool:
    """A message without a text has nothing that a plugin may change."""
    texts = _texts(parts)
    return bool(texts) and not any(NOTES in (part.metadata or {}) for part in texts)


def _changed(parts: list[AnyPart], answer: HookAnswer) -> list[SessionEvent]:
    texts, notes = _texts(parts), answer.notes
    left = _left(texts, answer.output.get("parts")) if answer.is_changed else []
    if left is None:
        notes = tuple(PluginNote(path, MESSAGE, "failed") for path in answer.changed)
        left = []
    told: list[JsonValue] = [note.to_json() for note in notes]
    by_id = {part.id: part for part in left}
    first = by_id.pop(texts[0].id, texts[0])
    marked = first.model_copy(update={"metadata": {**(first.metadata or {}), NOTES: told}})
    return [PartUpdated(part=marked), *(PartUpdated(part=part) for part in by_id.values())]


def _left(texts: list[TextPart], given: JsonValue) -> list[TextPart] | None:
    """Returns: the texts that are other or new, which people did not write; None for what is no
    list of parts. Nothing but texts counts, and none is taken away."""
    if not isinstance(given, list):
        return None
    known = {part.id: part for part in texts}
    left: list[TextPart] = []
    added = 0
    for one in given:
        if not isinstance(one, dict) or one.get("type") != "text":
            continue
        text = one.get("text")
        if not isinstance(text, str) or len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
            return None
        part = known.get(str(one.get("id")))
        if part is not None and part.text != text:
            left.append(part.model_copy(update={"text": clean_text(text)}))
        elif part is None and added < _MAX_ADDED:
            added += 1
            fields = {"sessionID": texts[0].sessionID, "messageID": texts[0].messageID}
            left.append(TextPart(id=new_id("prt"), text=clean_text(text), synthetic=True, **fields))
    return left
