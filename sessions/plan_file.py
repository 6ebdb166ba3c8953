from __future__ import annotations

from sessions.models import Session
from sessions.wire import to_ms


def plan_path(session: Session) -> str:
    """Where the plan of a session is written, relative to its folder.

    Source: behaviour facts 1.15. The rules of the agent `plan` let it write below that folder only.
    """
    return f".opencode/plans/{to_ms(session.created_at)}-{session.slug}.md"
