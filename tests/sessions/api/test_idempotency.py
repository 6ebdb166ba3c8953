from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test import AsyncClient, Client
from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions.models import Project, Session, SessionInput
from teams.actions import idempotency
from teams.actions.idempotency import Attempt, KeptAnswer, claim_key, keep_answer, prune_keys
from teams.models import ApiToken, IdempotencyKey, Scope, User
from tests.sessions.api.conftest import Connect, ConnectAsync
from tests.sessions.api.shapes import ERROR, check
from tests.sessions.factories import script

JSON = "application/json"
KEY = {"Idempotency-Key": "8e03978e-40d5-43e8-bc93-6894a57f9324"}
REPLAYED = "Idempotent-Replayed"


def body_of(text: str) -> dict[str, Any]:
    return {
        "model": {"providerID": "demo", "modelID": "inline"},
        "parts": [{"type": "text", "text": text}],
    }


@pytest.fixture
def client(alice: User, session: Session, connect: Connect) -> Client:
    return connect(alice)


@pytest.mark.django_db
def test_the_same_request_is_carried_out_once(client: Client) -> None:
    before = Session.objects.count()
    first, second = (
        client.post("/session", {"title": "Nightly"}, JSON, headers=KEY) for _ in range(2)
    )
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json()["title"] == "Nightly"
    assert second.content == first.content
    assert second["Content-Type"] == first["Content-Type"]
    assert (REPLAYED in first, second[REPLAYED]) == (False, "true")
    assert Session.objects.count() == before + 1
    # What was answered lies there encrypted.
    assert "Nightly" not in IdempotencyKey.objects.get().answer


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "body", "more"),
    [
        ("/session", {"title": "Other"}, {}),
        ("/session?project=x", {"title": "A"}, {}),
        ("/session", {"title": "A"}, {"x-opencode-directory": "/elsewhere"}),
        ("/session/import", {"title": "A"}, {}),
    ],
)
def test_a_key_is_refused_for_another_request(
    client: Client, path: str, body: dict[str, str], more: dict[str, str]
) -> None:
    client.post("/session", {"title": "A"}, JSON, headers=KEY)
    count = Session.objects.count()
    refused = client.post(path, body, JSON, headers={**KEY, **more})
    assert refused.status_code == 422
    check(refused.json(), ERROR)
    assert "Take a new key" in refused.json()["data"]["message"]
    assert Session.objects.count() == count


@pytest.mark.django_db
def test_callers_have_their_own_keys(
    client: Client, alice: User, bob: User, connect: Connect
) -> None:
    others = [client, connect(alice), connect(bob)]
    ids = {
        caller.post("/session", {"title": "A"}, JSON, headers=KEY).json()["id"] for caller in others
    }
    assert len(ids) == 3


@pytest.mark.django_db
def test_a_browser_has_keys_too(alice: User, session: Session) -> None:
    browser = Client()
    browser.force_login(alice)
    answers = [browser.post("/session", {}, JSON, headers=KEY).json() for _ in range(2)]
    assert answers[0]["id"] == answers[1]["id"]


@pytest.mark.django_db
def test_a_fault_leaves_the_key_free(client: Client) -> None:
    count = Session.objects.count()
    refused = client.post("/session", {"title": 5}, JSON, headers=KEY)
    assert refused.status_code == 400
    assert not IdempotencyKey.objects.exists()
    assert client.post("/session", {"title": "A"}, JSON, headers=KEY).status_code == 200
    assert Session.objects.count() == count + 1


