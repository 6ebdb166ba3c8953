"""A session in its own worktree reads what that brings, and not what the project's folder has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from sessions.actions.checkouts import Plan
from sessions.agents.loader import load_agents
from sessions.config.effective import session_config
from sessions.models import Project, Session
from sessions.repository.globs import forget_found
from sessions.rules.in_force import session_ruleset
from sessions.skills import session_skills
from teams.models import User
from tests.sessions.agents.test_brought import trust
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.factories import make_session, prompt, script
from tests.sessions.runner.drains import drain, parts_of
from tests.sessions.runner.test_custom_tools import ADD
from tools.permissions.rules import Action, evaluate

pytestmark = pytest.mark.any_database


def brings(folder: Path, what: str) -> None:
    files = {
        ".opencode/agent/reviewer.md": f"---\nmode: primary\n---\nYou review for {what}.",
        ".opencode/command/greet.md": f"Greet the {what}.",
        ".opencode/tool/add.py": ADD,
        f".claude/skills/{what}/SKILL.md": f"---\nname: {what}\ndescription: d\n---\nBe {what}.",
        "AGENTS.md": f"Rule of the {what}.",
        "opencode.json": f'{{"permission": {{"bash": {{"{what} *": "deny"}}}}}}',
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    forget_found()


@pytest.fixture
def own(alice: User, project: Project, tmp_path: Path, settings: Settings) -> Session:
    """A session that gets a worktree of what is committed, which nobody's folder has any more."""
    settings.DATA_DIR = tmp_path / "data"
    folder = Path(project.directory)
    run(f"rm -rf .git; {INIT}", folder)
    brings(folder, "branch")
    run("git add -A; git commit -qm Bring", folder)
    trust(project, alice)
    session = make_session(alice, project, checkout=Plan())
    run("git rm -rqf .opencode .claude AGENTS.md opencode.json", folder)
    brings(folder, "folder")
    return session


def seen_of(session: Session) -> dict[str, Any]:
    config = session_config(session)
    ruleset = session_ruleset(session, "build")
    return {
        "agent": load_agents(config)["reviewer"].prompt,
        "trusted": config.brought.is_trusted,
        "skills": [*session_skills(session, config).skills],
        "denied": [
            what
            for what in ("branch", "folder", "worktree")
            if evaluate("bash", f"{what} x", ruleset) is Action.DENY
        ],
    }


async def test_agents_commands_skills_tools_and_rules_are_those_of_the_sessions_worktree(
    alice: User, own: Session, requests: list[ProviderRequest]
) -> None:
    # Before there is a worktree, the project's folder says what can be chosen.
    assert (await in_db(seen_of, own))["agent"] == "You review for folder."
    call = {"tool": "add", "input": {"a": "x"}}
    await in_db(prompt, alice, own, script([call], [{"text": "ok"}]), agent="reviewer")
    await drain(own)
    assert own.outcome == "done", own.outcome_detail
    assert await in_db(seen_of, own) == {
        "agent": "You review for branch.",
        "trusted": True,
        "skills": ["branch"],
        "denied": ["branch"],
    }
    system = "\n".join(requests[0].system)
    assert "You review for branch." in system
    assert "Rule of the branch." in system
    assert "folder." not in system
    assert {"add", "add_two"} <= {tool.name for tool in requests[0].tools}
    # It is the worktree's tool: its arguments are judged by what it said of itself there.
    (state,) = [part["state"] for part in await in_db(parts_of, own, "tool")]
    assert "is not of type 'integer'" in state["error"]


async def test_what_changes_in_the_worktree_is_read_and_is_not_trusted(
    alice: User, own: Session, requests: list[ProviderRequest]
) -> None:
    await in_db(prompt, alice, own, script([{"text": "ok"}]))
    await drain(own)
    brings(Path(own.folder), "worktree")
    run("rm -r .claude/skills/branch", Path(own.folder))
    forget_found()
    seen = await in_db(seen_of, own)
    assert seen == {
        "agent": "You review for worktree.",
        "trusted": False,
        "skills": ["worktree"],
        "denied": ["worktree"],
    }
    await in_db(prompt, alice, own, script([{"text": "ok"}]), agent="reviewer")
    await drain(own)
    assert "add" not in {tool.name for tool in requests[-1].tools}
    assert "Rule of the worktree." in str(requests[-1])


async def test_lists_are_of_the_worktree_where_the_client_or_the_page_is_there(
    alice: User, own: Session, project: Project, client_for: Any
) -> None:
    await in_db(prompt, alice, own, script([{"text": "ok"}]))
    await drain(own)
    browser: Client = await in_db(client_for, alice)

    def told() -> list[str]:
        found = []
        for place in ({"directory": own.folder}, {"project": project.pk}):
            commands = browser.get("/command", place).json()
            found += [one["template"] for one in commands if one["name"] == "greet"]
            found += [one["name"] for one in browser.get("/skill", place).json()]
            agents = browser.get("/agent", place).json()
            found += [one["prompt"] for one in agents if one["name"] == "reviewer"]
        url = f"/t/acme/p/{project.pk}/commands"
        for more in (f"?session={own.pk}", ""):
            page = browser.get(url + more).content.decode()
            found += [what for what in ("branch", "folder") if f"/{what}<" in page]
        return found

    assert await in_db(told) == [
        *("Greet the branch.", "branch", "You review for branch."),
        *("Greet the folder.", "folder", "You review for folder."),
        *("branch", "folder"),
    ]


async def test_nobody_else_is_told_what_a_sessions_worktree_brings(
    alice: User, charlie: User, own: Session, project: Project, client_for: Any
) -> None:
    def status(user: User) -> int:
        url = f"/t/acme/p/{project.pk}/commands?session={own.pk}"
        return int(client_for(user).get(url).status_code)

    assert await in_db(status, alice) == 200
    assert await in_db(status, charlie) == 404
