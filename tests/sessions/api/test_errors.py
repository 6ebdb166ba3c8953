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

JSON = "application/json"


@pytest.mark.parametrize(
    "path",
    ["/session/x/y/z", "/api/model", "/experimental/resource", "/tui/control/next", "/sync/start"],
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
