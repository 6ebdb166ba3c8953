"""The process of a session's plugins: which it is, and what they say of themselves.

There is one for each session, not for a project: it sees the worktree of the session and what its
people write, and what it remembers must not get from one session to another. It is kept between
turns beside the session's MCP servers, and ends like those.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue, object_of
from opencode_web.lib.text import clean_json, clean_text
from sessions.agents.loader import NATIVE
from sessions.models import Session
from sessions.repository.brought import PLUGINS, Brought
from sessions.repository.packages import folder_of, have_packages
from sessions.repository.plugins import (
    CONFIG,
    DISPOSE,
    EVENT,
    HOOKS,
    MOST_LATE,
    REFUSED,
    assumed,
)
from sessions.repository.trust import brought_by, files_of
from sessions.runner.offers.mcp_kept import end_server, keep
from sessions.runner.offers.plugin_client import PluginClient, shown_config
from sessions.runner.offers.plugin_events import telling
from sessions.sandboxes.build import sandbox_for
from tools.errors import ToolError
from tools.mcp.exchange import Greeted, Server
from tools.mcp.pool import Key
from tools.plugins.host import (
    LOAD_S,
    PluginLate,
    PluginProgram,
    call_tool,
    dispose,
)
from tools.plugins.loaded import Loaded, loaded, problems_of
from tools.plugins.store import PackageFolder
from tools.redaction import NO_SECRETS
from tools.sandbox.base import Sandbox
from tools.sandbox.bubblewrap import BubblewrapSandbox

logger = logging.getLogger(__name__)

# No MCP server has this name.
NAME = "/plugins"
# Longer than loading may take, which says which plugin is late.
START_S = LOAD_S + 5.0
_MAX_REASON_CHARS = 500
_MAX_CONFIG_BYTES = 1024 * 1024
_MOST_UNSET = 10


@dataclass(frozen=True)
class PluginIdentity:
    """Which files it was started from, in which sandbox, and since which reload."""

    digest: str
    sandbox: Sandbox
    reloads: int

    def holds(self, session: Session) -> bool:
        """Whether it may still be there. Asks the database."""
        brought = brought_by(session.project, files_of(session))
        return brought.runs_plugins and self == identity_of(brought, sandbox_for(session))


def identity_of(brought: Brought, sandbox: Sandbox) -> PluginIdentity:
    """Returns: what differs for processes that may not be taken for one another."""
    if isinstance(sandbox, BubblewrapSandbox):
        # It is started without those that it is not given.
        sandbox = replace(sandbox, redactor=NO_SECRETS)
    return PluginIdentity(brought.run_digest, sandbox, brought.reloads)


@dataclass(frozen=True)
class PluginProcess:
    """The process of a session's plugins: which it is, and how it is started."""

    session: Session
    brought: Brought
    program: PluginProgram

    @cached_property
    def key(self) -> Key:
        """Under which it is kept."""
        return Key(self.session.pk, NAME, identity_of(self.brought, self.program.sandbox))

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[Greeted]:
        """Start it. Raises: ToolError."""
        await have_packages(self.session.project.team_id, self.brought.packages)
        # What plugins look up in it and change is an object where nobody has set anything.
        config = {"agent": {}, "command": {}, **await in_db(shown_config, self.session)}
        program = replace(self.program, config=config)
        async with program.connect() as greeted, contextlib.AsyncExitStack() as stack:
            if any(EVENT in one.hooks for one in loaded(greeted)):
                await stack.enter_async_context(telling(greeted.exchange, self.session))
            yield greeted
            if any(DISPOSE in one.hooks for one in loaded(greeted)):
                await self._dispose(greeted)

    async def _dispose(self, greeted: Greeted) -> None:
        """Have plugins close what they hold. What is late or at work is ended without that."""
        known = [one.path for one in assumed(self.brought)]
        try:
            failed = await dispose(greeted.exchange)
        except ToolError:
            failed = known
        for path in [one for one in known if one in failed]:
            logger.warning("plugin.failed session=%s plugin=%s hook=dispose", self.session.pk, path)

    def without(self, paths: Collection[str]) -> PluginProcess:
        """Returns: the process that is started without some of the plugins."""
        program = self.program
        entries = tuple(path for path in program.entries if path not in paths)
        packages = tuple(one for one in program.packages if one.path not in paths)
        return replace(self, program=replace(program, entries=entries, packages=packages))

    def kept(self, place: Server | None = None) -> Server:
        """Returns: the one that lives, which is started by `place` when it is first reached."""
        return keep(self.key, place or self, start_s=START_S)


