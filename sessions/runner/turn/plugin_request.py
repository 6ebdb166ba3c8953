"""What plugins make of a request to a model: its history, its system texts, its parameters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
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
from sessions.repository.plugins import COMPACTING, HISTORY, PARAMS, SYSTEM, PluginNote
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.log.text_writer import append_events
from sessions.runner.offers.plugin_hooks import HookAnswer, SessionPlugins, session_plugins
from sessions.runner.turn.plugin_history import shown_history

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


async def with_plugins(turn: ProviderTurn, lease: Lease) -> ProviderTurn:
    """Returns: the turn with the request as the plugins leave it. Nothing is done without any.

    What a plugin leaves that may not be, or that a budget does not allow, is dropped.
    """
    brought = turn.setup.config.brought
    if not brought.runs_plugins:
        return turn
    plugins = await in_db(session_plugins, turn.session, brought, turn.info.parentID)
    if plugins is None:
        return turn
    plugins.wake()
    first = (HISTORY, _with_history) if turn.summary is None else (COMPACTING, _with_notes)
    notes: list[PluginNote] = []
    for hook, change in (first, (SYSTEM, _with_system), (PARAMS, _with_params)):
        if plugins.has(hook):
            request, said = await change(turn, plugins)
            turn = replace(turn, request=request)
            notes += said
    if notes:
        await in_db(_keep_notes, turn, lease, notes)
    return turn


Changed = tuple[FundedRequest, tuple[PluginNote, ...]]


def _settled(
    request: FundedRequest, answer: HookAnswer, hook: str, fields: Callable[[], dict[str, Any]]
) -> Changed:  # Any: see `refit`
    """Put what plugins left into the request; what cannot be sent is noted."""
    if not answer.is_changed:
        return request, answer.notes
    try:
        return refit(request, **fields()), answer.notes
    except ValueError as exc:
        return request, tuple(PluginNote(path, hook, "failed", str(exc)) for path in answer.changed)


async def _with_history(turn: ProviderTurn, plugins: SessionPlugins) -> Changed:
    shown = await in_db(shown_history, turn)
    if shown is None:
        return turn.request, plugins.notes(HISTORY, "failed", "The history has changed meanwhile.")
    given = await asyncio.to_thread(shown.to_json)
    answer = await plugins.call(HISTORY, {}, given)
    return await asyncio.to_thread(
        _settled, turn.request, answer, HISTORY, lambda: {"messages": shown.messages(answer.output)}
    )


async def _with_notes(turn: ProviderTurn, plugins: SessionPlugins) -> Changed:
    about: JsonObject = {"sessionID": turn.session.pk}
    given: JsonObject = {"context": [], "prompt": None}
    answer = await plugins.call(COMPACTING, about, given)

    def fields() -> dict[str, Any]:  # Any: see `refit`
        more, prompt = _texts(answer.output.get("context")), answer.output.get("prompt")
        changed: dict[str, Any] = {}
        if prompt is not None:
            changed["system"] = _texts([prompt])
        if more:
            *before, task = turn.request.messages
            assert isinstance(task, UserMessage)
            asked = UserMessage((*task.content, *map(Text, more)))
            changed["messages"] = (*before, asked)
        return changed

    return _settled(turn.request, answer, COMPACTING, fields)


async def _with_system(turn: ProviderTurn, plugins: SessionPlugins) -> Changed:
    about: JsonObject = {"sessionID": turn.session.pk, "model": _model(turn)}
    answer = await plugins.call(SYSTEM, about, {"system": list(turn.request.system)})
    return _settled(
        turn.request, answer, SYSTEM, lambda: {"system": _texts(answer.output.get("system"))}
    )


async def _with_params(turn: ProviderTurn, plugins: SessionPlugins) -> Changed:
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
    answer = await plugins.call(PARAMS, about, params)
    return _settled(request, answer, PARAMS, lambda: _params(request, answer.output))


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


def _keep_notes(turn: ProviderTurn, lease: Lease, notes: list[PluginNote]) -> None:
    row = Part.objects.filter(message=turn.info.id, type="step-start").order_by("seq").last()
    if row is None:
        return
    part = StepStartPart.model_validate(row.data)
    told = part.model_copy(update={"plugins": [note.to_json() for note in notes]})
    append_events(lease, [PartUpdated(part=told)])
