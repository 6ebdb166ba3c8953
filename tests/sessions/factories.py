from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from providers.llm.messages import ModelRef
from providers.models import ProviderConfig
from sessions.access import SessionAccess, access_project, access_session
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import create_session
from sessions.models import Project, Session, SessionInput
from teams.auth import authenticate_user
from teams.models import Team, User

INLINE = ModelRef("demo", "inline")


def make_project(team: Team, directory: Path, *, name: str = "shop", git: bool = True) -> Project:
    directory.mkdir(parents=True, exist_ok=True)
    if git and not (directory / ".git").exists():
        shutil.copytree(_empty_repository(), directory / ".git")
    add_demo_provider(team)
    return Project.objects.create(
        id=f"prj_{team.slug}_{name}",
        team=team,
        name=name,
        host="local",
        directory=str(directory),
        source=Project.Source.FOLDER,
    )


@cache
def _empty_repository() -> Path:
    """As `git init` makes it, but for the examples of hooks. To copy it takes no process."""
    # Not in the data folder of the settings, which a test may have changed.
    made = Path(os.environ["OPENCODE_WEB_TEST_DIR"]) / f"empty-{os.getpid()}"
    subprocess.run(["git", "init", "-q", str(made)], check=True)
    for example in (made / ".git" / "hooks").glob("*.sample"):
        example.unlink()
    return made / ".git"


def add_demo_provider(team: Team) -> None:
    ProviderConfig.objects.get_or_create(
        team=team, provider_id="demo", defaults={"kind": "scripted", "name": "Scripted demo"}
    )


def make_session(user: User, project: Project, **fields: Any) -> Session:
    return create_session(access_project(authenticate_user(user), project.pk), **fields)


def session_access(user: User, session: Session) -> SessionAccess:
    return access_session(authenticate_user(user), session.pk)


def script(*steps: list[dict[str, Any]], **more: Any) -> str:
    """A prompt that makes the scripted provider play these steps, a list of events each."""
    turn = [{"events": events} for events in steps]
    # The newest prompt's script counts, whichever turn of the session it is in.
    body = {
        "name": "test",
        "turns": [turn] * 9,
        "otherwise": [{"events": [{"text": "end"}]}],
        **more,
    }
    return f"<<script{json.dumps(body)}>>"


def prompt(user: User, session: Session, text: str, **fields: Any) -> SessionInput:
    draft = PromptDraft(parts=[{"type": "text", "text": text}], model=INLINE, **fields)
    return admit_prompt(session_access(user, session), draft)
