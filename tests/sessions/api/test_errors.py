from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.test import Client

from sessions.models import Session
from teams.models import User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, check

pytestmark = pytest.mark.any_database

JSON = "application/json"


@pytest.mark.parametrize(
    "path",
    ["/session/x/y/z", "/api/nothing", "/experimental/other", "/tui/control", "/sync"],
)
def test_an_unknown_route_is_json(path: str, alice: User, connect: Connect) -> None:
    for method in ("get", "post"):
        answer = getattr(connect(alice), method)(path)
        assert answer.status_code == 404
        check(answer.json(), ERROR)


def test_a_page_that_only_begins_like_a_route_is_no_route(client: Client, db: None) -> None:
    answer = client.get("/sessions-of-mine")
    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")


def test_a_wrong_method_is_json(alice: User, session: Session, connect: Connect) -> None:
    for path in (f"/session/{session.pk}", f"/session/{session.pk}/message"):
        answer = connect(alice).put(path)
        assert answer.status_code == 405
        assert "GET" in answer["Allow"]
        check(answer.json(), ERROR)


@pytest.mark.parametrize("body", ["{", "[1", '"\\ud800', "\xff"])
def test_broken_json_is_a_bad_request(
    body: str, alice: User, session: Session, connect: Connect
) -> None:
    answer = connect(alice).patch(f"/session/{session.pk}", body.encode("latin-1"), JSON)
    assert answer.status_code == 400
    check(answer.json(), ERROR)


def test_a_violation_says_where(alice: User, session: Session, connect: Connect) -> None:
    path = f"/session/{session.pk}/prompt_async"
    answer = connect(alice).post(path, {"parts": "x"}, JSON)
    assert answer.status_code == 400
    assert answer.json()["data"]["kind"] == "Payload"
    assert answer.json()["data"]["message"].startswith("parts: ")
    query = connect(alice).get("/session", {"limit": "many"})
    assert query.json()["data"]["kind"] == "Query"
    assert query.json()["data"]["message"].startswith("limit: ")


def test_too_much_is_refused(
    alice: User, session: Session, connect: Connect, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    body = {"title": "x" * 2_000}
    answer = connect(alice).patch(f"/session/{session.pk}", body, JSON)
    assert answer.status_code == 413
    check(answer.json(), ERROR)


def test_a_nul_is_refused_before_the_database_sees_it(
    alice: User, session: Session, connect: Connect
) -> None:
    client = connect(alice)
    assert client.get("/session/ses_%00").status_code == 400
    assert client.get("/session?search=%00").status_code == 400
    assert client.patch(f"/session/{session.pk}", {"title": "a\0b"}, JSON).status_code == 400
    spelled = client.patch(f"/session/{session.pk}", {"title": "a\\u0000b"}, JSON)
    assert spelled.json()["title"] == "a\\u0000b"


def test_a_fault_of_ours_is_logged_once_and_tells_nothing(
    alice: User,
    session: Session,
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError("the inside of the server")

    monkeypatch.setattr("sessions.api.sessions.session_to_wire", fail)
    with caplog.at_level(logging.ERROR):
        answer = connect(alice).get(f"/session/{session.pk}")
    assert answer.status_code == 500
    error = answer.json()
    assert error["name"] == "UnknownError"
    assert "inside" not in json.dumps(error)
    ours = [record for record in caplog.records if record.name == "opencode_web.api"]
    assert len(ours) == 1
    assert error["data"]["ref"] in ours[0].getMessage()


@pytest.mark.parametrize(
    "raw",
    ['{"metadata": {"a": NaN}}', '{"metadata": ' + '{"a":' * 60 + "1" + "}" * 61],
)
def test_what_is_no_json_or_too_deep_is_a_bad_request(
    raw: str, alice: User, session: Session, connect: Connect
) -> None:
    answer = connect(alice).patch(f"/session/{session.pk}", raw, JSON)
    assert answer.status_code == 400
    check(answer.json(), ERROR)


def test_lone_surrogates_are_replaced(alice: User, session: Session, connect: Connect) -> None:
    client = connect(alice)
    raw = r'{"title": "a\ud800b", "metadata": {"k\udfff": ["\ud800"]}}'
    assert client.patch(f"/session/{session.pk}", raw, JSON).status_code == 200
    session.refresh_from_db()
    assert session.title == "a\ufffdb"
    assert client.get(f"/session/{session.pk}").json()["title"] == "a\ufffdb"


@pytest.mark.parametrize("field", ["metadata", "format", "system"])
def test_what_a_prompt_or_session_carries_is_bounded(
    field: str, alice: User, session: Session, connect: Connect
) -> None:
    value: object = "x" * 70_000 if field == "system" else {"a": "x" * 70_000}
    client = connect(alice)
    if field == "metadata":
        answers = [
            client.patch(f"/session/{session.pk}", {field: value}, JSON),
            client.post(f"/session?project={session.project_id}", {field: value}, JSON),
        ]
    else:
        body = {"parts": [{"type": "text", "text": "x"}], field: value}
        answers = [client.post(f"/session/{session.pk}/prompt_async", body, JSON)]
    for answer in answers:
        assert answer.status_code == 400
        check(answer.json(), ERROR)


@pytest.mark.parametrize("limit", [10**30, 2**63, 2**31, 5_000, 0])
def test_a_huge_limit_is_no_fault(
    limit: int, alice: User, session: Session, connect: Connect
) -> None:
    client = connect(alice)
    assert client.get(f"/session/{session.pk}/message", {"limit": limit}).status_code == 200
    listed = client.get("/session", {"limit": limit, "project": session.project_id})
    assert listed.status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "tag", "ids"),
    [
        ("get", "/session/ses_x", None, "SessionNotFoundError", {"sessionID": "ses_x"}),
        (
            "post",
            "/permission/per_x/reply",
            {"reply": "once"},
            "PermissionNotFoundError",
            {"requestID": "per_x"},
        ),
        ("post", "/question/que_x/reject", None, "QuestionNotFoundError", {"requestID": "que_x"}),
        ("patch", "/project/x", {"name": "y"}, "ProjectNotFoundError", {"projectID": "x"}),
        ("post", "/mcp/x/connect", None, "McpServerNotFoundError", {"name": "x"}),
        ("get", "/pty/pty_x", None, "PtyNotFoundError", {"ptyID": "pty_x"}),
        ("get", "/api/provider/x", None, "ProviderNotFoundError", {"providerID": "x"}),
        ("post", "/session", {"title": 5}, "InvalidRequestError", {}),
    ],
)
def test_an_error_has_its_tag_and_what_is_missing(
    method: str,
    path: str,
    body: object,
    tag: str,
    ids: dict[str, str],
    alice: User,
    session: Session,
    connect: Connect,
) -> None:
    answer = connect(alice).generic(
        method.upper(), path, json.dumps(body) if body else "", content_type="application/json"
    )
    error = answer.json()
    assert error["_tag"] == tag
    assert error["message"] == error["data"]["message"]
    assert {key: error[key] for key in ids} == ids
