"""What plugins make of the texts of an answer, once they have come to their end, and whether the
work goes on after a summary."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from sessions.events.parts import TextPart
from sessions.repository.plugins import GO_ON, TEXT, PluginNote
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.offers.plugin_hooks import SessionPlugins
from sessions.runner.turn.plugin_request import keep_notes

MAX_BYTES = 1024 * 1024


def completer(
    turn: ProviderTurn, lease: Lease, plugins: SessionPlugins | None
) -> Callable[[TextPart], Awaitable[TextPart]] | None:
    """Returns: what plugins do with a text of an answer; None where there is nothing to do."""
    if plugins is None or turn.summary is not None or not plugins.has(TEXT):
        return None
    return partial(_complete, turn, lease, plugins)


async def goes_on(turn: ProviderTurn, lease: Lease, plugins: SessionPlugins | None) -> bool:
    """Returns: whether the work goes on after a summary that nobody has asked for."""
    if turn.summary is None or not turn.summary.part.auto:
        return False
    if plugins is None or not plugins.has(GO_ON):
        return True
    about: JsonObject = {
        "sessionID": turn.session.pk,
        "agent": turn.summary.prompt.agent,
        "model": {"id": turn.info.modelID, "providerID": turn.info.providerID},
        "provider": {"id": turn.info.providerID},
        "message": {"id": turn.summary.prompt.id, "sessionID": turn.session.pk},
        "overflow": turn.summary.is_shortened,
    }
    answer = await plugins.call(GO_ON, about, {"enabled": True})
    if answer.notes:
        await in_db(keep_notes, turn, lease, answer.notes)
    return answer.output.get("enabled") is not False


async def _complete(
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