@pytest.mark.django_db
def test_a_failure_of_the_server_leaves_neither_the_write_nor_the_key(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Session.objects.count()

    def fail(*_: object) -> None:
        raise RuntimeError("after the write")

    with monkeypatch.context() as patch:
        patch.setattr("sessions.api.sessions.session_to_wire", fail)
        assert client.post("/session", {}, JSON, headers=KEY).status_code == 500
    assert Session.objects.count() == count
    assert client.post("/session", {}, JSON, headers=KEY).status_code == 200
    assert Session.objects.count() == count + 1


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", "a b", "k" * 256, "schlüssel"])
def test_a_key_is_visible_ascii(client: Client, key: str) -> None:
    refused = client.post("/session", {}, JSON, headers={"Idempotency-Key": key})
    assert refused.status_code == 400
    assert "visible ASCII" in refused.json()["data"]["message"]


@pytest.mark.django_db
def test_who_may_not_write_learns_nothing_of_an_earlier_answer(
    client: Client, alice: User, connect: Connect
) -> None:
    client.post("/session", {"title": "A"}, JSON, headers=KEY)
    ApiToken.objects.update(revoked_at="2026-01-01T00:00:00Z")
    refused = client.post("/session", {"title": "A"}, JSON, headers=KEY)
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"]
    check(refused.json(), ERROR)
    reader = connect(alice, Scope.READ)
    assert reader.post("/session", {"title": "A"}, JSON, headers=KEY).status_code == 403


@pytest.mark.django_db
def test_reading_takes_no_key(client: Client) -> None:
    assert client.get("/session", headers=KEY).status_code == 200
    assert not IdempotencyKey.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_one(session: Session, alice: User, connect: Connect) -> None:
    client, together = connect(alice), Barrier(2)
    count = Session.objects.count()

    def send() -> Any:
        together.wait(30)
        try:
            return client.post("/session", {"title": "A"}, JSON, headers=KEY).json()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        sent = [pool.submit(send) for _ in range(2)]
        answers = [one.result(60) for one in sent]
    assert answers[0] == answers[1]
    assert Session.objects.count() == count + 1


@pytest.fixture
async def connection(alice: User, session: Session, connect_async: ConnectAsync) -> AsyncClient:
    return await in_db(connect_async, alice)


@pytest.mark.django_db(transaction=True)
async def test_a_prompt_that_waits_is_answered_again(
    connection: AsyncClient, session: Session, worker: None
) -> None:
    body = body_of(script([{"text": "Hello."}]))
    path = f"/session/{session.pk}/message"
    first = await connection.post(path, body, JSON, headers=KEY)
    second = await connection.post(path, body, JSON, headers=KEY)
    assert first.status_code == second.status_code == 200
    assert second.content == first.content
    assert second[REPLAYED] == "true"
    assert await in_db(SessionInput.objects.count) == 1


@pytest.mark.django_db(transaction=True)
async def test_a_prompt_that_still_runs_is_a_conflict_and_after_a_crash_goes_on(
    connection: AsyncClient, session: Session
) -> None:
    body = {**body_of("hi"), "noReply": True}
    path = f"/session/{session.pk}/message"
    # What a process has left that died after it admitted the prompt, before it answered.
    first = await connection.post(path, body, JSON, headers=KEY)
    running = {"state": "running", "answer": "", "status": 0}
    await in_db(IdempotencyKey.objects.update, **running)
    busy = await connection.post(path, body, JSON, headers=KEY)
    assert busy.status_code == 409
    assert "still running" in busy.json()["data"]["message"]
    await in_db(idempotency.give_up_claim, Attempt(await _row_id(), ""), forget=False)
    again = await connection.post(path, body, JSON, headers=KEY)
    assert again.status_code == 200
    assert again.json()["info"]["id"] == first.json()["info"]["id"]
    assert await in_db(SessionInput.objects.count) == 1


@pytest.mark.django_db(transaction=True)
async def test_what_could_be_done_twice_is_refused_after_a_crash(
    connection: AsyncClient, session: Session, project: Project
) -> None:
    body = {"patch": "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"}
    path = f"/vcs/apply?directory={project.directory}"
    fault = await connection.post(path, {"patch": "nonsense"}, JSON, headers=KEY)
    assert fault.status_code == 400
    first = await connection.post(path, body, JSON, headers=KEY)
    assert first.status_code == 200, first.content
    long_ago = timezone.now() - timedelta(minutes=1)
    await in_db(
        IdempotencyKey.objects.update,
        state="running",
        answer="",
        status=0,
        held_until=long_ago,
    )
    for _ in range(2):
        again = await connection.post(path, body, JSON, headers=KEY)
        assert again.status_code == 409
        assert "may or may not have taken effect" in again.json()["data"]["message"]
    other = {"Idempotency-Key": "a-new-one"}
    assert (await connection.post(path, body, JSON, headers=other)).status_code == 400


@pytest.mark.django_db(transaction=True)
async def test_an_answer_stands_when_the_database_goes_away_after_it(
    connection: AsyncClient, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr("opencode_web.idempotency.give_up_claim", fail)
    path = f"/session/{session.pk}/message"
    body = {**body_of("hi"), "noReply": True}
    first = await connection.post(path, body, JSON, headers=KEY)
    assert first.status_code == 200
    assert (await connection.post(path, body, JSON, headers=KEY)).content == first.content
    monkeypatch.setattr("opencode_web.idempotency.claim_key", fail)
    assert (await connection.post(path, body, JSON, headers=KEY)).status_code == 503


async def _row_id() -> int:
    return (await in_db(IdempotencyKey.objects.get)).pk


@pytest.mark.django_db(transaction=True)
async def test_a_fault_of_a_route_that_waits_leaves_the_key_free(
    connection: AsyncClient, session: Session
) -> None:
    path = f"/session/{session.pk}/message"
    refused = await connection.post(path, {"parts": []}, JSON, headers=KEY)
    assert refused.status_code == 400
    assert not await in_db(IdempotencyKey.objects.exists)
    unknown = await connection.post(path, {"parts": []}, JSON, headers={"Idempotency-Key": " "})
    assert unknown.status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "secret", "reason"),
    [(b"x" * 300_000, False, "larger than 256 KiB"), (b"ocw_key", True, "shown once")],
)
def test_what_is_too_large_or_secret_is_not_kept(body: bytes, secret: bool, reason: str) -> None:
    attempt = claim_key("tok_1", key="k", digest="d")
    assert isinstance(attempt, Attempt)
    keep_answer(attempt, status=200, content_type=JSON, body=body, secret=secret)
    kept = claim_key("tok_1", key="k", digest="d")
    assert isinstance(kept, KeptAnswer)
    assert (kept.status, kept.body) == (200, b"")
    assert reason in kept.withheld
    assert IdempotencyKey.objects.get().answer == ""


@pytest.mark.django_db
def test_a_key_is_free_again_after_a_day() -> None:
    claim_key("tok_1", key="k", digest="d")
    IdempotencyKey.objects.update(created_at=idempotency.timezone.now() - timedelta(hours=25))
    assert isinstance(claim_key("tok_1", key="k", digest="other"), Attempt)
    claim_key("tok_2", key="old", digest="d")
    IdempotencyKey.objects.filter(key="old").update(
        created_at=idempotency.timezone.now() - timedelta(hours=25)
    )
    assert prune_keys() == 1
    assert [row.digest for row in IdempotencyKey.objects.all()] == ["other"]
