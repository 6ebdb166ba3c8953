from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.loop import submit
from sessions.access import ProjectAccess, access_project
from sessions.forges.adapter import ForgeKind
from sessions.integrations.handle import handle_due
from sessions.integrations.replies import send_replies
from sessions.integrations.setup import host_of, set_up_integration
from sessions.integrations.slack import api
from sessions.models import (
    InboundDelivery,
    LinkedAccount,
    OutsideReply,
    Project,
    ProjectForge,
    Session,
)
from sessions.publish_settings import publishing_of
from sessions.runner import run_session
from teams.auth import authenticate_user
from teams.models import Team, User
from tests.sessions.factories import script
from tests.sessions.forges.servers import TOKEN, FakeForge, forge
from tests.sessions.integrations.slack_server import FakeSlack, slack
from tests.sessions.integrations.slack_workspace import Workspace, connect

REPOSITORY = "acme/till"
SAYS = script([{"text": "Tax is added in `till.py` **and** `bill.py`."}])


def reach(user: User, project: Project) -> ProjectAccess:
    return access_project(authenticate_user(user), project.pk)


@dataclass
class Forge:
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
        assert answer.status_code == 202, answer.content
        self.work()
        return InboundDelivery.objects.get(pk=answer.json()["delivery"])

    def work(self) -> None:
        """Do what is due, whenever that was to be."""
        InboundDelivery.objects.filter(state="waiting").update(next_at=timezone.now())
        submit(handle_due()).result(30)
        self.write()

    def write(self) -> None:
        OutsideReply.objects.filter(state="pending").update(next_at=timezone.now())
        submit(send_replies()).result(30)

    @property
    def answers(self) -> list[str]:
        """What the server has written there."""
        return [one["body"] for one in self.server.comments if "<!-- rep_" in one["body"]]


@pytest.fixture(params=list(ForgeKind))
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
