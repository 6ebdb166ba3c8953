"""Where the API is: whatever is below these is about it, also what is not there."""

from __future__ import annotations

API_PATHS = (
    r"^(?:agent|api|app|audit|auth|command|config|doc|event|experimental|file|find|formatter|global"
    r"|instance|invitation|log|lsp|mcp|member|path|permission|project|provider|pty|question|schedule"
    r"|service-account|session|skill|sync|token|tui|usage|vcs|webhook)(?:/.*)?\Z"
)
