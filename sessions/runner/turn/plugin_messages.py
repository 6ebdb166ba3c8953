"""What plugins make of the messages of people, before a model reads them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_text
from providers.funding import FundedRequest, refit
from sessions.commands.marks import is_shell_step, read_mark
from sessions.events.messages import UserMessage
from sessions.events.parts import AnyPart, TextPart
from sessions.events.types import PartUpdated, SessionEvent
from sessions.repository.plugins import COMMAND, MESSAGE, NOTES, PluginNote
from sessions.runner.log.model_history import HistoryEntry
from sessions.runner.offers.plugin_hooks import HookAnswer, SessionPlugins
from sessions.runner.turn.plugin_history import ShownHistory

MAX_TEXT_BYTES = 1024 * 1024
_MAX_ADDED = 10
_MAX_KNOWN = 1_000
# Up to where plugins have seen the messages of a session. Those of which nothing is in the log are
# seen once more when another process tries their turn again.
_seen: OrderedDict[str, int] = OrderedDict()


async def show_messages(
    plugins: SessionPlugins, history: ShownHistory, request: FundedRequest
) -> tuple[ShownHistory, FundedRequest, list[SessionEvent]]:
    """Have plugins see the messages that no answer follows yet, each once.

    Of one that a command became, the hook of commands is called before.

    Returns: history and request with what they left, and what the log is to have of it.
    """
    session_id = plugins.process.session.pk
    events: list[SessionEvent] = []
    for entry in _unseen(session_id, history.entries):
        now, notes = entry, list[PluginNote]()
        for about in _asked(now):
            if not plugins.has(about.hook):
                continue
            answer = await plugins.call(about.hook, about.given, about.output(now.parts))
            left, said = _left(_texts(now.parts), answer, about.hook)
            changed = history.with_parts(now.row.pk, left)
            try:
                if left:
                    request = refit(request, messages=changed.built)
                    history, now = changed, changed.entry(now.row.pk)
            except ValueError as exc:
                said = _failed(answer, about.hook, str(exc))
            notes += said
        if notes:
            events += _events(entry, now, notes)
        _seen.pop(session_id, None)
        _seen[session_id] = entry.row.seq
        while len(_seen) > _MAX_KNOWN:
            _seen.popitem(last=False)
    return history, request, events


@dataclass(frozen=True)
class _About:
    """A hook about a message: what it is given beside the parts of the message."""

    hook: str
    given: JsonObject
    beside: JsonObject

    def output(self, parts: list[AnyPart]) -> JsonObject:
        return {**self.beside, "parts": [part.to_json() for part in parts]}


def _asked(entry: HistoryEntry) -> list[_About]:
    info = UserMessage.model_validate(entry.row.data)
    message: JsonObject = {
        "sessionID": info.sessionID,
        "agent": info.agent,
        "model": {"providerID": info.model.providerID, "modelID": info.model.modelID},
        "messageID": info.id,
    }
    asked = [_About(MESSAGE, message, {"message": info.to_json()})]
    mark = read_mark(entry.parts[0])
    if mark is not None and not mark.typed:
        command: JsonObject = {
            "command": mark.name,
            "sessionID": info.sessionID,
            "arguments": mark.arguments,
        }
        asked.insert(0, _About(COMMAND, command, {}))
    return asked


def _unseen(session_id: str, entries: Iterable[HistoryEntry]) -> list[HistoryEntry]:
    """A message without a text has nothing that a plugin may change."""
    newest: list[HistoryEntry] = []
    for entry in entries:
        if entry.is_prompt:
            newest.append(entry)
        elif not is_shell_step(entry.parts):
            newest = []
    seen = _seen.get(session_id, -1)
    return [
        entry
        for entry in newest
        if entry.row.seq > seen
        and (texts := _texts(entry.parts))
        and not any(NOTES in (part.metadata or {}) for part in texts)
    ]


def _events(entry: HistoryEntry, left: HistoryEntry, notes: list[PluginNote]) -> list[SessionEvent]:
    told: list[JsonValue] = [note.to_json() for note in notes]
    first, *others = _texts(left.parts)
    marked = first.model_copy(update={"metadata": {**(first.metadata or {}), NOTES: told}})
    changed = (part for part in others if part not in entry.parts)
    return [PartUpdated(part=marked), *(PartUpdated(part=part) for part in changed)]


def _failed(answer: HookAnswer, hook: str, why: str) -> tuple[PluginNote, ...]:
    return tuple(PluginNote(path, hook, "failed", why) for path in answer.changed)


def _texts(parts: list[AnyPart]) -> list[TextPart]:
    return [part for part in parts if isinstance(part, TextPart)]


def _left(
    texts: list[TextPart], answer: HookAnswer, hook: str
) -> tuple[list[TextPart], tuple[PluginNote, ...]]:
    """Returns: the texts that are other or new, which people did not write, and what is said of it.
    Nothing but texts counts, and none is taken away."""
    given = answer.output.get("parts")
    if not answer.is_changed:
        return [], answer.notes
    if not isinstance(given, list):
        return [], _failed(answer, hook, "There is no list of parts.")
    known = {part.id: part for part in texts}
    left: list[TextPart] = []
    added = 0
    for one in given:
        if not isinstance(one, dict) or one.get("type") != "text":
            continue
        text = one.get("text")
        if not isinstance(text, str) or len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
            return [], _failed(answer, hook, "A text is missing, or larger than 1 MiB.")
        part = known.get(str(one.get("id")))
        if part is not None and part.text != text:
            left.append(part.model_copy(update={"text": clean_text(text)}))
        elif part is None and added < _MAX_ADDED:
            added += 1
            fields = {"sessionID": texts[0].sessionID, "messageID": texts[0].messageID}
            left.append(TextPart(id=new_id("prt"), text=clean_text(text), synthetic=True, **fields))
    return left, answer.notes
