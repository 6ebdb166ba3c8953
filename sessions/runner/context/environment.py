"""`core/environment`: where the agent is.

The model's name is no part of it: it would end every epoch, and the cache with it, at a switch.
"""

from __future__ import annotations

from pydantic import TypeAdapter

from sessions.events.messages import Frozen
from sessions.repository.reading import Unavailable
from sessions.runner.context.source import ContextInputs, Source


class Environment(Frozen):
    """Paths are absolute."""

    project: str
    directory: str
    worktree: str
    is_git: bool
    network: str = "none"


def _observe(inputs: ContextInputs, _known: Environment | None) -> Environment:
    try:
        is_git = (inputs.worktree / ".git").exists()
    except OSError as exc:
        raise Unavailable(str(inputs.worktree)) from exc
    return Environment(
        project=inputs.project,
        directory=str(inputs.directory),
        worktree=str(inputs.worktree),
        is_git=is_git,
        network=inputs.network,
    )


def _render(value: Environment) -> str:
    return "\n".join(
        (
            "Where you are:",
            f"- project: {value.project}",
            f"- working directory: {value.directory}",
            f"- root of the worktree: {value.worktree}",
            f"- git repository: {'yes' if value.is_git else 'no'}",
            "- platform: linux; shell commands run in a sandbox and see only the worktree",
            f"- network of shell commands: {value.network}",
        )
    )


def _is_compatible(old: Environment, new: Environment) -> bool:
    """After a move every path that was mentioned is wrong."""
    return (old.directory, old.worktree) == (new.directory, new.worktree)


SOURCE: Source[Environment] = Source(
    key="core/environment",
    type=TypeAdapter(Environment),
    observe=_observe,
    baseline=_render,
    update=lambda _old, new: _render(new),
    removal=lambda _old: "",
    is_compatible=_is_compatible,
)
