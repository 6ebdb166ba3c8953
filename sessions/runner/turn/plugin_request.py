"""What plugins make of a request to a model: its system texts, then its parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_text
from providers.funding import FundedRequest, refit
from sessions.events.parts import StepStartPart
from sessions.events.types import PartUpdated
from sessions.models import Part
from sessions.repository.plugins import PARAMS, SYSTEM, PluginNote
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.log.text_writer import append_events
from sessions.runner.offers.plugin_hooks import HookAnswer, SessionPlugins, session_plugins

MAX_SYSTEM_BYTES = 1024 * 1024
_MAX_TEXTS = 100
_MOST = {"temperature": 2.0, "topP": 1.0}


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
    request, notes = turn.request, list[PluginNote]()
    for hook, apply in ((SYSTEM, _with_system), (PARAMS, _with_params)):
        if not plugins.has(hook):
            continue
        answer = await _call(plugins, hook, turn, request)
        changed = apply(request, answer.output) if answer.is_changed else request
        if changed is None:
            notes += [PluginNote(path, hook, "failed") for path in answer.changed]
            continue
        request = changed
        notes += answer.notes
    if notes:
        await in_db(_keep_notes, turn, lease, notes)
    return replace(turn, request=request)


async def _call(
    plugins: SessionPlugins, hook: str, turn: ProviderTurn, request: FundedRequest
) -> HookAnswer:
    model: JsonObject = {
        "id": turn.info.modelID,
        "modelID": turn.info.modelID,
        "providerID": turn.info.providerID,
        "name": request.model.name,
    }
    about: JsonObject = {"sessionID": turn.session.pk, "model": model}
    if hook == SYSTEM:
        return await plugins.call(hook, about, {"system": list(request.system)})
    about |= {
        "agent": turn.info.agent,
        "provider": {"id": turn.info.providerID},
        "message": {"id": turn.info.parentID, "sessionID": turn.session.pk},
    }
    params: JsonObject = {
        "temperature": request.temperature,
        "topP": request.top_p,
        "topK": request.top_k,
        "maxOutputTokens": request.max_output_tokens,
        "options": {},
    }
    return await plugins.call(hook, about, params)


def _with_system(request: FundedRequest, output: JsonObject) -> FundedRequest | None:
    """Returns: None for what cannot be sent."""
    texts = output.get("system")
    if not isinstance(texts, list) or len(texts) > _MAX_TEXTS:
        return None
    system = tuple(clean_text(text) for text in texts if isinstance(text, str))
    if len(system) < len(texts) or len("".join(system).encode()) > MAX_SYSTEM_BYTES:
        return None
    return _refitted(request, system=system)


def _with_params(request: FundedRequest, output: JsonObject) -> FundedRequest | None:
    """As above. The most that an answer may be long is only lowered; options are not taken."""
    numbers = [output.get(name) for name in ("temperature", "topP", "topK", "maxOutputTokens")]
    temperature, top_p, top_k, longest = numbers
    if not _is_within(temperature, _MOST["temperature"]) or not _is_within(top_p, _MOST["topP"]):
        return None
    if not _is_count(top_k) or not _is_count(longest):
        return None
    known = request.max_output_tokens
    if isinstance(longest, int):
        longest = longest if known is None else min(longest, known)
    return _refitted(
        request,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        max_output_tokens=known if longest is None else longest,
    )


def _refitted(request: FundedRequest, **more: Any) -> FundedRequest | None:  # see `refit`
    try:
        return refit(request, **more)
    except ValueError:
        return None


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
