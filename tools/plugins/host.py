from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from opencode_web.lib.json import JsonObject, JsonValue
from tools.custom.run import node
from tools.errors import ToolError
from tools.mcp.calls import Ask, Call
from tools.mcp.exchange import Exchange, Greeted, NotBegun, ServerGone, serving
from tools.mcp.stdio import Lines
from tools.plugins.loaded import list_of
from tools.plugins.store import PackageFolder
from tools.sandbox.base import Command, Sandbox, SandboxError
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.mounts import HOME
from tools.sandbox.service import Service, open_service

LOAD_S = 10.0
TOOL_S = 300.0
EVENTS_S = 5.0
DISPOSE_S = 1.0
# Of the process with all that it starts.
MEMORY_BYTES = 512 * 1024 * 1024
_HEAP = "--max-old-space-size=192"
_PROCESSES = 64
_MAX_SAID_CHARS = 2_000
_MOST_LEVELS = 100
_AT = ".at"
_TEXTS = ("bun.mjs", "imports.mjs", "host.mjs")
# All of it as one module: see static/vendor/update.py.
_ZOD = "static/vendor/zod-4.1.8/zod.mjs"
_MAX_AT_BYTES = 64 * 1024
_MOST_ASKS = 8
NO_NODE = "Plugins need Node.js 20 or later in the sandbox, and there is none."
ONLY_SANDBOXED = "Plugins only run in the sandbox, which is not available here."


# Answers what plugins ask the server while one call is at work: the name of a function of `client`
# and its argument, to `{data}` or `{error}`. It raises ToolError for what they are not offered.
Client = Callable[[str, JsonObject], Awaitable[JsonObject]]


async def nobody(name: str, given: JsonObject) -> JsonObject:
    """The `client` where nobody has prompted."""
    raise ToolError(f"client.{name} is not available to plugins.")


class PluginLate(ToolError):
    """A plugin did not answer in time. `path` is that plugin; empty when it is not known."""

    def __init__(self, path: str, limit_s: float) -> None:
        super().__init__(f"It took longer than {limit_s:g} s.")
        self.path = path


@dataclass(frozen=True)
class Hooked:
    """What came of a hook: `failed` says for each plugin that threw what it said."""

    output: JsonObject
    changed: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


class _MarkedLines(Lines):
    """Only lines with the marker are messages; a plugin may print anything else."""

    def __init__(self, service: Service, marker: str) -> None:
        super().__init__(service)
        self._marker = marker.encode()

    def message_in(self, line: bytes) -> bytes:
        return line[len(self._marker) :] if line.startswith(self._marker) else b""


@dataclass
class _PluginExchange(Exchange):
    """Nobody is asked by plugins but the `client` of the call that they name.

    The process keeps in the file `at` which plugin each request is at.
    """

    at: Path = Path()
    was_late: bool = False

    def plugin_of(self, call: Call) -> str:
        """Returns: where a request is; what has not begun waits for what was begun last."""
        paths = _read_paths(self.at)
        return paths.get(call.number) or next(reversed(paths.values()), "")

    def _asked(self, ask: Ask) -> None:
        call = self.open_call(ask.params.get("progressToken"))
        if ask.method != "client" or call is None or len(call.asks) >= _MOST_ASKS:
            self.refuse(ask, f"Only calls at work are answered, {_MOST_ASKS} questions at once.")
            return
        call.asks.append(ask)
        call.stirred.set()


