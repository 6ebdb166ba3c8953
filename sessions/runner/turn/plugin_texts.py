"""What plugins make of the texts of an answer, once they have come to their end."""

from __future__ import annotations

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from sessions.events.parts import TextPart
from sessions.repository.plugins import TEXT, PluginNote
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.offers.plugin_hooks import SessionPlugins
from sessions.runner.turn.plugin_request import keep_notes

MAX_BYTES = 1024 * 1024


async def complete_text(
    turn: ProviderTurn, lease: Lease, plugins: SessionPlugins, part: TextPart
) -> TextPart:
    """Returns: the part as plugins leave it; people have seen the text grow as it was."""
    about: JsonObject = {
        "sessionID": part.sessionID,
        "messageID": part.messageID,
        "partID": part.id,
    }
    answer = await plugins.call(TEXT, about, {"text": part.text})
    text, notes = answer.output.get("text"), answer.notes
    if not answer.is_changed:
        text = part.text
    elif not isinstance(text, str) or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        text, why = part.text, "The text is missing, or larger than 1 MiB."
        notes = tuple(PluginNote(path, TEXT, "failed", why) for path in answer.changed)
    if notes:
        await in_db(keep_notes, turn, lease, notes)
    return part.model_copy(update={"text": clean_text(text)})
