"""The drain of a session: plain functions over the log, with no state that is not in it.

`coordinator` takes the lease and keeps it; `loop` asks `advance` what comes next and does it:

    advance ─┬─ ProviderTurn → turn ──────────┐
             ├─ ToolStep     → tool_calls ────┤  the closing events go back into advance,
             ├─ PageFetch    → context.remote ┤  which appends them and decides in one transaction
             ├─ Stopping     → changes ───────┤
             └─ None: idle, suspended, or     │
        ▲         left to the next worker     │
        └─────────────────────────────────────┘

All of that is in `drain`; turns are in `turn`, tool calls in `calls`. `advance` itself runs the
calls of an open step; its other cases have a module each: `abandoned` (left by an earlier owner),
`attempts` (a failed one), `next_turn` (a prompt, more for the model, or a compaction first). What
waits for others is suspended: its rows say where to continue.
"""

from __future__ import annotations

from sessions.runner.drain.coordinator import (
    is_draining,
    listen,
    run_session,
    set_draining,
    shutdown,
    woken,
)

__all__ = ["is_draining", "listen", "run_session", "set_draining", "shutdown", "woken"]
