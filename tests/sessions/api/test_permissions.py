from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from opencode_web.lib.ids import new_id
from sessions.events.store import append, lock_session
from sessions.events.types import PermissionAsked
from sessions.models import PermissionRequest, Project, Session
from teams.models import Scope, Team, User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, PERMISSION, check
from tests.sessions.factories import make_project, make_session

JSON = "application/json"


def ask(session: Session, pattern: str = "ls") -> str:
    event = PermissionAsked(
        id=new_id("per"),
        message_id=new_id("msg"),
        call_id=f"call_{pattern}",
        agent="build",
        permission="bash",
        patterns=[pattern],
        always=[f"{pattern} *"],
        metadata={"command": pattern},
    )
    with transaction.atomic():
        append(lock_session(session.pk), [event])
    return event.id


def test_pending_requests_are_listed(alice: User, session: Session, connect: Connect) -> None:
    made = [ask(session, "ls"), ask(session, "cat")]
    client = connect(alice)
    listed = client.get("/permission").json()
    check(listed, [PERMISSION])
    assert [request["id"] for request in listed] == made
    client.post(f"/permission/{made[0]}/reply", {"reply": "once"}, JSON)
    assert [request["id"] for request in client.get("/permission").json()] == made[1:]


def test_a_place_narrows_the_list(
    alice: User, team: Team, project: Project, session: Session, tmp_path: Path, connect: Connect
) -> None:
    other = make_project(team, tmp_path / "other", name="other")
    here, there = ask(session), ask(make_session(alice, other))
    client = connect(alice)

    def listed(**query: Any) -> list[str]:
        return [request["id"] for request in client.get("/permission", query).json()]

    assert listed() == [here, there]
    assert listed(directory=other.directory) == [there]
    assert listed(project=project.pk) == [here]


@pytest.mark.parametrize("reply", ["once", "always", "reject"])
@pytest.mark.parametrize("form", ["reply", "response"])
def test_it_is_answered_once(
    form: str, reply: str, alice: User, bob: User, session: Session, connect: Connect
) -> None:
    id_ = ask(session)
    path = {
        "reply": f"/permission/{id_}/reply",
        "response": f"/session/{session.pk}/permissions/{id_}",
    }[form]
    assert connect(bob).post(path, {form: reply}, JSON).json() is True
    assert PermissionRequest.objects.get().status == reply
    late = connect(alice).post(path, {form: "once"}, JSON)
    assert late.status_code == 409
    assert "Bob" in late.json()["data"]["message"]
    check(late.json(), ERROR)


def test_who_may_not_answer(
    vera: User, bob: User, charlie: User, session: Session, connect: Connect
) -> None:
    path, body = f"/permission/{ask(session)}/reply", {"reply": "once"}
    assert connect(vera).post(path, body, JSON).status_code == 403
    assert connect(bob, Scope.READ).post(path, body, JSON).status_code == 403
    globex = charlie.memberships.get().team
    stranger = connect(charlie, of=globex)
    assert stranger.post(path, body, JSON).status_code == 404
    assert stranger.get("/permission").json() == []
    assert PermissionRequest.objects.get().status == "pending"


def test_a_wrong_reply_or_session_changes_nothing(
    alice: User, project: Project, session: Session, connect: Connect
) -> None:
    id_, other = ask(session), make_session(alice, project)
    client = connect(alice)
    wrong = client.post(f"/permission/{id_}/reply", {"reply": "maybe"}, JSON)
    assert wrong.status_code == 400
    astray = client.post(f"/session/{other.pk}/permissions/{id_}", {"response": "once"}, JSON)
    assert astray.status_code == 404
    assert client.post("/permission/per_x/reply", {"reply": "once"}, JSON).status_code == 404
    assert PermissionRequest.objects.get().status == "pending"
