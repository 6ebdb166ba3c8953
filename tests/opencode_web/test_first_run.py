from __future__ import annotations

import threading
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.utils import translation
from pytest_django import Settings

from opencode_web.first_run import Installation, create_installation
from opencode_web.lib.errors import Conflict
from opencode_web.setup_key import ensure_setup_key, is_setup_key, remove_setup_key
from providers.resolve import default_model, resolve_model
from providers.testing import load_demo
from sessions.models import Project
from teams.actions.attempts import OF_ADDRESS
from teams.models import Membership, Role, User
from tests.factories import make_failures

FIELDS = {
    "name": "Olga",
    "email": "Olga@Example.com",
    "password": "correct-horse-battery",
    "team_name": "Acme & Sons",
}


@pytest.fixture(autouse=True)
def folders(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    settings.WORKTREES_DIR = tmp_path / "worktrees"


def install(**changes: object) -> Installation:
    return create_installation(**{**FIELDS, "only_first": True, **changes})  # type: ignore[arg-type]


def test_the_key_is_one_until_it_is_removed() -> None:
    key = ensure_setup_key()
    assert ensure_setup_key() == key
    assert is_setup_key(key)
    assert not is_setup_key("")
    assert not is_setup_key(key + "x")
    assert not is_setup_key("ключ")
    remove_setup_key()
    assert not is_setup_key(key)
    assert ensure_setup_key() != key


@pytest.mark.django_db
def test_an_installation_can_prompt_without_a_key() -> None:
    made = install()
    assert made.user.is_superuser
    assert Membership.objects.get(team=made.team, user=made.user).role == Role.OWNER
    assert (Path(made.project.directory) / "till.py").is_file()
    ref = default_model(made.team, wanted=None)
    assert ref.provider_id == "demo"
    assert "scripted" in resolve_model(made.team, ref).name.lower()


@pytest.mark.django_db
def test_what_is_made_for_the_owner_is_in_their_language() -> None:
    with translation.override("de"):
        made = install()
    assert made.user.language == "de"
    assert made.project.name == "Beispielprojekt"
    assert load_demo(made.user.language) != load_demo() == load_demo("fr")


@pytest.mark.django_db(transaction=True)
def test_a_failing_first_run_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Exception, match="git could not run"):
        install()
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_first_runs_at_once_make_one_owner() -> None:
    results: list[str] = []

    def run(number: int) -> None:
        try:
            install(email=f"{number}@example.com")
            results.append("made")
        except Conflict:
            results.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["made", "refused", "refused"]
    assert User.objects.count() == Project.objects.count() == 1


@pytest.mark.django_db
def test_the_page_needs_the_key(client: Client) -> None:
    ensure_setup_key()
    for url in ("/setup", "/setup?key=", "/setup?key=wrong"):
        assert client.get(url).status_code == 403
        assert client.post(url, FIELDS).status_code == 403
    assert not User.objects.exists()


@pytest.mark.django_db
def test_the_key_is_not_guessed_for_long(client: Client) -> None:
    make_failures("setup", "127.0.0.1", OF_ADDRESS.free - 1)
    assert client.get("/setup?key=wrong").status_code == 403
    answer = client.get("/setup?key=wrong")
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert client.get(f"/setup?key={ensure_setup_key()}").status_code == 200


@pytest.mark.django_db
def test_the_page_without_a_key_file_is_closed(client: Client) -> None:
    assert client.get("/setup?key=").status_code == 403


@pytest.mark.django_db
def test_the_page_makes_the_owner_and_signs_in(client: Client) -> None:
    url = f"/setup?key={ensure_setup_key()}"
    page = client.get(url)
    assert page.status_code == 200
    assert "no-store" in page.headers["cache-control"]
    answer = client.post(url, FIELDS)
    user = User.objects.get()
    project = Project.objects.get()
    assert answer.status_code == 302
    assert answer["location"] == f"/t/acme-sons/p/{project.pk}/"
    assert client.session["_auth_user_id"] == str(user.pk)
    assert user.email == "olga@example.com"
    again = client.post(url, {**FIELDS, "email": "eve@example.com"})
    assert (again.status_code, again["location"]) == (302, "/login")
    assert User.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("password", "short", "too short"),
        ("password", "password1234", "too common"),
        ("password", "Passwort-2026!", "a common word"),
        ("password", "hallohallo12", "a common word"),
        ("email", "olga", "valid email"),
        ("name", "", "required"),
        ("team_name", "", "required"),
    ],
)
def test_the_page_says_what_is_wrong(client: Client, field: str, value: str, problem: str) -> None:
    url = f"/setup?key={ensure_setup_key()}"
    answer = client.post(url, {**FIELDS, field: value})
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    assert not User.objects.exists()
    assert f'value="{FIELDS["password"]}"' not in answer.content.decode()
    assert client.get(url).status_code == 200


@pytest.mark.django_db
def test_every_fault_is_shown_at_once_and_at_its_field(client: Client) -> None:
    url = f"/setup?key={ensure_setup_key()}"
    wrong = {**FIELDS, "email": "olga", "password": "password1234", "team_name": ""}
    page = client.post(url, wrong).content.decode()
    assert "valid email" in page.split('id="field-email"')[1].split('id="field-')[0]
    assert "too common" in page.split('id="field-password"')[1].split('id="field-')[0]
    assert "required" in page.split('id="field-team_name"')[1]
    assert 'value="Olga"' in page
    assert 'value="olga"' in page


@pytest.mark.django_db
def test_the_sign_in_page_says_where_a_new_server_is_set_up(client: Client) -> None:
    assert "There are no accounts yet" in client.get("/", follow=True).content.decode()
    install()
    assert "There are no accounts yet" not in client.get("/login").content.decode()
