"""A pull request's worktree is brought to its newest commit before each turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessions.models import Checkout, ProjectForge, Session
from teams.models import User
from tests.sessions.checkouts.conftest import INIT
from tests.sessions.checkouts.conftest import run as sh
from tests.sessions.git_server import git_server
from tests.sessions.integrations.conftest import Forge, link_account, run
from tests.sessions.integrations.outside import SAYS
from tests.sessions.integrations.test_hostile_comments import pull_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_a_worktree_follows_its_pull_request_until_it_has_changes(
    outside: Forge, bob: User, tmp_path: Path, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    sh(f"rm -rf .git; {INIT}", Path(outside.project.directory))
    bare, clone = tmp_path / "acme" / "till.git", tmp_path / "clone"
    sh(
        f"git init -q --bare -b main {bare}; git clone -q {outside.project.directory} clone",
        tmp_path,
    )
    link_account(outside, bob)

    def push(text: str, *, base: str = "main") -> str:
        """Push a commit to the pull request, over whatever was there."""
        made = f"git checkout -q -B topic; echo {text} >till.py; git commit -qam {text}"
        sh(f"{made}; git push -q -f {bare} HEAD:refs/pull/3/head", clone)
        commit = sh("git rev-parse topic", clone).strip()
        pull = pull_of(outside, 3, sha=commit, repository=7)
        pull["base"]["ref"] = base
        outside.server.pulls[:] = [pull]
        return commit

    def ask() -> str:
        outside.say(f"/oc {SAYS}", number=3, is_pull=True)
        session = Session.objects.get()
        run(session)
        session.refresh_from_db()
        assert session.outcome == "done", session.outcome_detail
        return (Path(session.folder) / "till.py").read_text()

    with git_server(tmp_path) as place:
        ProjectForge.objects.update(remote_url=f"http://{place}/acme/till.git")
        # It goes into a branch that the project has never fetched.
        push("first", base="stable")
        assert ask() == "first\n"
        second = push("second", base="stable")
        assert ask() == "second\n"
        checkout = Checkout.objects.get()
        assert (checkout.base, checkout.follows) == (second, "")
        folder = Path(checkout.folder)
        assert sh("git status --porcelain; git rev-parse HEAD", folder).split() == [second]
        (folder / "till.py").write_text("my own\n")
        third = push("third")
        assert ask() == "my own\n"
        # The agent finds the commit there, and is told of it.
        assert sh(f"git show {third}:till.py", folder) == "third\n"
        checkout.refresh_from_db()
        assert (checkout.base, checkout.follows) == (second, "")
        sh("git checkout -q till.py", folder)
        # What cannot be fetched ends no turn.
        fourth = push("fourth")
        sh("rm -rf till.git", bare.parent)
        assert ask() == "second\n"
    asked = json.dumps([row.data for row in Session.objects.get().inputs.all()])
    assert f"The newest commit of the pull request is {fourth}" in asked
