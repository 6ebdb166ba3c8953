from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from teams.actions.directory import AccountDraft, update_directory_account
from teams.actions.resets import create_reset
from teams.actions.users import change_password
from teams.models import ResetLink, Team, User

pytestmark = pytest.mark.django_db
NEW = "another-good-passphrase"


def make_link(capsys: pytest.CaptureFixture[str], email: str) -> str:
    call_command("reset_link", email)
    return "/login/reset/" + capsys.readouterr().out.strip().rpartition("/")[2]


def test_a_link_ends_after_an_hour_and_when_another_is_made(
    alice: User, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    first = make_link(capsys, alice.email)
    second = make_link(capsys, alice.email)
    assert client.get(first).status_code == 404
    assert client.get(second).status_code == 200
    ResetLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.post(second, {"password": NEW}).status_code == 404


def test_a_command_that_does_not_know_the_address_says_so(
    alice: User, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.PUBLIC_URL = ""
    call_command("reset_link", alice.email)
    assert "PUBLIC_URL is not set" in capsys.readouterr().err
    settings.PUBLIC_URL = "https://agents.example.com"
    call_command("reset_link", alice.email)
    out, err = capsys.readouterr()
    assert (out.startswith("https://agents.example.com/login/reset/"), err) == (True, "")


def test_guessing_links_is_limited(client: Client, db: None) -> None:
    codes = [client.get(f"/login/reset/{guess}").status_code for guess in range(101)]
    assert set(codes[:99]) == {404}
    assert codes[-1] == 429


def test_no_link_for_a_program_or_a_disabled_person(
    alice: User, team: Team, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_link(capsys, alice.email)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert client.get(path).status_code == 404
    for email in (alice.email, "nobody@example.com"):
        with pytest.raises(CommandError):
            call_command("reset_link", email)


def test_links_end_with_the_password_and_with_the_address(alice: User, client: Client) -> None:
    moved = AccountDraft("alice", "", "new@example.com", "Alice", {})
    for change in (
        partial(change_password, alice, password=NEW),
        partial(update_directory_account, alice, moved),
    ):
        path = reverse("reset", args=[create_reset(alice, actor=None)])
        assert client.get(path).status_code == 200
        change()
        assert client.get(path).status_code == 404
