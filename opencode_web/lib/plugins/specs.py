"""The hooks, by pluggy. A plugin has those that it needs, with the arguments that it needs.

Each call has a thread of its own, so a hook may block, within its limit (`LIMITS_S`), and may be
a coroutine function. One that raises or is late loses its change, and is switched off for ten
minutes after three such calls in a row. A hook must not write to the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pluggy import HookimplMarker, HookspecMarker

from opencode_web.lib.json import JsonObject
from opencode_web.lib.plugins.values import (
    MenuEntry,
    Place,
    PluginProvider,
    PluginTool,
    TerminalLocation,
    ToolCall,
    ToolOutput,
)

PROJECT = "opencode_web"
hookimpl = HookimplMarker(PROJECT)
_hookspec = HookspecMarker(PROJECT)


class Hooks:
    """What a plugin may have."""

    @_hookspec
    def tools(self) -> Sequence[PluginTool]:
        """Tools for agents, beside the built-in ones. Asked once, when the process starts.

        A name is one word of up to 64 letters, digits, `-` and `_`. A plugin whose tool has the
        name of a built-in one or of another plugin's is not loaded.
        """
        raise NotImplementedError

    @_hookspec
    def menu_entries(self) -> Sequence[MenuEntry]:
        """Links in the list of commands of every page. Asked once, when the process starts."""
        raise NotImplementedError

    @_hookspec
    def providers(self) -> Sequence[PluginProvider]:
        """Providers of models, with adapters and ways to sign in. Asked once, at the start."""
        raise NotImplementedError

    @_hookspec
    def context_sources(self, place: Place) -> Mapping[str, str]:
        """What agents are told: texts by name. Asked before each request to a model.

        A name that was not there before is told from now on, another text is told as a change,
        and a name that is gone is taken back. Texts are not told while the call fails.
        It must answer at once, from memory: the session waits for it.
        """
        raise NotImplementedError

    @_hookspec
    def terminal_environment(self, terminal: TerminalLocation) -> Mapping[str, str]:
        """Variables of a terminal that a person opens; they override what was there before."""
        raise NotImplementedError

    @_hookspec
    def before_tool(self, call: ToolCall, arguments: JsonObject) -> JsonObject | None:
        """Asked about a call, of any tool, before anybody is asked for its permission.

        `arguments` have marks in the place of secrets, and need not fit the schema of the tool.
        Returns: other arguments, for which the permission is asked then, or None.
        Raises: ToolFailure to forbid the call. Whatever else keeps it from answering, forbids, too.
        """
        raise NotImplementedError

    @_hookspec
    def after_tool(
        self, call: ToolCall, arguments: JsonObject, output: ToolOutput
    ) -> ToolOutput | None:
        """Told of a call that has run.

        Returns: another output, or None. Of `metadata` keys can only be added.
        Raises: ToolFailure to have the model read that instead. Whatever else keeps it from
        answering, keeps the output from the model, too.
        """
        raise NotImplementedError
