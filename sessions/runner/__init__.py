"""The drain of a session: plain functions over the log, with no state that is not in it.

`coordinator` takes the lease and keeps it; `loop` asks `advance` what comes next and does it:

    advance ─┬─ ProviderTurn → turn ──────────┐
             ├─ ToolStep     → tool_calls ────┤  the closing events go back into advance,
             ├─ PageFetch    → context.remote ┤  which appends them and decides in one transaction
             ├─ Stopping     → changes ───────┤
             └─ None: idle, parked, or left   │
        ▲         to the next worker          │
        └─────────────────────────────────────┘

What `advance` decides is in a module for each case: `abandoned` (an earlier owner's remains),
`open_step` (calls to run), `tries` (a failed try), `next_turn` (a prompt, or more for the model, or
a compaction first). Whatever waits for others parks: the rows say where to continue.
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
