from __future__ import annotations

import base64
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from sessions.models import Project, Session
from teams.actions.tokens import revoke_token
from teams.models import ApiToken, Scope, Team, User
from tests.factories import make_team, make_token
from tests.sessions.api.conftest import Connect, bearer
from tests.sessions.api.shapes import ERROR, check


def basic(email: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{email}:{secret}".encode()).decode()


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Basic"])
def test_a_token_opens_the_api(scheme: str, alice: User, team: Team, session: Session) -> None:
    secret = make_token(alice, team)[1]
    header = basic(alice.email, secret) if scheme == "Basic" else f"{scheme} {secret}"
    answer = Client(headers={"Authorization": header}).get(f"/session/{session.pk}")
    assert answer.status_code == 200
    assert answer.json()["id"] == session.pk


@pytest.mark.parametrize("kind", ["none", "wrong", "other e-mail", "expired", "revoked", "digest"])
def test_without_a_live_token_it_answers_401(
    kind: str, alice: User, bob: User, team: Team, session: Session
) -> None:
    token, secret = make_token(alice, team)
    if kind == "expired":
        ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    if kind == "revoked":
        revoke_token(token, actor=alice)
    headers = {
        "none": {},
        "wrong": {"Authorization": f"Bearer {secret[:-1]}{'y' if secret[-1] == 'x' else 'x'}"},
        "other e-mail": {"Authorization": basic(bob.email, secret)},
        "expired": {"Authorization": f"Bearer {secret}"},
        "revoked": {"Authorization": f"Bearer {secret}"},
        "digest": {"Authorization": f"Digest {secret}"},
    }[kind]
    answer = Client(headers=headers).get(f"/session/{session.pk}")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Basic ")
    check(answer.json(), ERROR)
    assert secret not in answer.content.decode()


def test_it_refuses_to_let_tokens_be_guessed(db: None) -> None:
    client = Client(headers={"Authorization": "Bearer ocw_" + "x" * 40})
    statuses = {client.get("/session").status_code for _ in range(31)}
    assert statuses == {401, 429}


def test_a_wrong_token_is_not_saved_by_a_good_cookie(alice: User, session: Session) -> None:
    client = Client(headers={"Authorization": "Bearer ocw_wrong"})
    client.force_login(alice)
    assert client.get("/session").status_code == 401


WRITES = [
    ("post", "/session", {}),
    ("patch", "/session/{session}", {"title": "x"}),
    ("delete", "/session/{session}", None),
    ("post", "/session/{session}/prompt_async", {"parts": [{"type": "text", "text": "x"}]}),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_a_viewer_reads_and_does_not_write(
    method: str, path: str, body: object, vera: User, session: Session, connect: Connect
) -> None:
    client = connect(vera)
    assert client.get(f"/session/{session.pk}").status_code == 200
    answer = getattr(client, method)(path.format(session=session.pk), body, "application/json")
    assert answer.status_code == 403
    check(answer.json(), ERROR)


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_a_read_token_of_an_owner_does_not_write(
    method: str, path: str, body: object, alice: User, session: Session, connect: Connect
) -> None:
    client = connect(alice, Scope.READ)
    assert client.get(f"/session/{session.pk}").status_code == 200
    answer = getattr(client, method)(path.format(session=session.pk), body, "application/json")
    assert answer.status_code == 403


READS = ["", "/message", "/children", "/todo", "/diff", "/message/msg_x"]


@pytest.mark.parametrize("path", READS)
def test_another_team_does_not_exist(path: str, charlie: User, session: Session) -> None:
    globex = charlie.memberships.get().team
    client = Client(headers=bearer(charlie, globex))
    answer = client.get(f"/session/{session.pk}{path}")
    assert answer.status_code == 404
    check(answer.json(), ERROR)
    assert client.get("/project").json() == []
    assert client.get("/session/status").json() == {}


@pytest.mark.parametrize(("method", "path", "body"), WRITES[1:])
def test_another_team_does_not_exist_for_writes(
    method: str, path: str, body: object, charlie: User, session: Session
) -> None:
    client = Client(headers=bearer(charlie, charlie.memberships.get().team))
    answer = getattr(client, method)(path.format(session=session.pk), body, "application/json")
    assert answer.status_code == 404


def test_a_token_is_bound_to_its_team(alice: User, session: Session, project: Project) -> None:
    other = make_team(alice, name="Initech", slug="initech")
    client = Client(headers=bearer(alice, other))
    assert client.get(f"/session/{session.pk}").status_code == 404
    assert client.get("/path", {"directory": project.directory}).status_code == 404


def test_a_signed_in_browser_needs_the_csrf_token_to_write(alice: User, session: Session) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.get(f"/session/{session.pk}").status_code == 200
    path, body, kind = f"/session/{session.pk}", {"title": "New"}, "application/json"
    assert client.patch(path, body, kind).status_code == 403
    client.cookies["csrftoken"] = "a" * 32
    answer = client.patch(path, body, kind, headers={"X-CSRFToken": "a" * 32})
    assert answer.status_code == 200
    assert answer.json()["title"] == "New"


def test_a_token_needs_no_csrf_token(alice: User, team: Team, session: Session) -> None:
    client = Client(enforce_csrf_checks=True, headers=bearer(alice, team))
    body = {"title": "New"}
    assert client.patch(f"/session/{session.pk}", body, "application/json").status_code == 200


def test_failures_count_for_the_address_that_they_come_from(
    alice: User, team: Team, session: Session
) -> None:
    guess = Client(headers={"Authorization": "Bearer ocw_" + "x" * 40})
    statuses = {guess.get("/session", REMOTE_ADDR="192.0.2.1").status_code for _ in range(31)}
    assert statuses == {401, 429}
    assert guess.get("/session", REMOTE_ADDR="192.0.2.2").status_code == 401
    good = Client(headers=bearer(alice, team))
    assert good.get(f"/session/{session.pk}", REMOTE_ADDR="192.0.2.1").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_a_browser_does_not_lend_its_basic_sign_in_to_other_sites(
    sent: dict[str, str], alice: User, team: Team, session: Session
) -> None:
    path, body, kind = f"/session/{session.pk}", {"title": "New"}, "application/json"
    secret = make_token(alice, team)[1]
    client = Client(headers={"Authorization": basic(alice.email, secret)})
    assert client.patch(path, body, kind, headers=sent).status_code == 403
    assert client.get(path, headers=sent).status_code == 200
    # Nobody's browser adds a bearer token by itself.
    script = Client(headers={"Authorization": f"Bearer {secret}"})
    assert script.patch(path, body, kind, headers=sent).status_code == 200


@pytest.mark.parametrize(
    "sent", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://testserver"}]
)
def test_basic_of_the_own_site_and_of_scripts_writes(
    sent: dict[str, str], alice: User, team: Team, session: Session
) -> None:
    client = Client(headers={"Authorization": basic(alice.email, make_token(alice, team)[1])})
    body, kind = {"title": "New"}, "application/json"
    answer = client.patch(f"/session/{session.pk}", body, kind, headers=sent)
    assert answer.status_code == 200
