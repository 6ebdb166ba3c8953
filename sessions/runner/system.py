"""The system instructions of a turn. What stays the same comes first, for the prompt cache."""

from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from sessions.agents.loader import Agent
from sessions.models import Session
from tools.errors import ToolError
from tools.paths import Located, read_bytes

INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
MAX_INSTRUCTION_BYTES = 64 * 1024


def build_system(
    session: Session, agent: Agent, *, model_name: str, extra: str | None
) -> tuple[str, ...]:
    """Returns: the agent's instructions, the project's own, then facts about where the agent is."""
    texts = [agent.prompt, *_project_instructions(Path(session.project.directory))]
    texts.append(_environment(session, model_name=model_name))
    if extra:
        texts.append(extra)
    return tuple(text for text in texts if text)


def _project_instructions(worktree: Path) -> list[str]:
    """The first instruction file at the worktree's root.

    It is the repository's text, and says so.
    """
    for name in INSTRUCTION_FILES:
        try:
            # No link is followed: an instruction file must lie in the repository itself.
            file = Located(root=worktree, path=worktree / name, real=worktree / name, relative=name)
            raw = read_bytes(file, max_bytes=MAX_INSTRUCTION_BYTES)
        except (ToolError, OSError):
            continue
        text = raw.decode("utf-8", errors="replace")
        return [f"Instructions of this project, from {worktree / name}:\n\n{text}"]
    return []


def _environment(session: Session, *, model_name: str) -> str:
    directory = session.project.directory
    return "\n".join(
        (
            "Where you are:",
            f"- model: {model_name}",
            f"- project: {session.project.name}",
            f"- working directory, also the root of the worktree: {directory}",
            f"- git repository: {'yes' if (Path(directory) / '.git').exists() else 'no'}",
            "- platform: linux; shell commands run in a sandbox and see only the worktree",
            f"- date: {timezone.now():%A, %d %B %Y} (UTC)",
        )
    )
