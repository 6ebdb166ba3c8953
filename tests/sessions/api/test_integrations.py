from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from opencode_web.lib.crypto import decrypt
from sessions.models import (
    GitHubApp,
    GitHubInstallation,
    InboundDelivery,
    Integration,
    Project,
    ProjectForge,
)
from teams.access import access_team
from teams.actions.services import create_service
from teams.models import AuditEntry, Role, Scope, User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, check
from tests.sessions.factories import make_project

pytestmark = pytest.mark.django_db

JSON = "application/json"
REMOTE = "https://github.com/acme/till.git"
RULE = {"trigger": "issue_opened", "prompt": "Look at {url}.", "perHour": 5}


@pytest.fixture
def client(alice: User, project: Project, connect: Connect) -> Client:
    ProjectForge.objects.create(project=project, remote_url=REMOTE, updated_at=timezone.now())
    return connect(alice, Scope.ADMIN)


@pytest.fixture
def path(project: Project) -> str:
    return f"/project/{project.pk}/integration"


def send(client: Client, method: str, path: str, body: dict[str, Any]) -> Any:
    answer = getattr(client, method)(path, body, JSON)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_only_those_of_forges_are_listed(client: Client, path: str, project: Project) -> None:
    made = send(client, "put", path, {})
    kind = {"kind": "linear", "is_tracker": True, "created_at": timezone.now()}
    Integration.objects.create(id="igr_linear", team=project.team, project=project, **kind)
    assert [one["id"] for one in client.get("/integration").json()] == [made["id"]]


def test_a_list_of_five_takes_as_many_statements_as_one(
    client: Client, path: str, project: Project, tmp_path: Path
) -> None:
    now = timezone.now()
    github = {"api_url": "https://api.github.com", "origin": "https://github.com"}
    app = GitHubApp.objects.create(team=project.team, number=1, created_at=now, **github)
    send(client, "put", path, {})
    client.get("/integration")
    with CaptureQueriesContext(connection) as one_row:
        client.get("/integration")
    for name in "abcd":
        one = make_project(project.team, tmp_path / name, name=name)
        ProjectForge.objects.create(project=one, remote_url=REMOTE, updated_at=now)
        GitHubInstallation.objects.create(project=one, app=app, number=1, repository="acme/till")
        send(client, "put", f"/project/{one.pk}/integration", {})
    with CaptureQueriesContext(connection) as five_rows:
        rows = client.get("/integration").json()
    assert (len(rows), len(five_rows)) == (5, len(one_row))
    assert not any("access token" in one for row in rows[1:] for one in row["problems"])


def test_its_life(client: Client, path: str, alice: User, project: Project) -> None:
    assert client.get("/integration").json() == []
    assert client.get(path).status_code == 404
    account = create_service(access_team(alice, project.team_id), name="Robot", role=Role.MEMBER)
    answer = client.put(path, {"checks": True, "serviceAccountID": account.user_id}, JSON)
    made = answer.json()
    assert answer["Cache-Control"] == "no-store"
    assert made.pop("secret") == decrypt(Integration.objects.get().secret)
    assert (made["forge"], made["command"], made["checks"]) == ("github", "/oc", True)
    assert made["address"] == f"/integrations/{made['id']}"
    assert "PUBLIC_URL" in made["problems"][0]
    assert client.get(path).json() == made
    assert client.get("/integration").json() == [made]
    changed = send(client, "put", path, {"command": "/agent"})
    assert {name: changed.get(name) for name in ("command", "serviceAccountID", "secret")} == {
        "command": "/agent",
        "serviceAccountID": None,
        "secret": None,
    }
    secret = client.post(f"{path}/secret").json()["secret"]
    assert secret == decrypt(Integration.objects.get().secret)
    assert client.delete(path).json() is True
    assert client.get("/integration").json() == []


def test_its_rules(client: Client, path: str) -> None:
    send(client, "put", path, {})
    first = send(client, "post", f"{path}/rule", {**RULE, "costLimit": "1.50"})
    label = {"trigger": "issue_labeled", "label": "agent", "prompt": "Do {url}."}
    second = send(client, "post", f"{path}/rule", label)
    assert (first["perHour"], first["costLimit"], second["audience"]) == (5, 1.5, "linked")
    assert client.get(f"{path}/rule").json() == [first, second]
    one = f"{path}/rule/{second['id']}"
    off = send(client, "patch", one, {"enabled": False, "position": 1})
    assert off == {**second, "enabled": False}
    assert client.get(one).json() == off
    assert client.get(f"{path}/rule").json() == [off, first]
    other = f"{path}/rule/{first['id']}"
    assert "costLimit" not in send(client, "patch", other, {"costLimit": None, "prompt": None})
    assert send(client, "patch", other, {"position": 9})["prompt"] == RULE["prompt"]
    assert client.delete(one).json() is True
    assert [row["id"] for row in client.get(f"{path}/rule").json()] == [first["id"]]
    audited = AuditEntry.objects.filter(action__startswith="integration.rule").order_by("pk")
    assert [row.action.partition("_")[2] for row in audited] == [
        *("added", "added", "changed", "changed", "changed", "removed"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {**RULE, "trigger": "star"},
        {**RULE, "audience": "anybody"},
        {**RULE, "perHour": 0},
        {**RULE, "perHour": 10**30},
        {**RULE, "costLimit": "0.001"},
        {**RULE, "costLimit": "NaN"},
        {**RULE, "serviceAccountID": 10**30},
        {**RULE, "prompt": "{nothing}"},
    ],
)
def test_what_no_rule_can_be_is_refused(client: Client, path: str, body: dict[str, Any]) -> None:
    send(client, "put", path, {})
    answer = client.post(f"{path}/rule", body, JSON)
    assert answer.status_code == 400
    check(answer.json(), ERROR)
    assert client.get(f"{path}/rule").json() == []


def test_a_delivery_that_has_failed_is_tried_again(client: Client, path: str) -> None:
    send(client, "put", path, {})
    now = timezone.now()
    rows = [
        InboundDelivery.objects.create(
            id=f"ind_{state}",
            integration=Integration.objects.get(),
            digest=state,
            event="issue_comment",
            state=state,
            attempts=6,
            next_at=now,
            received_at=now,
            problem="GitHub could not be reached.",
        )
        for state in ("failed", "handled")
    ]
    listed = client.get(f"{path}/delivery").json()
    assert [(one["id"], one["state"]) for one in listed] == [
        ("ind_handled", "handled"),
        ("ind_failed", "failed"),
    ]
    assert client.get(f"{path}/delivery?before=ind_handled&limit=1").json() == [listed[1]]
    again = client.post(f"{path}/delivery/{rows[0].pk}/retry").json()
    assert (again["state"], again["attempts"]) == ("waiting", 0)
    assert "next" in again["time"]
    assert client.post(f"{path}/delivery/{rows[1].pk}/retry").status_code == 404