@dataclass(frozen=True)
class PluginProgram:
    """The process of a worktree's plugins: `files` are its texts by path, `entries` are plugins,
    by their paths or those of `packages`."""

    sandbox: Sandbox
    worktree: Path
    directory: Path
    files: Mapping[str, str] = field(repr=False)
    entries: tuple[str, ...]
    project: JsonObject
    packages: tuple[PackageFolder, ...] = ()
    # Of those that load.
    client: Client = field(default=nobody, compare=False, repr=False)
    # The settings in force, which their hook `config` is given.
    config: JsonObject = field(default_factory=dict, compare=False, repr=False)

    @property
    def _wants_zod(self) -> bool:
        """Whether to send it: its text is larger than all else."""
        named = any("zod" in text or "schema" in text for text in self.files.values())
        return named or bool(self.packages)

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[Greeted]:
        """Start it and load the plugins; it is gone with all it started when the block is left.

        Raises: PluginLate; ToolError.
        """
        if self.sandbox.refusal:
            raise ToolError(self.sandbox.refusal)
        if not isinstance(self.sandbox, BubblewrapSandbox):
            raise ToolError(ONLY_SANDBOXED)
        marker = f"{secrets.token_hex(16)}:"
        at = _folder(self.sandbox) / "home" / _AT
        with contextlib.suppress(OSError):
            at.unlink()  # what an earlier process was at says nothing of this one
        command = Command(argv=node(_host(), _HEAP), cwd=self.directory, timeout_s=None)
        try:
            async with open_service(self._walled(self.sandbox), command) as service:
                exchange = _PluginExchange(_MarkedLines(service, marker), at=at)
                async with serving(exchange):
                    given: JsonObject = {
                        "marker": marker,
                        "at": str(HOME / _AT),
                        "files": dict(self.files),
                        "zod": _zod() if self._wants_zod else "",
                        "entries": list(self.entries),
                        "packages": [one.to_json() for one in self.packages],
                        "folder": str(self.worktree),
                        "directory": str(self.directory),
                        "project": self.project,
                        "config": self.config,
                    }
                    hello = await _ask(exchange, "load", given, LOAD_S, self.client)
                    yield Greeted(exchange, hello)
        except SandboxError as exc:
            raise ToolError(f"The plugins could not be started: {exc}") from exc
        except (ServerGone, NotBegun) as exc:
            if "exec: node" not in exc.message:
                raise
            raise ToolError(NO_NODE) from exc

    def _walled(self, sandbox: BubblewrapSandbox) -> BubblewrapSandbox:
        """No network, and a home that no command of an agent writes to."""
        lent = (*sandbox.layout.lent, *(one.folder for one in self.packages))
        layout = replace(sandbox.layout, session_dir=_folder(sandbox), lent=lent)
        limits = sandbox.limits.lowered(memory_bytes=MEMORY_BYTES, processes=_PROCESSES)
        return replace(sandbox, layout=layout, limits=limits, network=False, hosts=None)


def _folder(sandbox: BubblewrapSandbox) -> Path:
    return sandbox.layout.session_dir / "plugins"


