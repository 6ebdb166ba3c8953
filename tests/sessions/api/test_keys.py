from __future__ import annotations

from typing import Any

import pytest

from providers.models import Credential, ProviderConfig
from sessions.models import Project
from teams.models import AuditEntry, Scope, Team, User
from tests.sessions.api.conftest import Connect

JSON = "application/json"
KEY = "sk-test-0123456789abcdef"
API = {"type": "api", "key": KEY}


def test_a_key_is_set_for_the_team_and_forgotten(
    alice: User, connect: Connect, team: Team, project: Project
) -> None:
    client = connect(alice)
    assert client.put("/auth/openai", API, JSON).json() is True
    row = ProviderConfig.objects.get(team=team, provider_id="openai")
    assert Credential.objects.get(provider=row).last4 == "cdef"
    assert "openai" in client.get("/provider").json()["connected"]
    methods = client.get("/provider/auth").json()
    assert methods["openai"] == [{"type": "api", "label": "API key of the team"}]
    assert "demo" not in methods
    assert client.delete("/auth/openai").json() is True
    assert client.delete("/auth/openai").json() is True
    assert "openai" not in client.get("/provider").json()["connected"]
    said = [entry.data for entry in AuditEntry.objects.filter(target_type="providerconfig")]
    assert said[-1] == {"provider": "openai", "key": "removed"}
    assert KEY not in str(said)


def test_a_provider_of_the_settings_takes_a_key(
    alice: User, connect: Connect, team: Team, project: Project
) -> None:
    client = connect(alice)
    block = {"options": {"baseURL": "http://127.0.0.1:9/v1"}, "models": {"m": {}}}
    client.patch("/global/config", {"provider": {"own": block}}, JSON)
    assert client.put("/auth/own", API, JSON).status_code == 200
    assert ProviderConfig.objects.get(provider_id="own").base_url == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("provider", "body", "status"),
    [
        ("nobody-knows", API, 400),
        ("openai", {"type": "oauth", "refresh": "x", "access": "y", "expires": 1}, 400),
        ("openai", {"type": "wellknown", "key": "x", "token": "y"}, 400),
        ("openai", {"type": "api", "key": "two\nlines"}, 400),
        ("openai", {"type": "other"}, 400),
        ("demo", API, 400),
    ],
)
def test_what_is_no_key_of_a_team_is_refused(
    provider: str, body: Any, status: int, alice: User, connect: Connect, project: Project
) -> None:
    answer = connect(alice).put(f"/auth/{provider}", body, JSON)
    assert answer.status_code == status
    assert KEY not in answer.content.decode()
    assert not Credential.objects.exists()


def test_keys_are_for_admins_with_the_right_token(
    alice: User, bob: User, connect: Connect, project: Project
) -> None:
    for client in (connect(bob), connect(alice, Scope.WRITE)):
        assert client.put("/auth/openai", API, JSON).status_code == 403
        assert client.delete("/auth/openai").status_code == 403


def test_there_is_no_sign_in_of_one_person(alice: User, connect: Connect, project: Project) -> None:
    for act in ("authorize", "callback"):
        answer = connect(alice).post(f"/provider/openai/oauth/{act}", {"method": 0}, JSON)
        assert answer.status_code == 400
        assert "PUT /auth/{id}" in answer.json()["data"]["message"]
