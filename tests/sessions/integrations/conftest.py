from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.loop import submit
from sessions.checkouts.jobs import run_job
from sessions.forges.adapter import ForgeKind
from sessions.integrations.setup import host_of, set_up_integration
from sessions.integrations.slack import api
from sessions.models import (
    Checkout,
    InboundDelivery,
    LinkedAccount,
    OutsideReply,
    Project,
    ProjectForge,
    SavedRule,
    Session,
)
from sessions.publish_settings import publishing_of
from sessions.runner import run_session
from teams.models import Team, User
from tests.sessions.checkouts.conftest import INIT
from tests.sessions.checkouts.conftest import run as sh
from tests.sessions.factories import script
from tests.sessions.forges.servers import TOKEN, FakeForge, forge
from tests.sessions.forges.test_reviews import pull_on
from tests.sessions.git_server import git_server
from tests.sessions.integrations.linear_board import Board, board_of
from tests.sessions.integrations.outside import Outside, reach
from tests.sessions.integrations.slack_server import FakeSlack, slack
from tests.sessions.integrations.slack_workspace import Workspace, connect
from tests.sessions.runner.drains import allow_bash

REPOSITORY = "acme/till"


@dataclass
class Forge(Outside):
    """A forge with a webhook to this server: people comment there, and it delivers."""

    server: FakeForge
    project: Project
    secret: str
    address: str
    client: Client = field(default_factory=Client)

    @property
    def kind(self) -> ForgeKind:
        return self.server.kind

    def payload(self, text: str, *, by: int = 42, number: int = 7, **more: Any) -> dict[str, Any]:
        """As the forge documents it, as far as it is of use here; `more` changes the comment."""
        is_pull = more.pop("is_pull", False)
        thread = str(number)
        if self.kind is ForgeKind.GITLAB:
            thread = f"{'merge_requests' if is_pull else 'issues'}/{number}"
        made = self.server.comment(thread, text)
        about = {"title": "The till is wrong", "number": number, "iid": number}
        about |= {"body": "It adds tax twice.", "description": "It adds tax twice."}
        if self.kind is ForgeKind.GITLAB:
            kind = "MergeRequest" if is_pull else "Issue"
            note = {"id": made["id"], "note": text, "noteable_type": kind, "action": "create"}
            return {
                "object_kind": "note",
                "user": {"id": by, "username": f"person{by}"},
                "project": {"path_with_namespace": REPOSITORY},
                "object_attributes": {**note, "url": "https://forge.test/n", **more},
                "merge_request" if is_pull else "issue": about,
            }
        author = {"id": by, "login": f"person{by}", "type": "User"}
        comment = {"id": made["id"], "body": text, "user": author, "author_association": "NONE"}
        if is_pull:
            about["pull_request"] = {"url": "https://forge.test/p"}
        return {
            "action": "created",
            "issue": about,
            "comment": {**comment, "html_url": "https://forge.test/c", **more},
            "repository": {"full_name": REPOSITORY},
        }

    def send(self, payload: dict[str, Any], **changed: str) -> Any:
        """Deliver it, signed as this forge does; `changed` are other headers."""
        body = json.dumps(payload).encode()
        digest = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            ForgeKind.GITHUB: {
                "X-GitHub-Event": "issue_comment",
                "X-Hub-Signature-256": f"sha256={digest}",
            },
            ForgeKind.GITLAB: {"X-Gitlab-Event": "Note Hook", "X-Gitlab-Token": self.secret},
            ForgeKind.GITEA: {"X-Gitea-Event": "issue_comment", "X-Gitea-Signature": digest},
        }[self.kind]
        return self.client.post(
            self.address,
            body,
            content_type="application/json",
            headers={**headers, **changed},
        )

    def say(self, text: str, **more: Any) -> InboundDelivery:
        """Somebody comments, and the server does what that asks for, but for the turn."""
        answer = self.send(self.payload(text, **more))
        assert answer.status_code == 200, answer.content
        self.work()
        return InboundDelivery.objects.get(pk=answer.json()["delivery"])

    @property
    def answers(self) -> list[str]:
        """What the server has written there."""
        return [one["body"] for one in self.server.comments if "<!-- rep_" in one["body"]]


_OTHERS = [pytest.param(one, marks=pytest.mark.deep) for one in ForgeKind if one != "github"]