def _read_paths(at: Path) -> dict[int, str]:
    """Plugins may have left anything there."""
    try:
        fd = os.open(at, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            line = file.read(_MAX_AT_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
        pairs = json.loads(line.partition(b"\n")[0])
        return {int(number): str(path) for number, path in pairs}
    except (OSError, ValueError, TypeError, RecursionError):
        return {}


@dataclass(frozen=True)
class HookCall:
    """What plugins are given: they change `output` in their order, but for those in `without`.

    With `stops` the first that throws is the last. Each call has `limit_s` once those that were
    sent with it before it are answered.
    """

    name: str
    given: JsonObject = field(repr=False)
    output: JsonObject = field(repr=False)
    limit_s: float
    without: Collection[str] = ()
    stops: bool = False

    def to_json(self) -> JsonObject:
        """Returns: the parameters of the request."""
        return {
            "name": self.name,
            "input": self.given,
            "output": self.output,
            "without": list(self.without),
            "stops": self.stops,
        }


async def call_hooks(
    exchange: Exchange,
    calls: Sequence[HookCall],
    *,
    on_answer: Callable[[Hooked], None],
    client: Client = nobody,
) -> None:
    """Send all at once, and wait for the answers in their order. Neither the paths nor the values
    in an output are checked.

    Raises: PluginLate; ToolError when there is no answer.
    """
    with contextlib.ExitStack() as begun:
        sent = []
        for one in calls:
            sent.append(call := exchange.begin("hook", one.to_json(), follows=True))
            begun.callback(exchange.end, call)
        for one, call in zip(calls, sent, strict=True):
            answer = await _within(exchange, call, one.limit_s, client)
            on_answer(_hooked({"output": one.output, **answer}))


def _hooked(answer: JsonObject) -> Hooked:
    changed, failed = answer.get("output"), list_of(answer.get("failed"))
    if not isinstance(changed, dict):
        raise ToolError("The answer of the plugins has no output.")
    return Hooked(
        changed,
        tuple(path for path in list_of(answer.get("changed")) if isinstance(path, str)),
        {
            str(one.get("path")): str(one.get("message"))[:_MAX_SAID_CHARS]
            for one in failed
            if isinstance(one, dict)
        },
    )


async def call_tool(
    exchange: Exchange,
    path: str,
    name: str,
    arguments: JsonObject,
    context: JsonObject,
    *,
    client: Client = nobody,
) -> JsonObject:
    """Run a tool of a plugin. Returns: its answer, with `output`. Raises: ToolError."""
    params: JsonObject = {"path": path, "name": name, "arguments": arguments, "context": context}
    answer = await _ask(exchange, "tool", params, TOOL_S, client)
    if error := answer.get("error"):
        raise ToolError(str(error)[:_MAX_SAID_CHARS])
    if not isinstance(answer.get("output"), str):
        raise ToolError("The tool did not return a text output.")
    return answer


async def dispose(exchange: Exchange) -> list[str]:
    """Have the plugins close what they hold. A process that was late is not asked: it may never
    answer.

    Returns: the paths of those that threw. Raises: PluginLate; ToolError.
    """
    if exchange.is_over or not isinstance(exchange, _PluginExchange) or exchange.was_late:
        return []
    answer = await _ask(exchange, "dispose", {}, DISPOSE_S, nobody)
    return [str(path)[:500] for path in list_of(answer.get("failed"))]


async def tell_events(exchange: Exchange, events: list[JsonValue], *, client: Client) -> None:
    """Have plugins see events. Returns when they are done with them, or have had time enough.

    Raises: ToolError when the process has ended.
    """
    with contextlib.suppress(PluginLate):
        await _ask(exchange, "events", {"events": events}, EVENTS_S, client)


async def _ask(
    exchange: Exchange, method: str, params: JsonObject, limit_s: float, client: Client
) -> JsonObject:
    call = exchange.begin(method, params, follows=True)
    try:
        return await _within(exchange, call, limit_s, client)
    finally:
        exchange.end(call)


async def _within(exchange: Exchange, call: Call, limit_s: float, client: Client) -> JsonObject:
    try:
        async with asyncio.timeout(limit_s):
            answer = await _answered(exchange, call, client)
    except TimeoutError as exc:
        path = ""
        if isinstance(exchange, _PluginExchange):
            path, exchange.was_late = exchange.plugin_of(call), True
        raise PluginLate(path, limit_s) from exc
    if _is_deep(answer):
        raise ToolError("The answer of the plugins is nested too deeply.")
    return answer


async def _answered(exchange: Exchange, call: Call, client: Client) -> JsonObject:
    while not call.answer.done():
        call.stirred.clear()
        while call.asks:
            ask = call.asks.popleft()
            name, given = ask.params.get("name"), ask.params.get("given")
            try:
                said = await client(str(name)[:100], given if isinstance(given, dict) else {})
            except ToolError as exc:
                exchange.refuse(ask, exc.message)
            else:
                exchange.reply(ask, said)
        if not call.answer.done():
            await call.stirred.wait()
    return await call.answer


def _is_deep(value: JsonValue) -> bool:
    """Whether code that goes through it by calling itself might not come to its end."""
    level = [value]
    for _ in range(_MOST_LEVELS):
        nested = [one for one in level if isinstance(one, dict | list)]
        level = [
            each for one in nested for each in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


@cache
def _host() -> str:
    folder = Path(__file__).parent
    texts = (folder.joinpath(name).read_text(encoding="utf-8") for name in _TEXTS)
    return "".join(texts)


@cache
def _zod() -> str:
    return (Path(__file__).parents[2] / _ZOD).read_text(encoding="utf-8")
