"""All plugins that are asked about the calls of a step: those of the repository first, then those
that the operator has installed, which have the last word.

What an installed one may change is what one of a repository may. It forbids a call with
`ToolFailure`, and also by failing: a guard that cannot be asked is not passed.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, object_of, read_json
from opencode_web.lib.plugins.calls import HookFailed, ask_hook, refuse_result
from opencode_web.lib.plugins.loading import Hook, hooks_of
from opencode_web.lib.plugins.values import Place, ToolCall, ToolFailure, ToolOutput
from opencode_web.lib.text import clean_text
from sessions.repository.plugins import AFTER_CALL, BEFORE_CALL, PluginNote
from sessions.runner.offers.plugin_hooks import HookAnswer, PluginForbids, SessionPlugins

_NAMES = {BEFORE_CALL: "before_tool", AFTER_CALL: "after_tool"}


@dataclass(frozen=True)
class StepPlugins:
    """`of_repository`: None where its repository has none."""

    place: Place
    message_id: str
    agent: str
    of_repository: SessionPlugins | None

    def has(self, hook: str) -> bool:
        """Whether a plugin is to be called, or its absence is to be noticed."""
        return bool(_installed(hook)) or self._has_own(hook)

    async def call(
        self, hook: str, given: JsonObject, output: JsonObject, *, stops: bool = False
    ) -> HookAnswer:
        """As `SessionPlugins.call`. Raises: PluginForbids."""
        answer = HookAnswer(output)
        if self.of_repository is not None and self._has_own(hook):
            answer = await self.of_repository.call(hook, given, output, stops=stops)
            if _installed(hook):
                _require_whole(hook, answer)
        for one in _installed(hook):
            left = await self._ask(one, given, answer.output)
            if left != answer.output:
                name = one.plugin.name
                note = PluginNote(name, hook, "changed")
                answer = HookAnswer(left, (*answer.notes, note), (*answer.changed, name))
        return answer

    def _has_own(self, hook: str) -> bool:
        return self.of_repository is not None and self.of_repository.has(hook)

    async def _ask(self, hook: Hook, given: JsonObject, output: JsonObject) -> JsonObject:
        """Returns: what the hook leaves of the output. Raises: PluginForbids."""
        name = hook.plugin.name
        if hook.is_resting:
            raise PluginForbids(
                f"The plugin {name} decides about this and is switched off for some minutes, "
                "because it failed several times. The operator of the server sees why."
            )
        call = ToolCall(
            **vars(self.place),
            tool=str(given["tool"]),
            session_id=str(given["sessionID"]),
            message_id=self.message_id,
            call_id=str(given["callID"]),
            agent=self.agent,
        )
        is_before = hook.name == _NAMES[BEFORE_CALL]
        asked: dict[str, object] = {
            "call": call,
            "arguments": copy.deepcopy(output["args"] if is_before else given["args"]),
        }
        if not is_before:
            metadata = copy.deepcopy(object_of(output, "metadata"))
            asked["output"] = ToolOutput(str(output["output"]), str(output["title"]), metadata)
        try:
            return _left(hook, await ask_hook(hook, asked), output)
        except ToolFailure as exc:
            raise PluginForbids(f"{name}: {clean_text(str(exc))}") from exc
        except HookFailed as exc:
            raise PluginForbids(f"The plugin {name} could not be asked about this call.") from exc


def _require_whole(hook: str, answer: HookAnswer) -> None:
    """Raises: PluginForbids for what no installed plugin expects to be asked about."""
    left = answer.output
    is_whole = (
        isinstance(left.get("args"), dict)
        if hook == BEFORE_CALL
        else isinstance(left.get("title"), str) and isinstance(left.get("output"), str)
    )
    if answer.is_changed and not is_whole:
        raise PluginForbids(
            f"{answer.changed[0]} has left no arguments of the call, or no text of its result."
        )


def _installed(hook: str) -> list[Hook]:
    return hooks_of(_NAMES[hook]) if hook in _NAMES else []


def _left(hook: Hook, found: object, output: JsonObject) -> JsonObject:
    """Returns: the output with what the hook has returned. Raises: HookFailed when that is nothing
    that can be stored."""
    if found is None:
        return output
    left: dict[str, object] = {}
    if hook.name == _NAMES[BEFORE_CALL] and isinstance(found, dict):
        left = {"args": found}
    elif hook.name == _NAMES[AFTER_CALL] and isinstance(found, ToolOutput):
        left = {"title": found.title, "output": found.text, "metadata": found.metadata}
    try:
        plain = read_json(json.dumps(left))
    except (TypeError, ValueError, RecursionError) as exc:
        raise refuse_result(hook, "returned something that is no JSON") from exc
    if not isinstance(plain, dict) or not plain:
        raise refuse_result(hook, f"returned a {type(found).__name__}")
    return plain
