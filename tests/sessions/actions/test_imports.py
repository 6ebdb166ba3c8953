from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from opencode_web.lib.errors import Conflict, Invalid
from sessions.access import access_project
from sessions.actions.imports import import_session
from sessions.models import Event, Message, Part, Project, Session
from sessions.present.pages.export import export_pieces
from teams.audit import AuditAction
from teams.auth import authenticate_user
from teams.models import AuditEntry, User
from tests.sessions.projection import assert_log_equals_rows

pytestmark = pytest.mark.django_db
MS = 1_700_000_000_000
PNG = "data:image/png;base64,AA=="


def _part(type: str, **fields: Any) -> dict[str, Any]:
    return {"id": "prt_x", "sessionID": "ses_x", "messageID": "msg_x", "type": type, **fields}


def _document() -> dict[str, Any]:
    """As another server writes it: fields that we do not know, calls that had not ended."""
    user = {
        "id": "msg_1",
        "sessionID": "ses_x",
        "role": "user",
        "time": {"created": MS},
        "agent": "build",
        "model": {"providerID": "demo", "modelID": "inline"},
        "unknown": 1,
    }
    answer = {
        "id": "msg_2",
        "sessionID": "ses_x",
        "role": "assistant",
        "time": {"created": MS},
        "parentID": "msg_1",
        "modelID": "inline",
        "providerID": "demo",
        "mode": "build",
        "agent": "build",
        "path": {"cwd": "/x", "root": "/x"},
        "finish": "tool-calls",
        "cost": 0.5,
        "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}},
    }
    done = {
        "status": "completed",
        "input": {},
        "output": "ok",
        "title": "t",
        "metadata": {},
        "time": {"start": MS, "end": MS},
        "attachments": [_part("file", mime="image/png", url=PNG)],
    }
    pending = {"status": "pending", "input": {"command": "rm -rf ."}, "raw": ""}
    return {
        "info": {
            "id": "ses_x",
            "title": "Brought",
            "agent": "plan",
            "model": {"providerID": "demo", "id": "inline"},
            "permission": [
                {"permission": "bash", "pattern": "*", "action": "allow"},
                {"permission": "edit", "pattern": "*", "action": "deny"},
            ],
            "cost": 12,
        },
        "messages": [
            {
                "info": user,
                "parts": [
                    _part("text", text="hello"),
                    _part("file", mime="image/png", url=PNG, filename="a.png"),
                ],
                "author": "alice@example.com",
            },
            {
                "info": answer,
                "parts": [
                    _part("step-start", snapshot="--output=/etc/passwd"),
                    _part("text", text="half", time={"start": MS}),
                    _part("tool", callID="c1", tool="read", state=done),
                    _part("tool", callID="c2", tool="bash", state=pending),
                    _part("patch", hash="--exec", files=["/etc/passwd"]),
                ],
            },
        ],
    }


def _import(user: User, project: Project, document: dict[str, Any]) -> Session:
    access = access_project(authenticate_user(user), project.pk)
    return import_session(access, document["info"], document["messages"])


def _states(session: Session) -> list[str]:
    parts = Part.objects.filter(session=session, type="tool").order_by("seq")
    return [row.data["state"]["status"] for row in parts]


def test_a_document_of_another_server_becomes_a_session(alice: User, project: Project) -> None:
    session = _import(alice, project, _document())
    assert (session.title, session.agent, session.owner) == ("Brought", "plan", alice)
    assert session.model == {"providerID": "demo", "id": "inline"}
    assert session.cost == 0
    messages = list(session.messages.order_by("seq"))
    assert [row.role for row in messages] == ["user", "assistant"]
    assert messages[1].data["parentID"] == messages[0].pk
    assert not {row.pk for row in messages} & {"msg_1", "msg_2"}
    types = [row.type for row in session.parts.order_by("seq")]
    assert types == ["text", "file", "step-start", "text", "tool", "tool"]
    file = session.parts.get(type="file")
    assert file.data["url"] == PNG
    entry = AuditEntry.objects.get(action=AuditAction.SESSION_IMPORTED)
    assert (entry.actor, entry.target_id) == (alice, session.pk)
    assert_log_equals_rows(session)


def test_nothing_of_it_is_left_to_run(alice: User, project: Project) -> None:
    session = _import(alice, project, _document())
    assert _states(session) == ["completed", "error"]
    answer = session.messages.get(role="assistant")
    assert answer.data["time"]["completed"] == MS
    assert answer.data["error"]["name"] == "MessageAbortedError"
    text = session.parts.get(type="text", message=answer)
    assert text.data["time"] == {"start": MS, "end": MS}
    assert session.state == "idle"


def test_what_only_its_own_server_could_mean_is_left_out(alice: User, project: Project) -> None:
    session = _import(alice, project, _document())
    assert session.permission == [{"permission": "edit", "pattern": "*", "action": "deny"}]
    stored = json.dumps(list(Event.objects.filter(session=session).values_list("data", flat=True)))
    assert "passwd" not in stored
    assert "--exec" not in stored


