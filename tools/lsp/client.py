"""One server that runs: its start, the documents it has open, and what it says of them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from opencode_web.lib.json import JsonObject, JsonValue
from tools.lsp.capabilities import OURS, Capabilities
from tools.lsp.connection import Connection, ServerGone, ServerRefusal
from tools.lsp.diagnostics import Diagnostic, merge, read_diagnostics
from tools.lsp.languages import language_of
from tools.lsp.patience import Patience
from tools.lsp.requests import answer, folder_of
from tools.lsp.uris import to_path, to_uri
from tools.sandbox.service import Service

# So long after the last of several lists nothing more is expected.
_QUIET_S = 0.15
_MAX_DOCUMENTS = 64
_MAX_PUBLISHED = 100
# The document has changed, or the server wants to be asked again. Source: LSP 3.17, "ErrorCodes".
_AGAIN = frozenset({-32801, -32802})
_TRIES = 3
# After so many waits in vain a server is given little time, until it is quick once.
_WAITS_IN_VAIN = 2
_SHORT_S = 0.5
_CREATED, _CHANGED = 1, 2


@dataclass
class _Document:
    version: int
    text: str


@dataclass(frozen=True)
class _Published:
    number: int
    version: int | None
    found: tuple[Diagnostic, ...]
    at: float


class Client:
    """Speaks to a server over `service`. `connection.serve` has to run meanwhile."""

    def __init__(
        self, service: Service, *, root: Path, options: JsonObject, patience: Patience
    ) -> None:
        self.capabilities = Capabilities()
        self._root = root
        self._options = options
        self._patience = patience
        self._documents: OrderedDict[Path, _Document] = OrderedDict()
        self._published: OrderedDict[str, _Published] = OrderedDict()
        self._pulled: OrderedDict[str, tuple[Diagnostic, ...]] = OrderedDict()
        self._lists = 0
        self._news = asyncio.Event()
        self._in_vain = 0
        self.connection = Connection(service, on_request=self._answer, on_notification=self._hear)

    async def initialize(self) -> None:
        """Introduce ourselves.

        Raises: ProtocolFault, ServerGone, ServerRefusal, TimeoutError.
        """
        params: JsonObject = {
            # Ours means nothing in its namespace, and some end when they do not find it.
            "processId": None,
            "clientInfo": {"name": "opencode-web"},
            "rootPath": str(self._root),
            "rootUri": to_uri(self._root),
            "workspaceFolders": [folder_of(self._root)],
            "initializationOptions": self._options,
            "capabilities": OURS,
        }
        result = await self.connection.request(
            "initialize", params, timeout_s=self._patience.start_s
        )
        self.capabilities = Capabilities.read(result)
        self.connection.notify("initialized", {})
        if self._options:
            self.connection.notify("workspace/didChangeConfiguration", {"settings": self._options})

    def open(self, path: Path, text: str, *, changed: bool = False) -> int:
        """Have a document open with this text. `changed`: somebody has just written it.

        Returns: its version.
        """
        document = self._documents.get(path)
        if changed:
            kind = _CHANGED if document else _CREATED
            event: JsonObject = {"uri": to_uri(path), "type": kind}
            self.connection.notify("workspace/didChangeWatchedFiles", {"changes": [event]})
        if document is not None and (self.capabilities.takes_changes or not changed):
            if changed or document.text != text:
                self._change(path, document, text)
        else:
            if document is not None:
                self._close(path)
            document = self._open(path, text)
        if changed and self.capabilities.takes_saves:
            self.connection.notify(
                "textDocument/didSave", {"textDocument": {"uri": to_uri(path)}, "text": text}
            )
        self._documents.move_to_end(path)
        return document.version

    async def diagnose(self, path: Path, text: str) -> tuple[Diagnostic, ...] | None:
        """Tell that a file was written, and get what the server finds wrong in it.

        Returns: None when it did not say so in time.
        """
        before = self._lists
        version = self.open(path, text, changed=True)
        wait_s = self._patience.found_s
        if self._in_vain >= _WAITS_IN_VAIN:
            wait_s = min(wait_s, _SHORT_S)
        try:
            async with asyncio.timeout(wait_s):
                found = await self._settled(path, version, before)
        except TimeoutError:
            found = None
        self._in_vain = self._in_vain + 1 if found is None else 0
        return found

    def known(self) -> dict[Path, tuple[Diagnostic, ...]]:
        """Returns: the latest findings by file, from pushes and pulls, the newest file last."""
        known = dict(self._pulled)
        for path, published in self._published.items():
            known[path] = merge(known.pop(path, ()), published.found)
        return {Path(path): found for path, found in known.items()}

    async def ask(self, method: str, params: JsonValue) -> JsonValue:
        """Make a request, again when the server has to be asked again.

        Raises: TimeoutError, ServerGone, ServerRefusal.
        """
        for attempt in range(1, _TRIES + 1):
            try:
                return await self.connection.request(
                    method, params, timeout_s=self._patience.request_s
                )
            except ServerRefusal as exc:
                if attempt == _TRIES or exc.code not in _AGAIN:
                    raise
        raise AssertionError("the last try returns or raises")

    def _open(self, path: Path, text: str) -> _Document:
        if len(self._documents) >= _MAX_DOCUMENTS:
            self._close(next(iter(self._documents)))
        document = self._documents[path] = _Document(0, text)
        self.connection.notify(
            "textDocument/didOpen",
            {
                "textDocument": {
                    "uri": to_uri(path),
                    "languageId": language_of(path),
                    "version": 0,
                    "text": text,
                }
            },
        )
        return document

    def _change(self, path: Path, document: _Document, text: str) -> None:
        document.version += 1
        document.text = text
        self.connection.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": to_uri(path), "version": document.version},
                # The whole text: good for servers that take changes in parts, too.
                "contentChanges": [{"text": text}],
            },
        )

    def _close(self, path: Path) -> None:
        del self._documents[path]
        self.connection.notify("textDocument/didClose", {"textDocument": {"uri": to_uri(path)}})

    async def _settled(self, path: Path, version: int, before: int) -> tuple[Diagnostic, ...]:
        waits = [asyncio.create_task(self._pushed(path, version, before))]
        if self.capabilities.can("textDocument/diagnostic"):
            waits.append(asyncio.create_task(self._pull(path)))
        ended = asyncio.create_task(self.connection.ended.wait())
        try:
            while waits and not ended.done():
                done, _ = await asyncio.wait([*waits, ended], return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in waits if task in done]:
                    waits.remove(task)
                    if (found := task.result()) is not None:
                        known = self._published.get(str(path))
                        fresh = known is not None and known.number > before
                        return merge(found, known.found if known and fresh else ())
            raise TimeoutError
        finally:
            for pending in (*waits, ended):
                pending.cancel()
            await asyncio.wait([*waits, ended])

    async def _pushed(self, path: Path, version: int, before: int) -> tuple[Diagnostic, ...] | None:
        while True:
            known = self._published.get(str(path))
            left_s: float | None = None
            if known and known.number > before and known.version in (None, version):
                left_s = known.at + _QUIET_S - time.monotonic()
                if left_s <= 0:
                    return known.found
            self._news.clear()
            try:
                async with asyncio.timeout(left_s):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def _pull(self, path: Path) -> tuple[Diagnostic, ...] | None:
        """Returns: None when nothing came of it."""
        named: JsonObject = {}
        if self.capabilities.identifier:
            named["identifier"] = self.capabilities.identifier
        params: JsonObject = {"textDocument": {"uri": to_uri(path)}, **named}
        try:
            async with asyncio.timeout(self._patience.pull_s):
                result = await self.ask("textDocument/diagnostic", params)
        except (TimeoutError, ServerGone, ServerRefusal):
            return None
        if not isinstance(result, dict) or result.get("kind") != "full":
            return None
        related = result.get("relatedDocuments")
        for uri, other in related.items() if isinstance(related, dict) else []:
            if isinstance(other, dict) and other.get("kind") == "full":
                self._publish(uri, None, other.get("items"))
        found = self._pulled[str(path)] = read_diagnostics(result.get("items"))
        self._pulled.move_to_end(str(path))
        if len(self._pulled) > _MAX_PUBLISHED:
            self._pulled.popitem(last=False)
        return found

    def _answer(self, method: str, params: JsonValue) -> JsonValue:
        return answer(
            method,
            params,
            root=self._root,
            options=self._options,
            capabilities=self.capabilities,
        )

    def _hear(self, method: str, params: JsonValue) -> None:
        if method == "textDocument/publishDiagnostics" and isinstance(params, dict):
            version = params.get("version")
            given = version if isinstance(version, int) else None
            self._publish(params.get("uri"), given, params.get("diagnostics"))

    def _publish(self, uri: JsonValue, version: int | None, items: JsonValue) -> None:
        path = to_path(uri)
        if path is None:
            return
        self._lists += 1
        found = read_diagnostics(items)
        self._published[path] = _Published(self._lists, version, found, time.monotonic())
        self._published.move_to_end(path)
        if len(self._published) > _MAX_PUBLISHED:
            self._published.popitem(last=False)
        self._news.set()
