"""The second version of OpenCode's HTTP API, below `/api/`: the same actions, other envelopes."""

from __future__ import annotations

from sessions.api.v2 import (
    catalog,
    files,
    integrations,
    messages,
    requests,
    sessions,
    terminals,
)

__all__ = ["catalog", "files", "integrations", "messages", "requests", "sessions", "terminals"]