def test_nobody_is_made_the_author_but_who_imports(
    alice: User, bob: User, project: Project
) -> None:
    own = _import(alice, project, _document())
    assert own.messages.get(role="user").author == alice
    foreign = _import(bob, project, _document())
    assert foreign.messages.get(role="user").author is None


def test_what_was_rolled_back_is_not_taken_over(alice: User, project: Project) -> None:
    document = _document()
    document["info"]["revert"] = {"messageID": "msg_2", "snapshot": "x", "diff": "y"}
    session = _import(alice, project, document)
    assert (session.messages.count(), session.revert) == (1, {})
    document["messages"][1]["parts"][2]["id"] = "prt_end"
    document["info"]["revert"]["partID"] = "prt_end"
    half = _import(alice, project, document)
    assert [row.type for row in half.parts.order_by("seq")][2:] == ["step-start", "text"]


BAD: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("info",), 7, "info: Input should"),
    (("info", "agent"), "x" * 61, "info.agent: String should"),
    (("info", "model"), {"id": 1}, "info.model.id: Input should"),
    (("messages",), {}, "messages: a list"),
    (("messages", 1), None, "messages.1: an object"),
    (("messages", 0, "info"), [], "messages.0.info: an object"),
    (("messages", 0, "info", "role"), "system", "messages.0.info: Input tag"),
    (("messages", 0, "info", "time", "created"), 10**30, "messages.0.info.time.created"),
    (("messages", 1, "info", "tokens", "input"), -1, "messages.1.info.tokens: counts"),
    (("messages", 1, "info", "cost"), float("inf"), "messages.1.info.cost: an amount"),
    (("messages", 1, "parts"), "x", "messages.1.parts: a list"),
    (("messages", 1, "parts", 1, "text"), None, "messages.1.parts.1.text: Input should"),
    (("messages", 1, "parts", 1, "type"), "spell", "messages.1.parts.1: Input tag"),
    (("messages", 0, "parts", 1, "url"), "data:image/png;base64,%%", "messages.0.parts.1.url"),
    (("messages", 1, "parts", 1, "time", "start"), -5, "messages.1.parts.1.time.start"),
]


@pytest.mark.parametrize(("place", "value", "said"), BAD, ids=lambda value: str(value)[:40])
def test_a_fault_is_named_with_its_place_and_nothing_stays(
    alice: User, project: Project, place: tuple[str | int, ...], value: Any, said: str
) -> None:
    document: Any = _document()
    inside = document
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    with pytest.raises(Invalid) as refused:
        _import(alice, project, document)
    assert refused.value.message.startswith(said)
    assert not Session.objects.exists()


def test_a_page_shows_whatever_a_result_holds(
    alice: User, project: Project, client_for: Any
) -> None:
    document = _document()
    odd: list[Any] = [{"diff": 7}, {"filediff": [1]}, {"files": {"a": []}}, {"display": "x"}]
    state = document["messages"][1]["parts"][2]["state"]
    for tool in ("read", "edit", "write", "bash", "grep", "glob", "list", "task", "../../x", ""):
        for metadata in odd:
            part = _part("tool", callID="c", tool=tool)
            part["state"] = {**copy.deepcopy(state), "metadata": metadata, "input": {"filePath": 1}}
            document["messages"][1]["parts"].append(part)
    document["messages"][0]["info"]["summary"] = {"diffs": [{"file": 1, "patch": [], "x": {}}, 5]}
    session = _import(alice, project, document)
    client: Client = client_for(alice)
    assert client.get(f"/t/acme/s/{session.pk}?panel=changes").status_code == 200


def test_a_project_that_is_not_ready_takes_none(alice: User, project: Project) -> None:
    Project.objects.update(status=Project.Status.FAILED)
    with pytest.raises(Conflict):
        _import(alice, Project.objects.get(), _document())


def test_more_parts_than_a_session_may_have(
    alice: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.actions.imports.MAX_PARTS", 3)
    with pytest.raises(Invalid, match=r"messages\.1\.parts\.1: a session has at most 3 parts"):
        _import(alice, project, _document())
    assert Message.objects.count() == 0


def _loaded(session: Session) -> Session:
    return Session.objects.select_related("project").get(pk=session.pk)


@pytest.mark.django_db(transaction=True)
def test_what_is_exported_comes_back_the_same(alice: User, project: Project) -> None:
    async def read(session: Session) -> str:
        return "".join([piece async for piece in export_pieces(session)])

    first = _import(alice, project, _document())
    document = json.loads(async_to_sync(read)(_loaded(first)))
    second = _import(alice, project, document)
    again = json.loads(async_to_sync(read)(_loaded(second)))

    def plain(found: dict[str, Any]) -> list[Any]:
        drop = ("id", "sessionID", "messageID", "parentID")

        def clean(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: clean(item) for key, item in value.items() if key not in drop}
            return [clean(item) for item in value] if isinstance(value, list) else value

        return list(clean(found["messages"]))

    assert plain(again) == plain(document)
    assert document["messages"][0]["author"] == "alice@example.com"
