"""What can be asked about a place in a file, as requests of the protocol.

Source: behaviour facts 1.14 and LSP 3.17, "Language Features".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from opencode_web.lib.json import JsonObject, JsonValue
from tools.lsp.client import Client
from tools.lsp.uris import to_uri

# A query with few letters finds every symbol there is.
_MAX_SYMBOLS = 50


class Operation(StrEnum):
    """Names of the operations, as clients and models know them."""

    DEFINITION = "goToDefinition"
    REFERENCES = "findReferences"
    HOVER = "hover"
    DOCUMENT_SYMBOLS = "documentSymbol"
    WORKSPACE_SYMBOLS = "workspaceSymbol"
    IMPLEMENTATION = "goToImplementation"
    PREPARE_CALLS = "prepareCallHierarchy"
    INCOMING = "incomingCalls"
    OUTGOING = "outgoingCalls"


_PREPARE = "textDocument/prepareCallHierarchy"
_METHODS: Mapping[Operation, str] = MappingProxyType(
    {
        Operation.DEFINITION: "textDocument/definition",
        Operation.REFERENCES: "textDocument/references",
        Operation.HOVER: "textDocument/hover",
        Operation.DOCUMENT_SYMBOLS: "textDocument/documentSymbol",
        Operation.WORKSPACE_SYMBOLS: "workspace/symbol",
        Operation.IMPLEMENTATION: "textDocument/implementation",
        Operation.PREPARE_CALLS: _PREPARE,
        Operation.INCOMING: _PREPARE,
        Operation.OUTGOING: _PREPARE,
    }
)
_CALLS: Mapping[Operation, str] = MappingProxyType(
    {
        Operation.INCOMING: "callHierarchy/incomingCalls",
        Operation.OUTGOING: "callHierarchy/outgoingCalls",
    }
)


def can(client: Client, operation: Operation) -> bool:
    """Tell whether a server offers an operation."""
    return client.capabilities.can(_METHODS[operation])


async def perform(
    client: Client, operation: Operation, path: Path, *, line: int, character: int, query: str
) -> list[JsonValue]:
    """Ask one server. `line` and `character` are its own, from 0.

    Returns: what it found, in the protocol's form.
    Raises: TimeoutError, ServerGone, ServerRefusal.
    """
    place: JsonObject = {
        "textDocument": {"uri": to_uri(path)},
        "position": {"line": line, "character": character},
    }
    if operation is Operation.DOCUMENT_SYMBOLS:
        place = {"textDocument": {"uri": to_uri(path)}}
    elif operation is Operation.WORKSPACE_SYMBOLS:
        place = {"query": query}
    elif operation is Operation.REFERENCES:
        place["context"] = {"includeDeclaration": True}
    found = _listed(await client.ask(_METHODS[operation], place))
    if operation is Operation.WORKSPACE_SYMBOLS:
        return found[:_MAX_SYMBOLS]
    if operation not in _CALLS or not found:
        return found
    return _listed(await client.ask(_CALLS[operation], {"item": found[0]}))


def _listed(result: JsonValue) -> list[JsonValue]:
    if isinstance(result, list):
        return [one for one in result if one is not None]
    return [] if result is None else [result]
