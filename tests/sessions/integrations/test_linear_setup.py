"""Admins connect Linear, and read what is wrong."""

from __future__ import annotations

import pytest

from sessions.models import Integration
from teams.models import User
from tests.sessions.integrations.linear_board import Board
from tests.sessions.integrations.linear_server import MALLORY

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def test_admins_connect_it_and_read_what_is_wrong(
    board: Board, alice: User, bob: User, vera: User
) -> None:
    Integration.objects.all().delete()
    browser, page = board.client, board.page
    for user, status in ((bob, 403), (vera, 403)):
        browser.force_login(user)
        assert browser.post(page, {"path": "ENG"}).status_code == status
    browser.force_login(alice)
    assert "Linear" in browser.get(page.replace("trackers/linear", "integration")).content.decode()
    wrong = [
        ({"path": "ENG"}, "Paste the API key."),
        ({"path": "ENG", "token": "x"}, "does not accept the API key"),
        ({"path": "ENG", "token": "ä"}, "This is no API key."),
        ({"path": "WEB", "token": "played-linear-key"}, "sees no team WEB. It sees: ENG, OPS."),
        ({"path": "ENG", "token": "played-linear-key", "command": "oc"}, "A command is"),
        ({"path": "ENG", "token": "played-linear-key", "pulls": "on"}, ""),
    ]
    for fields, told in wrong[:-1]:
        got = browser.post(page, {"command": "/oc", **fields})
        assert (got.status_code, told in got.content.decode()) == (422, True), told
    assert not Integration.objects.exists()
    assert browser.post(page, {"command": "/oc", **wrong[-1][0]}).status_code == 302
    row = Integration.objects.get()
    shown = browser.get(page).content.decode()
    assert f"https://agents.example.com/integrations/{row.pk}" in shown
    assert "Acme · ENG" in shown
    assert "Paste the signing secret of the webhook." in shown
    assert "no pull request can be opened" in shown
    assert "played-linear-key" not in shown
    sent = board.server.says("/oc fix")
    board.row = row
    assert board.send(sent).status_code == 404
    secret = {"path": "ENG", "command": "@bot", "secret": "s3"}
    assert browser.post(page, secret).status_code == 302
    assert board.send(sent, secret="s3").status_code == 200
    assert board.send(sent).status_code == 401
    assert "Deliveries have a wrong signature" in browser.get(page).content.decode()
    browser.force_login(vera)
    assert row.pk not in browser.get(page).content.decode()
    assert browser.get(page.replace("linear", "jira")).status_code == 404


def test_a_key_of_another_workspace_takes_nothing_over(board: Board, alice: User) -> None:
    Integration.objects.update(outside={**board.row.outside, "workspace": MALLORY})
    board.client.force_login(alice)
    got = board.client.post(board.page, {"path": "ENG", "command": "/oc"})
    assert (got.status_code, "of another workspace" in got.content.decode()) == (422, True)


def test_a_token_of_oauth_is_a_bearer(board: Board, alice: User) -> None:
    board.server.key = "Bearer lin_oauth_played"
    board.client.force_login(alice)
    fields = {"path": "ENG", "command": "/oc", "token": "lin_oauth_played"}
    assert board.client.post(board.page, fields).status_code == 302
