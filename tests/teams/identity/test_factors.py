from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core.cache import caches
from django.test import Client

from opencode_web.lib.crypto import decrypt
from teams.models import AuditEntry, FailedAttempt, User
from tests.factories import PASSWORD, make_user
from tests.teams.identity.idp import is_signed_in

pytestmark = pytest.mark.django_db

START = 1_800_000_000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [START]
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time.time", lambda: now[0])
    return now


@pytest.fixture
def user(db: None) -> User:
    return make_user("ann@example.com")


def sign_in(client: Client, **data: str) -> Any:
    return client.post("/login", {"login": "ann@example.com", "password": PASSWORD, **data})


def code_of(user: User, at: float) -> str:
    row = Authenticator.objects.get(user=user, type="totp")
    return format_hotp_value(hotp_value(decrypt(row.data["secret"]), int(at) // 30))


def set_up(client: Client, now: float) -> None:
    """Through the pages, as a person does it."""
    sign_in(client)
    assert client.get("/me/security/app")["Location"].startswith("/me/security/again?next=")
    client.post("/me/security/again?next=/me/security/app", {"password": PASSWORD})
    page = client.get("/me/security/app")
    secret = page.context["form"].secret
    code = format_hotp_value(hotp_value(secret, int(now) // 30))
    assert client.post("/me/security/app", {"code": code})["Location"] == "/me/security/codes"


@pytest.mark.django_db(transaction=True)
def test_a_person_sets_up_an_app_and_signs_in_with_it(
    user: User, client: Client, clock: list[float]
) -> None:
    set_up(client, clock[0])
    row = Authenticator.objects.get(user=user, type="totp")
    # Who reads the database has no codes by it.
    assert len(decrypt(row.data["secret"])) == 32
    actions = set(AuditEntry.objects.values_list("action", "data__type"))
    assert {("mfa.added", "totp"), ("mfa.added", "recovery_codes")} <= actions
    clock[0] += 60
    client = Client()
    assert sign_in(client, next="/me/tokens")["Location"] == "/login/code"
    assert not is_signed_in(client)
    assert client.get("/me/profile").status_code == 302
    assert client.post("/login/code", {"code": "000000"}).status_code == 200
    assert not is_signed_in(client)
    done = client.post("/login/code", {"code": code_of(user, clock[0])})
    assert done["Location"] == "/me/tokens"
    assert is_signed_in(client)


def test_a_code_counts_once_in_all_processes(
    user: User, client: Client, clock: list[float]
) -> None:
    set_up(client, clock[0])
    clock[0] += 60
    code = code_of(user, clock[0])
    for expected in (True, False):
        other = Client()
        sign_in(other)
        other.post("/login/code", {"code": code})
        assert is_signed_in(other) is expected
        # Another process has another cache.
        caches["default"].clear()
    clock[0] += 30
    other = Client()
    sign_in(other)
    # Older than the one that was used, though the clock's tolerance covers it.
    other.post("/login/code", {"code": code_of(user, clock[0] - 60)})
    assert not is_signed_in(other)
    other.post("/login/code", {"code": code_of(user, clock[0])})
    assert is_signed_in(other)


def test_the_code_that_sets_an_app_up_is_used(
    user: User, client: Client, clock: list[float]
) -> None:
    set_up(client, clock[0])
    other = Client()
    sign_in(other)
    other.post("/login/code", {"code": code_of(user, clock[0])})
    assert not is_signed_in(other)


def test_a_recovery_code_counts_once(user: User, client: Client, clock: list[float]) -> None:
    set_up(client, clock[0])
    page = client.get("/me/security/codes")
    assert "no-store" in page["Cache-Control"]
    code = page.context["unused_codes"][0]
    for expected in (True, False):
        other = Client()
        sign_in(other)
        other.post("/login/code", {"code": code})
        assert is_signed_in(other) is expected


def test_guesses_are_counted_for_the_account_in_the_database(
    user: User, client: Client, clock: list[float]
) -> None:
    set_up(client, clock[0])
    clock[0] += 60
    for guess in range(5):
        other = Client(REMOTE_ADDR=f"198.51.100.{guess}")
        sign_in(other)
        other.post("/login/code", {"code": f"00000{guess}"})
        caches["default"].clear()
    assert FailedAttempt.objects.get(kind="mfa").failures == pytest.approx(5, abs=0.1)
    other = Client(REMOTE_ADDR="198.51.100.99")
    sign_in(other)
    page = other.post("/login/code", {"code": code_of(user, clock[0])})
    assert b"Too many failed attempts" in page.content
    assert not is_signed_in(other)
    # Each guess is told, and none that was not even looked at.
    told = AuditEntry.objects.filter(action="user.sign_in_failed")
    second = {"key": "second", "account": "ann@example.com"}
    assert [(row.target_id, row.names) for row in told] == [(str(user.pk), second)] * 5


def test_a_wrong_key_as_the_second_step_is_told(
    user: User, client: Client, clock: list[float]
) -> None:
    set_up(client, clock[0])
    other = Client()
    sign_in(other)
    other.post("/login/code", {"credential": "{}"})
    assert not is_signed_in(other)
    (row,) = AuditEntry.objects.filter(action="user.sign_in_failed")
    assert row.names["key"] == "second"


@pytest.mark.parametrize(
    "path", ["app", "app/remove", "codes", "codes/new", "codes/file", "keys/new", "keys/{}/remove"]
)
def test_nothing_is_changed_without_confirming_again(path: str, user: User, client: Client) -> None:
    Authenticator.objects.create(user=user, type="totp", data={"secret": "x"})
    Authenticator.objects.create(user=user, type="recovery_codes", data={})
    key = Authenticator.objects.create(user=user, type="webauthn", data={"name": "k"})
    if path == "app":
        Authenticator.objects.filter(type="totp").delete()
    client.force_login(user)
    for method in (client.get, client.post) if path != "codes" else (client.get,):
        response = method(f"/me/security/{path.format(key.pk)}")
        assert response.status_code == 302
        assert response["Location"].startswith("/me/security/again")


def test_a_browser_from_before_the_factor_changes_nothing_with_the_password(
    user: User, client: Client, clock: list[float]
) -> None:
    sign_in(client)
    # In another browser, whose code is not known here.
    set_up(Client(), clock[0])
    asked = client.get("/me/security/keys/new")["Location"]
    assert asked.startswith("/me/security/again/code?next=")
    client.post("/me/security/again?next=/me/security/keys/new", {"password": PASSWORD})
    assert client.get("/me/security/keys/new")["Location"] == asked
    clock[0] += 30
    client.post(asked, {"code": code_of(user, clock[0])})
    assert client.get("/me/security/keys/new").status_code == 200


def test_another_persons_key_cannot_be_removed(user: User, client: Client) -> None:
    key = Authenticator.objects.create(user=user, type="webauthn", data={"name": "k"})
    other = make_user("ben@example.com")
    client.post("/login", {"login": other.email, "password": PASSWORD})
    client.post("/me/security/again?next=/me/security", {"password": PASSWORD})
    assert client.post(f"/me/security/keys/{key.pk}/remove").status_code == 404
    assert Authenticator.objects.filter(pk=key.pk).exists()


def test_a_reauthentication_does_not_lead_off_the_server(user: User, client: Client) -> None:
    sign_in(client)
    response = client.post("/me/security/again?next=https://evil.example/", {"password": PASSWORD})
    assert response["Location"] == "/"


def test_a_wrong_passkey_answer_is_no_sign_in(user: User, client: Client) -> None:
    options = client.get("/login/passkey", headers={"x-requested-with": "XMLHttpRequest"})
    assert options.json()["request_options"]["publicKey"]["userVerification"] == "required"
    for credential in ("", "{}", '{"id": "x"}', "[]"):
        response = client.post("/login/passkey", {"credential": credential})
        assert response["Location"] == "/login"
    assert not is_signed_in(client)
