"""Which events this server sends, read from the modules that make them."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.sources import tree_of

_ROOT = Path(__file__).parents[2] / "sessions"
_SOURCES = ("stream/*.py", "wire_events.py", "events/live.py", "api/tui.py")
# Put together from parts.
_COMPOSED = {
    *("pty.created", "pty.updated", "permission.v2.replied"),
    *("question.v2.asked", "question.v2.replied", "question.v2.rejected"),
    *(
        f"session.next.{kind}.{end}"
        for kind in ("text", "reasoning")
        for end in ("started", "ended")
    ),
}


def sent_events(known: set[str]) -> set[str]:
    """Returns: those of the known types that a source names."""
    files = [file for pattern in _SOURCES for file in _ROOT.glob(pattern)]
    named = {
        node.value
        for file in files
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    plain = {kind for kind in known if {kind, kind.removeprefix("session.next.")} & named}
    return plain | (_COMPOSED & known)
