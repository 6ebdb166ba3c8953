"""What plugins make of the descriptions of tools.

OpenCode calls them for each tool and step. Here they are called once for a tool as it is described
now, as long as the plugins of a session stay the same: a description that differs each time would
have every request read anew by its provider.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_text
from providers.funding import refit
from providers.llm.messages import ToolDefinition
from sessions.repository.plugins import DEFINITION, PluginNote
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.offers.plugin_hooks import Asked, HookAnswer, SessionPlugins
from tools.mcp.pool import Key

MAX_BYTES = 64 * 1024
_MAX_SESSIONS = 200
_MAX_TOOLS = 500

Left = tuple[ToolDefinition, tuple[PluginNote, ...]]
_known: OrderedDict[Key, dict[str, tuple[ToolDefinition, Left]]] = OrderedDict()


async def with_definitions(
    turn: ProviderTurn, plugins: SessionPlugins
) -> tuple[ProviderTurn, list[PluginNote]]:
    """Returns: the turn with the tools as plugins describe them, and what is said of that."""
    known = _known.pop(plugins.process.key, {})
    _known[plugins.process.key] = known
    while len(_known) > _MAX_SESSIONS:
        _known.popitem(last=False)
    tools = turn.request.tools
    new = [tool for tool in tools if tool.name not in known or known[tool.name][0] != tool]
    answers = await plugins.call_each([_asked(tool) for tool in new])
    left = {tool.name: _left(tool, answer) for tool, answer in zip(new, answers, strict=True)}
    for tool, answer in zip(new, answers, strict=True):
        # What was late or could not be asked is asked again.
        if len(known) < _MAX_TOOLS and all(note.did == "changed" for note in answer.notes):
            known[tool.name] = tool, left[tool.name]
    found = [left[tool.name] if tool.name in left else known[tool.name][1] for tool in tools]
    notes = list(dict.fromkeys(note for _, said in found for note in said))
    if not notes:
        return turn, []
    try:
        request = refit(turn.request, tools=tuple(tool for tool, _ in found))
    except ValueError as exc:
        paths = dict.fromkeys(note.path for note in notes)
        return turn, [PluginNote(path, DEFINITION, "failed", str(exc)) for path in paths]
    return replace(turn, request=request), notes


def _asked(tool: ToolDefinition) -> Asked:
    given: JsonObject = {
        "description": tool.description,
        "parameters": tool.schema,
        "jsonSchema": tool.schema,
    }
    return Asked(DEFINITION, {"toolID": tool.name}, given)


def _left(tool: ToolDefinition, answer: HookAnswer) -> Left:
    """Texts may be others. What arguments there are stays: the server checks and runs them."""
    if not answer.is_changed:
        return tool, answer.notes
    output = answer.output
    text = output.get("description")
    schemas = [output.get(name) for name in ("jsonSchema", "parameters")]
    schema = next((one for one in schemas if one != tool.schema), tool.schema)
    if not isinstance(text, str) or not text or len(json.dumps([text, schema])) > MAX_BYTES:
        why = f"The description of {tool.name} is missing, or larger than 64 KiB."
    elif not isinstance(schema, dict) or _bare(schema) != _bare(tool.schema):
        why = f"Of the parameters of {tool.name} only descriptions can be changed."
    else:
        return replace(tool, description=clean_text(text), schema=schema), answer.notes
    failed = tuple(PluginNote(path, DEFINITION, "failed", why) for path in answer.changed)
    return tool, failed


def _bare(schema: JsonValue) -> JsonValue:
    """A schema without its descriptions; a parameter may have that name."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _bare(value)
        for key, value in schema.items()
        if key != "description" or not isinstance(value, str)
    }
