"""Loads the packages once, when the process starts; what they are and do is kept for its life.

Where there is none, nothing is imported for them: looking takes a millisecond or two.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import EntryPoint, PathDistribution
from pathlib import Path
from typing import Any, get_args

from opencode_web.lib.json import read_json
from opencode_web.lib.plugins.values import MenuEntry, Need, PluginProvider, PluginTool

logger = logging.getLogger(__name__)

GROUP = "opencode_web.plugins"
# In the setting: all that are installed.
ALL = "*"
# So many calls in a row have to fail before a plugin rests, and for so long it does.
MOST_FAULTS = 3
REST_S = 600.0
_MOST_CHARS = 300
_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_ENTRY = re.compile(r"[a-z0-9-]{1,40}")
_NEEDS = get_args(Need)
_ADDRESS = re.compile(r"(?:https://|/(?!/))[^\s<>\"'\\]*")


class PluginState(StrEnum):
    """What a plugin does now."""

    LOADED = "loaded"
    RESTING = "resting"
    FAILED = "failed"
    NOT_ALLOWED = "not_allowed"


@dataclass(frozen=True)
class Hook:
    """A function of a plugin, with the names of the arguments that it takes."""

    plugin: Plugin
    name: str
    # Any: each hook returns what it may, and its caller looks whether it has.
    function: Callable[..., Any]
    takes: tuple[str, ...]

    def call(self, given: Mapping[str, object]) -> Any:  # Any: as above
        """Returns: what the function does; it may raise anything."""
        return self.function(**{name: given[name] for name in self.takes})

    @property
    def is_resting(self) -> bool:
        """Whether it has failed too often to be called now."""
        return time.monotonic() < self.plugin.rests_until.get(self.name, 0.0)


@dataclass(eq=False)
class Plugin:
    """A package by the name of its entry point. `failed`: why it is not loaded."""

    name: str
    package: str
    version: str
    is_allowed: bool = True
    failed: str = ""
    hooks: dict[str, Hook] = field(default_factory=dict)
    tools: tuple[PluginTool, ...] = ()
    menu: tuple[MenuEntry, ...] = ()
    providers: tuple[PluginProvider, ...] = ()
    # Of calls: the last one, and by hook how many there were in a row, and until when it rests.
    fault: str = ""
    faults: dict[str, int] = field(default_factory=dict)
    rests_until: dict[str, float] = field(default_factory=dict)

    @property
    def state(self) -> PluginState:
        """What it does now."""
        if not self.is_allowed:
            return PluginState.NOT_ALLOWED
        if self.failed:
            return PluginState.FAILED
        is_resting = any(hook.is_resting for hook in self.hooks.values())
        return PluginState.RESTING if is_resting else PluginState.LOADED

    def fail(self, why: str) -> None:
        """Leave it out for as long as the process lives."""
        self.failed = why[:_MOST_CHARS]
        self.hooks, self.tools, self.menu, self.providers = {}, (), (), ()
        logger.warning("plugin.not_loaded plugin=%s version=%s", self.name, self.version)

    def note_success(self, hook: str) -> None:
        """A call has ended as it should."""
        self.faults.pop(hook, None)

    def note_fault(self, hook: str, why: str, *, counts: bool = True) -> None:
        """A call has failed; after some in a row that count the hook is not called for a while."""
        self.fault = f"{hook}: {why}"[:_MOST_CHARS]
        if not counts:
            return
        self.faults[hook] = self.faults.get(hook, 0) + 1
        if self.faults[hook] >= MOST_FAULTS:
            # One more fault after the rest, and it rests again.
            self.faults[hook] = MOST_FAULTS - 1
            self.rests_until[hook] = time.monotonic() + REST_S
            logger.warning("plugin.rests plugin=%s hook=%s", self.name, hook)


_plugins: list[Plugin] = []
# Where they were looked for.
_path: list[str] = []
# By the hook, in the order in which they are called.
_hooks: dict[str, list[Hook]] = {}


def installed_plugins() -> list[Plugin]:
    """Returns: all packages that were found, by name."""
    return [*_plugins]


def hooks_of(name: str) -> list[Hook]:
    """Returns: what is to be called, also of plugins that rest, in the order of calls."""
    return [hook for hook in _hooks.get(name, ()) if not hook.plugin.failed]


def active_plugins() -> list[Plugin]:
    """Returns: those that are loaded, also while a hook of theirs rests."""
    return [plugin for plugin in _plugins if plugin.is_allowed and not plugin.failed]


def active_hooks(name: str) -> list[Hook]:
    """Returns: what is to be called and does not rest, in the order of calls."""
    return [hook for hook in hooks_of(name) if not hook.is_resting]


def installed_providers() -> list[PluginProvider]:
    """Returns: those of all plugins that are loaded: accounts with them are not gone for a while
    because a hook fails."""
    return [provider for plugin in _plugins for provider in plugin.providers]


def plugin_states() -> dict[str, dict[str, str]]:
    """Returns: for each package its `version`, the one that is `installed` now, if any, its `state`
    and `hooks`, and `why` it does nothing, or its last call that failed."""
    installed = {one.name: version for one, _, version in _entry_points(_path if _plugins else ())}
    return {
        plugin.name: {
            "version": plugin.version,
            "installed": installed.get(plugin.name, ""),
            "state": plugin.state,
            "hooks": ", ".join(plugin.hooks),
            "why": plugin.failed or plugin.fault,
        }
        for plugin in _plugins
    }


def load_plugins(allowed: Sequence[str], path: Iterable[str] | None = None) -> None:
    """Load what is installed and allowed: names of entry points, or all with `*`, but for those
    with a `-` before their name. What cannot be loaded says why in its row."""
    _plugins.clear()
    _hooks.clear()
    _path[:] = sys.path if path is None else path
    found = sorted(_entry_points(_path), key=lambda one: one[0].name)
    if not found:
        return
    manager = _manager()
    for entry_point, package, version in found:
        plugin = Plugin(entry_point.name, package, version)
        _plugins.append(plugin)
        is_named = plugin.name in allowed or ALL in allowed
        plugin.is_allowed = is_named and f"-{plugin.name}" not in allowed
        if plugin.is_allowed:
            _load(plugin, entry_point, manager)
    by_name = {plugin.name: plugin for plugin in _plugins}
    for hook, caller in vars(manager.hook).items():
        # The one that is called first is the last of these.
        for one in reversed(caller.get_hookimpls()):
            plugin = by_name[one.plugin_name]
            if not plugin.failed:
                plugin.hooks[hook] = Hook(plugin, hook, one.function, tuple(one.argnames))
                _hooks.setdefault(hook, []).append(plugin.hooks[hook])
    for plugin in _plugins:
        if plugin.hooks:
            _ask_once(plugin)


def _entry_points(path: Iterable[str]) -> Iterator[tuple[EntryPoint, str, str]]:
    """Yields: each with its package and version. The first of a name on the path counts.

    `importlib.metadata.entry_points` parses those of all packages, which takes ten times as long.
    """
    header, seen = f"[{GROUP}]".encode(), set()
    for folder in path:
        for info in _infos(folder):
            try:
                with open(f"{info}/entry_points.txt", "rb") as file:  # noqa: PTH123 - as below
                    text = file.read()
            except OSError:
                continue
            if header not in text:
                continue
            package = PathDistribution(Path(info))
            for one in package.entry_points.select(group=GROUP):
                if one.name not in seen:
                    seen.add(one.name)
                    yield one, package.metadata["Name"], package.version


def _infos(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:  # pathlib would take ten times as long
            return sorted(
                one.path for one in entries if one.name.endswith((".dist-info", ".egg-info"))
            )
    except OSError:
        return []


def _manager() -> Any:  # Any: pluggy's manager, which is not imported above
    """pluggy with the hooks: its import takes some milliseconds, which only a server with plugins
    pays."""
    from pluggy import PluginManager

    from opencode_web.lib.plugins.specs import PROJECT, Hooks

    manager = PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    return manager


def _load(plugin: Plugin, entry_point: EntryPoint, manager: Any) -> None:  # Any: see _manager
    try:
        manager.register(entry_point.load(), plugin.name)
        # A hook that does not exist is a misspelt one.
        manager.check_pending()
        if any(
            one.plugin_name == plugin.name and (one.hookwrapper or one.wrapper)
            for caller in vars(manager.hook).values()
            for one in caller.get_hookimpls()
        ):
            raise TypeError("It has a hook that wraps others; each is called by itself here.")
    except (Exception, SystemExit) as exc:  # the edge of a package: it must not stop the server
        if manager.has_plugin(plugin.name):
            manager.unregister(name=plugin.name)
        plugin.fail(f"{type(exc).__name__}: {exc}")
        logger.warning("plugin.import_failed plugin=%s", plugin.name, exc_info=exc)


def _ask_once(plugin: Plugin) -> None:
    try:
        if "tools" in plugin.hooks:
            plugin.tools = tuple(map(_checked_tool, plugin.hooks["tools"].call({})))
        if "providers" in plugin.hooks:
            plugin.providers = tuple(map(_checked_provider, plugin.hooks["providers"].call({})))
        if "menu_entries" in plugin.hooks:
            plugin.menu = tuple(map(_checked_entry, plugin.hooks["menu_entries"].call({})))
    except (Exception, SystemExit) as exc:  # the edge of a package, as above
        plugin.fail(f"{type(exc).__name__}: {exc}")
        logger.warning("plugin.start_failed plugin=%s", plugin.name, exc_info=exc)


def _checked_tool(tool: object) -> PluginTool:
    if not isinstance(tool, PluginTool):
        raise TypeError(f"tools: a {type(tool).__name__} is no PluginTool.")
    if not _TOOL.fullmatch(tool.name):
        raise ValueError(f"tools: {tool.name!r} is no name of a tool.")
    if tool.parameters.get("type") != "object":
        raise ValueError(f"tools: the parameters of {tool.name} are no schema of an object.")
    read_json(json.dumps(tool.parameters))
    if not isinstance(tool.description, str) or not callable(tool.run):
        raise TypeError(f"tools: the description of {tool.name} is no text, or its run no function")
    if not isinstance(tool.limit_s, int | float) or not tool.limit_s > 0:
        raise ValueError(f"tools: the limit of {tool.name} is no number of seconds.")
    return tool


def _checked_provider(provider: object) -> PluginProvider:
    if not isinstance(provider, PluginProvider):
        raise TypeError(f"providers: a {type(provider).__name__} is no PluginProvider.")
    if not _ENTRY.fullmatch(provider.id):
        raise ValueError(f"providers: {provider.id!r} is no id.")
    described = provider.description
    models = described.get("models")
    if not isinstance(models, dict) or not all(isinstance(one, dict) for one in models.values()):
        raise ValueError(f"providers: {provider.id} has no models.")
    if not described.get("name") or not described.get("npm"):
        raise ValueError(f"providers: {provider.id} has no name, or no npm.")
    return provider


def _checked_entry(entry: object) -> MenuEntry:
    if not isinstance(entry, MenuEntry):
        raise TypeError(f"menu_entries: a {type(entry).__name__} is no MenuEntry.")
    if not _ENTRY.fullmatch(entry.id):
        raise ValueError(f"menu_entries: {entry.id!r} is no id.")
    if not _ADDRESS.fullmatch(entry.url):
        raise ValueError(f"menu_entries: {entry.url!r} is no https address and no path.")
    if not isinstance(entry.label, str) or not isinstance(entry.words, str):
        raise TypeError(f"menu_entries: the label or the words of {entry.id} are no text.")
    if entry.need not in _NEEDS:
        raise ValueError(f"menu_entries: {entry.id} needs {entry.need!r}, which nobody is.")
    return entry


def place_of(exc: BaseException) -> str:
    """Returns: the kind of an error and where it was raised, without its text, which may quote what
    people wrote."""
    frames = traceback.extract_tb(exc.__traceback__)
    where = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(exc).__name__}{where}"
