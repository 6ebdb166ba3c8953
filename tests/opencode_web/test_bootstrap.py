from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from opencode_web.setup_key import ensure_setup_key, is_setup_key
from sessions.models import Project
from teams.models import ApiToken, Team, User
from tests.sessions.git_server import make_repository

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folders(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    settings.WORKTREES_DIR = tmp_path / "worktrees"


def bootstrap(*arguments: str, email: str = "olga@example.com") -> dict[str, Any]:
    out = io.StringIO()
    call_command("bootstrap", "--email", email, "--json", *arguments, stdout=out)
    facts: dict[str, Any] = json.loads(out.getvalue())
    return facts


NEW = ("--password", "correct-horse-battery", "--team", "Acme", "--name", "Olga")


def test_it_makes_everything_and_a_token_that_works() -> None:
    key = ensure_setup_key()
    facts = bootstrap(*NEW)
    assert facts["user"] == User.objects.get(email="olga@example.com").pk
    assert facts["team"] == Team.objects.get(slug="acme").pk
    assert facts["project"] == Project.objects.get().pk
    assert not is_setup_key(key)
    answer = Client().get("/project", headers={"authorization": f"Bearer {facts['token']}"})
    assert answer.status_code == 200
    assert [row["id"] for row in answer.json()] == [facts["project"]]


def test_a_second_run_makes_nothing_twice() -> None:
    first = bootstrap(*NEW)
    second = bootstrap(*NEW, email="OLGA@example.com")
    assert second == {**first, "token": None}
    assert ApiToken.objects.count() == 1
    third = bootstrap("--team", "Acme", "--new-token")
    assert third["token"] not in {None, first["token"]}
    assert {**third, "token": None} == second
    assert User.objects.count() == Team.objects.count() == Project.objects.count() == 1


def test_the_password_can_come_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct-horse-battery\n"))
    bootstrap("--password", "-")
    assert User.objects.get().check_password("correct-horse-battery")


def test_a_member_without_a_team_of_their_own_gets_one() -> None:
    User.objects.create(email="olga@example.com")
    facts = bootstrap("--team", "Own")
    assert Team.objects.get(pk=facts["team"]).name == "Own"
    assert facts["token"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [((), "needs --password"), (("--password", "short"), "too short")],
)
def test_it_says_what_is_wrong(arguments: tuple[str, ...], problem: str) -> None:
    with pytest.raises(CommandError, match=problem):
        bootstrap(*arguments)
    assert not User.objects.exists()


def test_a_password_is_not_echoed_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("wrong-from-the-terminal\n"))
    monkeypatch.setattr(
        "opencode_web.management.commands.bootstrap.getpass", lambda _: "correct-horse-battery"
    )
    bootstrap("--password", "-")
    assert User.objects.get().check_password("correct-horse-battery")


def test_a_team_that_lost_its_projects_is_filled_again() -> None:
    first = bootstrap(*NEW)
    Project.objects.all().delete()
    again = bootstrap("--team", "Acme")
    assert again["team"] == first["team"]
    assert again["project"] == Project.objects.get().pk
    assert Team.objects.count() == 1


def test_prepare_makes_the_data_folder_or_says_what_to_set(
    settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path / "new" / "data"
    call_command("prepare", stdout=io.StringIO())
    assert settings.DATA_DIR.stat().st_mode & 0o777 == 0o700
    settings.DATA_DIR = Path("/proc/nowhere")
    with pytest.raises(CommandError, match="set OPENCODE_WEB_DATA to a folder"):
        call_command("prepare")


def test_a_folder_is_the_project_in_place_of_the_sample(settings: Settings) -> None:
    folder = make_repository(Path(settings.WORKTREES_DIR) / "till", {"till.py": "tax = 1\n"})
    facts = bootstrap(*NEW, "--directory", str(folder))
    assert facts["directory"] == str(folder)
    assert Project.objects.get().pk == facts["project"]
    with pytest.raises(CommandError, match="no such folder"):
        bootstrap(*NEW, "--directory", "missing", email="bob@example.com")