def plugin_process(session: Session, brought: Brought, sandbox: Sandbox) -> PluginProcess:
    """Returns: the process of the plugins. They are loaded from what was read, not from the disk,
    where an agent may have changed it in between."""
    worktree = Path(session.worktree)
    program = PluginProgram(
        sandbox,
        worktree,
        Path(session.directory),
        {file.path: file.text for file in brought.run(*PLUGINS)},
        tuple(one.path for one in assumed(brought)),
        {"id": session.project_id, "worktree": str(worktree)},
        tuple(
            PackageFolder(
                one.path, one.name, folder_of(one.digest), json.loads(one.options or "null")
            )
            for one in brought.packages
        ),
        PluginClient(session),
    )
    return PluginProcess(session, brought, program)


@dataclass(frozen=True)
class DescribedPlugin:
    """A plugin with the hooks that are called; `reasons` say what is not used of it, `failed` why
    it could not be loaded.

    Its `tools`: {export, description, parameters}.
    """

    path: str
    hooks: tuple[str, ...]
    tools: tuple[JsonObject, ...] = ()
    reasons: tuple[str, ...] = ()
    failed: str = ""
    # The agents and commands that it has set: {agent: {name: …}, command: {name: …}}.
    config: JsonObject = field(default_factory=dict)

    def to_json(self) -> JsonObject:
        """Returns: as it is kept, without its tools."""
        hooks: list[JsonValue] = [*self.hooks]
        return {"path": self.path, "hooks": hooks, "failed": self.failed, "config": self.config}


async def describe_plugins(process: PluginProcess) -> list[DescribedPlugin]:
    """Load the plugins and ask what they have; one that is late keeps the others from nothing.

    Those that say nothing of themselves are taken to have what their texts name: the next turns
    try again, and what they may forbid is not done meanwhile.
    """
    found: dict[str, DescribedPlugin] = {}
    late: dict[str, str] = {}
    reason = "It said nothing of itself when it was loaded."
    # A process that lacks some is not kept: nobody would miss their guards.
    place: Server = process.kept()
    for _ in range(MOST_LATE):
        try:
            async with place.connect() as greeted:
                found = {one.path: _described(one) for one in loaded(greeted)}
            break
        except ToolError as exc:
            reason = plain_words(exc)
            if not isinstance(exc, PluginLate) or not exc.path:
                break
            late[exc.path] = reason
            place = process.without(late)
    return [
        found.get(one.path)
        or DescribedPlugin(one.path, one.hooks, failed=late.get(one.path, reason))
        for one in assumed(process.brought)
    ]


def _described(one: Loaded) -> DescribedPlugin:
    if one.problem:
        return DescribedPlugin(one.path, (), failed=short(one.problem))
    unused = [f"{name}: {REFUSED[name]}" for name in one.hooks if name in REFUSED]
    config = clean_json(one.config)
    is_large = len(json.dumps(config)) > _MAX_CONFIG_BYTES
    if one.unset:
        names = ", ".join(short(name) for name in one.unset[:_MOST_UNSET])
        unused.append(f"{CONFIG}: Only agents and commands are taken from plugins, not: {names}.")
    if is_large:
        unused.append(f"{CONFIG}: It sets more than {_MAX_CONFIG_BYTES // 1024} KiB.")
    unused += [
        f"{CONFIG}: The built-in agent {name} is not changed."
        for name in NATIVE
        if name in object_of(one.config, "agent")
    ]
    if one.config_problem:
        unused.append(f"{CONFIG}: {short(one.config_problem)}")
    return DescribedPlugin(
        one.path,
        tuple(name for name in one.hooks if name in HOOKS),
        tuple({**tool, "export": str(tool.get("name", ""))} for tool in one.tools),
        tuple(unused),
        config={} if is_large or not isinstance(config, dict) else config,
    )


async def run_plugin_tool(
    process: PluginProcess, path: str, name: str, arguments: JsonObject, about: JsonObject
) -> JsonObject:
    """Run a tool of a plugin. Returns: its answer, with `output`. Raises: ToolError.

    `about` is the call, as plugins know it.
    """
    client = PluginClient(process.session, str(about["messageID"]))
    try:
        async with process.kept().connect() as greeted:
            require_loaded(greeted, {path})
            return await call_tool(greeted.exchange, path, name, arguments, about, client=client)
    except PluginLate as exc:
        await end_server(process.key)
        raise ToolError(plain_words(exc)) from exc
    except ToolError as exc:
        raise ToolError(plain_words(exc)) from exc


def require_loaded(greeted: Greeted, paths: set[str]) -> None:
    """Raises: ToolError when one of these plugins could not be loaded this time."""
    for path, problem in problems_of(greeted).items():
        if path in paths:
            raise ToolError(f"{path} could not be loaded: {short(problem)}")


def plain_words(exc: ToolError) -> str:
    """Returns: what happened to the process, which the exchange calls a server."""
    return short(exc.message.replace("The server", "The process of the plugins"))


def short(text: str) -> str:
    """Returns: what a plugin said, fit to be shown."""
    return clean_text(text)[:_MAX_REASON_CHARS]
