from __future__ import annotations

import posixpath

from sessions.models import Session
from sessions.wire import to_ms


def plan_path(session: Session) -> str:
    """Where the plan of a session is written, relative to the folder that it works in.

    Source: behaviour facts 1.15. The rules of the agent `plan` let it write below that folder of
    the worktree only.
    """
    plan = f".opencode/plans/{to_ms(session.created_at)}-{session.slug}.md"
    return posixpath.relpath(plan, session.path) if session.path else plan
