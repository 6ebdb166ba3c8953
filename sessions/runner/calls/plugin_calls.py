"""What plugins make of a tool call: before anybody is asked for it, and after it has run.

They see the arguments as people do, with marks in the place of secrets. What they make of them is
what is asked for, run and kept; they are asked once for a call, also when it waits for a person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from django.db import transaction

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.known_keys import MARK
from opencode_web.lib.text import clean_json, clean_text
from sessions.commands.marks import call_of
from sessions.events.parts import ToolPart
from sessions.events.reasons import CAUSE
from sessions.events.store import append, lock_session
from sessions.events.types import PartUpdated
from sessions.repository.plugins import AFTER_CALL, BEFORE_CALL, NOTES, SHELL_ENV, PluginNote
from sessions.runner.calls.repairs import INVALID
from sessions.runner.calls.step_plugins import StepPlugins
from sessions.runner.log.held_inputs import hold_input
from sessions.runner.log.history import ENDS
from sessions.runner.log.lease import Lease
from sessions.runner.offers.plugin_hooks import PluginForbids
from tools.base import ToolResult
from tools.redaction import Redactor

_MAX_ARGUMENTS_BYTES = 1024 * 1024
_MAX_METADATA_BYTES = 32 * 1024
_MAX_TITLE_CHARS = 500
# The server does what the metadata of these say once they are done.
_ACTS_BY_METADATA = frozenset({"plan_enter", "plan_exit", "task", "todowrite", "question", "batch"})
# They say how a call has ended.
_MARKS = frozenset({"interrupted", "stoppedBy", "rejected", "outputPath", CAUSE, ENDS})
_MAX_ENV = 100
_MAX_VALUE_CHARS = 32_768
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What decides which programs run and what they load, and what the sandbox itself is made of.
_OF_SANDBOX = frozenset(
    {
        *("PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "PWD", "TERM"),
        *("IFS", "ENV", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "PROMPT_COMMAND", "PS4"),
        *(
            "NODE_OPTIONS",
            "PYTHONSTARTUP",
            "PYTHONHOME",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
        ),
    }
)
_STARTS_OF_SANDBOX = ("LD_", "GIT_", "BASH_FUNC", "DYLD_")


@dataclass(frozen=True)
class PluginCalls:
    """The plugins beside the calls of a step."""

    plugins: StepPlugins
    lease: Lease
    redactor: Redactor

    async def before(self, part: ToolPart, given: JsonObject) -> tuple[ToolPart, JsonObject] | None:
        """Returns: the call as the plugins leave it, and its arguments; None when they are not
        asked: they were already, or no model has made the call.

        Raises: PluginForbids.
        """
        if part.tool == INVALID or call_of(part) is not None or is_asked(part):
            return None
        if not self.plugins.has(BEFORE_CALL):
            return None
        shown = part.state.input
        about = self._about(part)
        answer = await self.plugins.call(BEFORE_CALL, about, {"args": shown}, stops=True)
        changed = answer.output.get("args")
        if answer.is_changed:
            if not isinstance(changed, dict) or len(json.dumps(changed)) > _MAX_ARGUMENTS_BYTES:
                raise PluginForbids(
                    f"{answer.changed[0]} has left no arguments of the call, or more than 1 MiB."
                )
            given = self._merged(shown, given, changed, answer.changed[0])
        state = part.state.model_copy(update={"input": self.redactor.json(given, keys=False)})
        return noted(part.model_copy(update={"state": state}), answer.notes, is_asked=True), given

    def _merged(
        self, shown: JsonObject, given: JsonObject, changed: JsonObject, path: str
    ) -> JsonObject:
        """What was left as it was shown stays as it was given."""
        merged: JsonObject = {}
        for name, value in changed.items():
            if name in shown and value == shown[name] and name in given:
                merged[name] = given[name]
                continue
            clean = clean_json(value)
            if MARK.search(repr(clean).encode()):
                raise PluginForbids(
                    f"{path} has changed a text with a secret that it is not shown."
                )
            merged[clean_text(name)] = clean
        return merged

    async def after(
        self, part: ToolPart, result: ToolResult
    ) -> tuple[ToolResult, tuple[PluginNote, ...]]:
        """Returns: the result with the title and the text that the plugins leave, and what they
        add to its metadata.

        Raises: PluginForbids.
        """
        if call_of(part) is not None or not self.plugins.has(AFTER_CALL):
            return result, ()
        output: JsonObject = {
            "title": result.title,
            "output": result.output,
            "metadata": result.metadata,
        }
        about = {**self._about(part), "args": part.state.input}
        answer = await self.plugins.call(AFTER_CALL, about, output, stops=True)
        title, text = answer.output.get("title"), answer.output.get("output")
        if not answer.is_changed:
            return result, answer.notes
        if not isinstance(title, str) or not isinstance(text, str):
            raise PluginForbids(f"{answer.changed[0]} has left no text of the result.")
        shown = clean_text(title)[:_MAX_TITLE_CHARS]
        metadata = _with_more(part.tool, result.metadata, answer.output.get("metadata"))
        left = replace(result, title=shown, output=clean_text(text), metadata=metadata)
        return left, answer.notes

    async def shell_env(
        self, part: ToolPart, folder: Path
    ) -> tuple[dict[str, str], tuple[PluginNote, ...]]:
        """Returns: the variables that the plugins add to a command.

        Raises: PluginForbids, also for one that no plugin may set.
        """
        if not self.plugins.has(SHELL_ENV):
            return {}, ()
        about: JsonObject = {
            "cwd": str(folder),
            "sessionID": part.sessionID,
            "callID": part.callID,
        }
        answer = await self.plugins.call(SHELL_ENV, about, {"env": {}}, stops=True)
        env = answer.output.get("env")
        if not answer.is_changed:
            return {}, answer.notes
        return _checked(env, answer.changed[0], self.redactor.secrets), answer.notes

    def _about(self, part: ToolPart) -> JsonObject:
        return {"tool": part.tool, "sessionID": part.sessionID, "callID": part.callID}


def _with_more(tool: str, known: JsonObject, given: JsonValue) -> JsonObject:
    """What a tool says of its result stays: pages and rules go by it."""
    if tool in _ACTS_BY_METADATA or not isinstance(given, dict):
        return known
    more = {
        clean_text(key): clean_json(value)
        for key, value in given.items()
        if key not in known and key not in _MARKS
    }
    return {**more, **known} if len(json.dumps(more)) <= _MAX_METADATA_BYTES else known


def _checked(env: JsonValue, path: str, secrets: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(env, dict) or len(env) > _MAX_ENV:
        raise PluginForbids(f"{path} has left no variables, or more than {_MAX_ENV}.")
    checked: dict[str, str] = {}
    for name, value in env.items():
        upper = name.upper()
        if (
            not _VARIABLE.fullmatch(name)
            or upper in _OF_SANDBOX
            or upper.startswith(_STARTS_OF_SANDBOX)
            or upper.endswith("_PROXY")
            or name in secrets
        ):
            raise PluginForbids(f"{path} sets {clean_text(name)[:80]}, which no plugin may set.")
        if not isinstance(value, str) or "\0" in value or len(value) > _MAX_VALUE_CHARS:
            raise PluginForbids(f"{path} sets {name} to something that is no short text.")
        checked[name] = clean_text(value)
    return checked


def is_asked(part: ToolPart) -> bool:
    """Whether the plugins were asked about a call before it began."""
    return NOTES in (part.metadata or {})


def noted(part: ToolPart, notes: Iterable[PluginNote], *, is_asked: bool = False) -> ToolPart:
    """Returns: the part with what plugins did added to its metadata."""
    added = [note.to_json() for note in notes]
    if not added and not is_asked:
        return part
    metadata = part.metadata or {}
    known = metadata.get(NOTES)
    before = known if isinstance(known, list) else []
    return part.model_copy(update={"metadata": {**metadata, NOTES: [*before, *added]}})


@transaction.atomic
def keep_changed(lease: Lease, part: ToolPart, given: JsonObject) -> None:
    """Put the call into the log as the plugins have left it. Raises: LeaseLost."""
    if part.state.input != given:
        hold_input(part, given)
    append(lock_session(lease.session_id, token=lease.token), [PartUpdated(part=part)])
