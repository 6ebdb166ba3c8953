"""What packages that extend this server import: `hookimpl` marks a hook of theirs.

The hooks, with what they get, give and may raise, are in `opencode_web.lib.plugins.specs`. Nothing
here needs Django.
"""

from __future__ import annotations

from opencode_web.lib.plugins.specs import hookimpl
from opencode_web.lib.plugins.values import (
    MenuEntry,
    Place,
    PluginProvider,
    PluginTool,
    TerminalLocation,
    ToolCall,
    ToolFailure,
    ToolOutput,
)

__all__ = [
    "MenuEntry",
    "Place",
    "PluginProvider",
    "PluginTool",
    "TerminalLocation",
    "ToolCall",
    "ToolFailure",
    "ToolOutput",
    "hookimpl",
]
