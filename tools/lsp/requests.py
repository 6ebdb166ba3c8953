"""What a server asks of us, and our answers. It is never let change anything."""

from __future__ import annotations

from pathlib import Path

from opencode_web.lib.json import JsonObject, JsonValue
from tools.lsp.capabilities import Capabilities
from tools.lsp.connection import NoSuchMethod
from tools.lsp.uris import to_uri

_MAX_ITEMS = 1_000
_NOTHING = frozenset(
    {
        "window/workDoneProgress/create",
        "window/showMessageRequest",
        "workspace/semanticTokens/refresh",
        "workspace/codeLens/refresh",
        "workspace/inlayHint/refresh",
        "workspace/inlineValue/refresh",
        "workspace/diagnostic/refresh",
        "workspace/foldingRange/refresh",
    }
)


def answer(
    method: str, params: JsonValue, *, root: Path, options: JsonObject, capabilities: Capabilities
) -> JsonValue:
    """Returns: the result of a request. Raises: NoSuchMethod."""
    if method in _NOTHING:
        return None
    if method == "client/registerCapability":
        capabilities.register(params)
        return None
    if method == "client/unregisterCapability":
        capabilities.unregister(params)
        return None
    return _said(method, params, root, options)


def _said(method: str, params: JsonValue, root: Path, options: JsonObject) -> JsonValue:
    match method:
        case "workspace/configuration":
            return _configuration(params, options)
        case "workspace/workspaceFolders":
            return [folder_of(root)]
        case "workspace/applyEdit":
            return {"applied": False, "failureReason": "files are changed by tools only"}
        case "window/showDocument":
            return {"success": False}
    raise NoSuchMethod(method)


def folder_of(root: Path) -> JsonObject:
    """Describe the folder that a server works in."""
    return {"uri": to_uri(root), "name": root.name or "project"}


def _configuration(params: JsonValue, options: JsonObject) -> list[JsonValue]:
    items = params.get("items") if isinstance(params, dict) else None
    wanted = items[:_MAX_ITEMS] if isinstance(items, list) else []
    return [_section(item, options) for item in wanted]


def _section(item: JsonValue, options: JsonObject) -> JsonValue:
    """The settings of a section where there are any, else all that there are."""
    section = item.get("section") if isinstance(item, dict) else None
    found: JsonValue = options
    for name in section.split(".")[:20] if isinstance(section, str) else []:
        if not isinstance(found, dict) or name not in found:
            return options or None
        found = found[name]
    return found