@pytest.fixture(params=[ForgeKind.GITHUB, *_OTHERS])
def outside(
    request: pytest.FixtureRequest, alice: User, project: Project, settings: Any
) -> Iterator[Forge]:
    """A project on each forge, whose integration is set up."""
    settings.PUBLIC_URL = "https://agents.example.com"
    project.config = {"model": "demo/inline", "worktree": "project"}
    project.save()
    with forge(ForgeKind(request.param)) as server:
        ProjectForge.objects.create(
            project=project,
            remote_url=f"https://forge.test/{REPOSITORY}.git",
            kind=request.param,
            api_url=server.api,
            token=encrypt(TOKEN),
            updated_at=timezone.now(),
        )
        row, secret = set_up_integration(reach(alice, project))
        yield Forge(server, project, secret, f"/integrations/{row.pk}")


def link_account(outside: Forge, user: User, outside_id: int = 42) -> LinkedAccount:
    return LinkedAccount.objects.create(
        team=outside.project.team,
        user=user,
        host=host_of(publishing_of(outside.project)),
        outside_id=str(outside_id),
        name=f"person{outside_id}",
        linked_at=timezone.now(),
    )


def run(session: Session) -> None:
    submit(run_session(session.pk)).result(30)


def newest(outside: Forge, text: str, **more: Any) -> str:
    outside.say(text, **more)
    return outside.answers[-1]


@dataclass
class Shop:
    """A project on a forge whose repository is there: `bare` is it, `clone` somebody's copy.

    Pull request 3 is the branch topic, which changes the second line of till.py.
    """

    outside: Forge
    bare: Path
    clone: Path

    def ask(self, *steps: list[dict[str, Any]], **more: Any) -> Session:
        """Somebody has the agent do these steps. Returns: the session, at rest."""
        self.outside.say(f"/oc {script(*steps)}", **more)
        session = Session.objects.latest("created_at")
        if not SavedRule.objects.exists():
            allow_bash(session)
        run(session)
        return session

    def settle(self) -> None:
        """Do all that is left to be done."""
        for _ in range(12):
            self.outside.write()
            jobs = list(Checkout.objects.exclude(job=""))
            for row in jobs:
                submit(run_job(row.pk)).result(60)
            waiting = OutsideReply.objects.filter(state="pending")
            if not jobs and not waiting.exists():
                break

    def head(self, branch: str) -> str:
        return sh(f"git rev-parse -q --verify refs/heads/{branch} || true", self.bare).strip()

    @property
    def review(self) -> dict[str, Any]:
        [made] = self.outside.server.parts.reviews
        return made


@pytest.fixture
def shop(outside: Forge, bob: User, tmp_path: Path, settings: Any) -> Iterator[Shop]:
    settings.DATA_DIR = tmp_path / "data"
    folder, bare, clone = (
        Path(outside.project.directory),
        tmp_path / "acme" / "till.git",
        tmp_path / "clone",
    )
    sh(f"rm -rf .git; {INIT}", folder)
    sh(f"git init -q --bare -b main {bare}; git clone -q {folder} {clone}", tmp_path)
    sh("git config http.receivepack true", bare)
    sh(f"git remote set-url origin {bare}; git push -q origin main", clone)
    sh(
        "git checkout -qb topic; printf 'one\\n2\\nthree\\n' >till.py; git commit -qam Topic;"
        "git push -q origin topic HEAD:refs/pull/3/head HEAD:refs/merge-requests/3/head",
        clone,
    )
    commit = sh("git rev-parse topic", clone).strip()
    server = outside.server
    server.pulls += [pull_on(server.kind, number, sha=commit) for number in (1, 2, 3)]
    for one in server.pulls[:2]:
        one["state"] = "closed"
    server.parts.files = {"till.py": "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"}
    link_account(outside, bob)
    with git_server(tmp_path) as place:
        ProjectForge.objects.update(remote_url=f"http://{place}/acme/till.git")
        yield Shop(outside, bare, clone)


@pytest.fixture
def slack_server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSlack]:
    """Slack, as this server reaches it."""
    settings.PUBLIC_URL = "https://agents.example.com"
    with slack() as server:
        monkeypatch.setattr(api, "API", f"{server.base}/api")
        yield server


@pytest.fixture
def chat(slack_server: FakeSlack, alice: User, team: Team, project: Project) -> Workspace:
    """A team whose Slack workspace is connected, with a channel for its project."""
    project.config = {"model": "demo/inline", "worktree": "project"}
    project.save()
    return connect(slack_server, alice, team, project)


@pytest.fixture
def board(alice: User, project: Project, settings: Any) -> Iterator[Board]:
    settings.PUBLIC_URL = "https://agents.example.com"
    project.config = {"model": "demo/inline", "worktree": "project"}
    project.save()
    with board_of(alice, project, settings) as made:
        yield made
