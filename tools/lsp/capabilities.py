"""What we tell a server that we can do, and what it says that it can.

Source: LSP 3.17, "Initialize Request" and the sections of the requests.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from opencode_web.lib.json import JsonObject, JsonValue
from tools.lsp.framing import ProtocolFault
from tools.lsp.positions import ENCODING

OURS: JsonObject = {
    "general": {"positionEncodings": [ENCODING]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "symbol": {"dynamicRegistration": True},
        "diagnostics": {"refreshSupport": False},
    },
    "textDocument": {
        "synchronization": {"dynamicRegistration": False, "didSave": True},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": False},
        # Not later on: the first edit would wait for a list that has to be asked for by then.
        "diagnostic": {"dynamicRegistration": False, "relatedDocumentSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "definition": {"linkSupport": False},
        "implementation": {"linkSupport": False},
        "references": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "callHierarchy": {},
    },
}

# Ways in which a document's changes are told.
_NONE = 0

_PROVIDERS = {
    "textDocument/definition": "definitionProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/hover": "hoverProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "workspace/symbol": "workspaceSymbolProvider",
    "textDocument/implementation": "implementationProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "textDocument/diagnostic": "diagnosticProvider",
}
_MAX_REGISTERED = 200


@dataclass
class Capabilities:
    """Of one server. `registered` are methods that it has offered after its start."""

    offered: JsonObject = field(default_factory=dict)
    registered: set[str] = field(default_factory=set)
    # Of the pulled diagnostics, when the server names them.
    identifier: str = ""

    @classmethod
    def read(cls, result: JsonValue) -> Capabilities:
        """Read the answer to `initialize`. Raises: ProtocolFault."""
        offered = result.get("capabilities") if isinstance(result, dict) else None
        if not isinstance(offered, dict):
            raise ProtocolFault("it did not say what it can do")
        if offered.get("positionEncoding", ENCODING) != ENCODING:
            raise ProtocolFault("it counts columns in a way that it was not offered")
        provider = offered.get("diagnosticProvider")
        identifier = provider.get("identifier") if isinstance(provider, dict) else ""
        return cls(offered, identifier=identifier if isinstance(identifier, str) else "")

    def can(self, method: str) -> bool:
        """Tell whether a request makes sense."""
        # An empty object is a yes.
        offered = self.offered.get(_PROVIDERS[method], False)
        return offered not in (None, False) or method in self.registered

    @property
    def takes_changes(self) -> bool:
        """Whether it wants to be told what became of an open document."""
        sync = self.offered.get("textDocumentSync")
        kind = sync.get("change", _NONE) if isinstance(sync, dict) else sync
        return bool(kind)

    @property
    def takes_saves(self) -> bool:
        """Whether it wants to be told that a document lies on the disk."""
        sync = self.offered.get("textDocumentSync")
        return isinstance(sync, dict) and sync.get("save") not in (None, False)

    def register(self, params: JsonValue) -> None:
        """Note what a server offers later."""
        for one in _registrations(params, "registrations"):
            if len(self.registered) < _MAX_REGISTERED:
                self.registered.add(one)

    def unregister(self, params: JsonValue) -> None:
        """Note what it no longer offers."""
        # The protocol has this misspelling.
        self.registered.difference_update(_registrations(params, "unregisterations"))


def _registrations(params: JsonValue, key: str) -> list[str]:
    found = params.get(key) if isinstance(params, dict) else None
    if not isinstance(found, list):
        return []
    methods = [one.get("method") for one in found[:_MAX_REGISTERED] if isinstance(one, dict)]
    return [method for method in methods if isinstance(method, str)]
