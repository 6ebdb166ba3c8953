"""Plugins of a project's repository, and turns in which they run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from opencode_web.lib.db import in_db
from sessions.access import access_project
from sessions.actions.trust import reload_plugins
from sessions.models import Project, Session
from sessions.repository.globs import forget_found
from teams.auth import authenticate_user
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain, parts_of

Write = Callable[..., None]
GUARD = "tool.execute.before"
PATH = ".opencode/plugin/a.js"


def writer(project: Project) -> Write:
    """Returns: what writes the text of a plugin."""

    def write(text: str, name: str = "a.js") -> None:
        file = Path(project.directory, ".opencode/plugin", name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        forget_found()

    return write


def hooks(**given: str) -> str:
    """Returns: a plugin with these hooks, each the body of a function of `i` and `o`."""
    listed = (f"'{name}': async (i, o) => {{ {code} }}" for name, code in given.items())
    return f"export const One = async (input) => ({{ {', '.join(listed)} }})"


def on(name: str, code: str) -> str:
    """Returns: a plugin with this hook."""
    return hooks(**{name: code})


def reload(project: Project, user: User) -> None:
    """Have the plugins loaded anew."""
    reload_plugins(access_project(authenticate_user(user), project.pk))


def called(tool: str, **arguments: Any) -> str:
    """Returns: a prompt whose answer is this call."""
    return script([{"tool": tool, "input": arguments}])


async def states(session: Session) -> list[dict[str, Any]]:
    """Returns: every call of a session, with what its part says beside."""
    parts = await in_db(parts_of, session, "tool")
    return [{"tool": part["tool"], "by": part.get("metadata"), **part["state"]} for part in parts]


async def turn(user: User, session: Session, text: str) -> Session:
    """Prompt, and wait for the end of the turn."""
    await in_db(prompt, user, session, text)
    return await drain(session)
