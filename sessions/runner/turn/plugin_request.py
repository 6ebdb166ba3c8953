"""What plugins make of a request to a model: its history, its system texts, its parameters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_json, clean_text
from providers.account_model import AccountModel, with_options
from providers.funding import FundedRequest, refit
from providers.llm.messages import ResolvedModel, Text, UserMessage
from sessions.events.parts import StepStartPart
from sessions.events.types import PartUpdated
from sessions.models import Part
from sessions.repository.plugins import (
    COMMAND,
    COMPACTING,
    DEFINITION,
    HISTORY,
    MESSAGE,
    PARAMS,
    SYSTEM,
    PluginNote,
)
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.log.text_writer import append_events
from sessions.runner.offers.plugin_hooks import (
    Asked,
    HookAnswer,
    SessionPlugins,
    session_plugins,
)
from sessions.runner.turn.plugin_definitions import with_definitions
from sessions.runner.turn.plugin_history import ShownHistory, shown_history
from sessions.runner.turn.plugin_messages import show_messages

MAX_SYSTEM_BYTES = 1024 * 1024
_MAX_TEXTS = 100
_MAX_OPTIONS_BYTES = 16 * 1024
_MOST = {"temperature": 2.0, "topP": 1.0}
# How a model thinks and writes: none that says who is called, who pays, or what is kept there.
_OPTIONS = frozenset(
    {
        *("reasoningEffort", "reasoningSummary", "textVerbosity", "thinking", "effort"),
        *("thinkingConfig", "reasoningConfig", "parallelToolCalls", "seed"),
    }
)


async def with_plugins(
    turn: ProviderTurn, lease: Lease
) -> tuple[ProviderTurn, SessionPlugins | None]:
    """Returns: the turn with the request as the plugins leave it, and those. Nothing is done
    without any.

    What a plugin leaves that may not be, or that a budget does not allow, is dropped.
    """
    brought = turn.setup.config.brought
    if not brought.runs_plugins:
        return turn, None
    plugins, history = await in_db(_look_up, turn)
    if plugins is None:
        return turn, None
    plugins.wake()
    notes: list[PluginNote] = []
    if history is not None and plugins.has(MESSAGE, COMMAND):
        history, request, events = await show_messages(plugins, history, turn.request)
        turn = replace(turn, request=request)
        if events:
            await in_db(append_events, lease, events)
    elif history is None and turn.summary is None:
        for hook in (COMMAND, MESSAGE, HISTORY):
            notes += plugins.notes(hook, "failed", "The history has changed meanwhile.")
    if turn.summary is not None:
        turn, said = await _changed(turn, plugins, [_with_notes(turn)])
        notes += said
    # None of these sees what plugins left of another.
    changes = [_with_system(turn), _with_params(turn)]
    if history is not None and plugins.has(HISTORY):
        changes.insert(0, await asyncio.to_thread(_with_history, history))
    turn, said = await _changed(turn, plugins, changes)
    notes += said
    if plugins.has(DEFINITION) and turn.summary is None:
        turn, said = await with_definitions(turn, plugins)
        notes += said
    if notes:
        await in_db(keep_notes, turn, lease, notes)
    return turn, plugins


def _look_up(turn: ProviderTurn) -> tuple[SessionPlugins | None, ShownHistory | None]:
    plugins = session_plugins(turn.session, turn.setup.config.brought, turn.info.parentID)
    if plugins is None or turn.summary is not None:
        return plugins, None
    wanted = plugins.has(COMMAND, MESSAGE, HISTORY)
    return plugins, shown_history(turn) if wanted else None


@dataclass(frozen=True)
class _Change:
    """`fields` makes those of the request of what plugins left. It raises ValueError."""

    asked: Asked
    fields: Callable[[FundedRequest, JsonObject], dict[str, Any]]  # Any: see `refit`


async def _changed(
    turn: ProviderTurn, plugins: SessionPlugins, changes: list[_Change]
) -> tuple[ProviderTurn, list[PluginNote]]:
    notes: list[PluginNote] = []
    wanted = [one for one in changes if plugins.has(one.asked.hook)]
    answers = await plugins.call_each([one.asked for one in wanted])
    for change, answer in zip(wanted, answers, strict=True):
        left = answer
        if answer.is_changed:
            request, left = await asyncio.to_thread(_settled, turn.request, change, answer)
            turn = replace(turn, request=request)
        notes += left.notes
    return turn, notes


def _settled(
    request: FundedRequest, change: _Change, answer: HookAnswer
) -> tuple[FundedRequest, HookAnswer]:
    """Put what plugins left into the request; what cannot be sent is noted."""
    try:
        return refit(request, **change.fields(request, answer.output)), answer
    except ValueError as exc:
        failed = (
            PluginNote(path, change.asked.hook, "failed", str(exc)) for path in answer.changed
        )
        return request, HookAnswer(answer.output, tuple(failed))


def _with_history(shown: ShownHistory) -> _Change:
    asked = Asked(HISTORY, {}, shown.to_json())
    return _Change(asked, lambda request, output: {"messages": shown.messages(output)})


def _with_notes(turn: ProviderTurn) -> _Change:
    asked = Asked(COMPACTING, {"sessionID": turn.session.pk}, {"context": [], "prompt": None})
    return _Change(asked, _noted)


def _noted(request: FundedRequest, output: JsonObject) -> dict[str, Any]:  # Any: see `refit`
    more, prompt = _texts(output.get("context")), output.get("prompt")
    changed: dict[str, Any] = {}
    if prompt is not None:
        changed["system"] = _texts([prompt])
    if more:
        *before, task = request.messages
        assert isinstance(task, UserMessage)
        changed["messages"] = (*before, UserMessage((*task.content, *map(Text, more))))
    return changed


def _with_system(turn: ProviderTurn) -> _Change:
    about: JsonObject = {"sessionID": turn.session.pk, "model": _model(turn)}
    asked = Asked(SYSTEM, about, {"system": list(turn.request.system)})
    return _Change(asked, lambda request, output: {"system": _texts(output.get("system"))})


def _with_params(turn: ProviderTurn) -> _Change:
    request = turn.request
    about: JsonObject = {
        "sessionID": turn.session.pk,
        "model": _model(turn),
        "agent": turn.info.agent,
        "provider": {"id": turn.info.providerID},
        "message": {"id": turn.info.parentID, "sessionID": turn.session.pk},
    }
    options = request.model.options
    params: JsonObject = {
        "temperature": request.temperature,
        "topP": request.top_p,
        "topK": request.top_k,
        "maxOutputTokens": request.max_output_tokens,
        "options": {key: value for key, value in options.items() if key in _OPTIONS},
    }
    return _Change(Asked(PARAMS, about, params), _params)


def _model(turn: ProviderTurn) -> JsonObject:
    return {
        "id": turn.info.modelID,
        "modelID": turn.info.modelID,
        "providerID": turn.info.providerID,
        "name": turn.request.model.name,
    }


def _texts(given: JsonValue) -> tuple[str, ...]:
    """Raises: ValueError for what cannot be sent."""
    if not isinstance(given, list) or len(given) > _MAX_TEXTS:
        raise ValueError(f"There is no list of at most {_MAX_TEXTS} texts.")
    texts = tuple(clean_text(text) for text in given if isinstance(text, str))
    if len(texts) < len(given) or len("".join(texts).encode()) > MAX_SYSTEM_BYTES:
        raise ValueError("There are other things than texts, or more than 1 MiB.")
    return texts


def _params(request: FundedRequest, output: JsonObject) -> dict[str, Any]:  # Any: see `refit`
    """The most that an answer may be long is only lowered. Raises: ValueError."""
    for name, most in _MOST.items():
        if not _is_within(output.get(name), most):
            raise ValueError(f"{name} is no number from 0 to {most:g}.")
    top_k, longest, options = (output.get(name) for name in ("topK", "maxOutputTokens", "options"))
    if not _is_count(top_k) or not _is_count(longest):
        raise ValueError("topK or maxOutputTokens is no positive integer.")
    known = request.max_output_tokens
    if isinstance(longest, int):
        longest = longest if known is None else min(longest, known)
    return {
        "temperature": output.get("temperature"),
        "top_p": output.get("topP"),
        "top_k": top_k,
        "max_output_tokens": known if longest is None else longest,
        "model": _with_options(request.model, options),
    }


def _with_options(model: ResolvedModel, given: JsonValue) -> ResolvedModel:
    """Others than those of `_OPTIONS` stay as they were."""
    if not isinstance(given, dict) or len(json.dumps(given)) > _MAX_OPTIONS_BYTES:
        raise ValueError("options is no object, or larger than 16 KiB.")
    assert isinstance(model, AccountModel)
    kept = {key: value for key, value in model.options.items() if key not in _OPTIONS}
    taken = {key: clean_json(value) for key, value in given.items() if key in _OPTIONS}
    return with_options(replace(model, options=kept), taken)


def _is_within(value: JsonValue, most: float) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


def _is_count(value: JsonValue) -> bool:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31


def keep_notes(turn: ProviderTurn, lease: Lease, notes: Iterable[PluginNote]) -> None:
    """Put what plugins did into the log, beside the step."""
    row = Part.objects.filter(message=turn.info.id, type="step-start").order_by("seq").last()
    if row is None:
        return
    part = StepStartPart.model_validate(row.data)
    known, said = part.plugins or [], [note.to_json() for note in notes]
    # Another try of an answer says the same again.
    told = part.model_copy(update={"plugins": [*known, *(one for one in said if one not in known)]})
    append_events(lease, [PartUpdated(part=told)])
