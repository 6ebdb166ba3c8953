"""Times and lines of stored data, as pages show them."""

from __future__ import annotations

from datetime import UTC, datetime

from opencode_web.lib.json import JsonObject, text_of
from sessions.events.stored import StoredTime


def moment_of(ms: int | None) -> datetime | None:
    """Units: milliseconds since the epoch."""
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)


def duration_of(time: StoredTime | None) -> float | None:
    """Returns: seconds between `start` and `end`; None for a moment, or while one is missing."""
    if time is None or "end" not in time:
        return None
    taken_ms = time["end"] - time["start"]
    # Less than this is no time to a reader.
    return None if taken_ms < 50 else taken_ms / 1000


def first_line(text: str, limit: int = 300) -> str:
    """The first line that says something, cut."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def server_tool(named: JsonObject) -> str:
    """Returns: `<server>: <tool>` where it is a tool of an MCP server that is named."""
    server, tool = text_of(named, "server"), first_line(text_of(named, "tool"), 80)
    return f"{first_line(server, 40)}: {tool}" if server and tool else ""
