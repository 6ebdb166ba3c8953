"""Admins connect Linear, and read what is wrong."""

from __future__ import annotations

from typing import Any

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


def test_it_is_connected_and_has_rules_over_the_api(board: Board, alice: User, vera: User) -> None:
    Integration.objects.all().delete()
    client, path = board.client, f"/project/{board.project.pk}"
    integration, rules = f"{path}/integration?tracker=linear", f"{path}/integration/rule"

    def send(method: str, place: str, body: dict[str, object], status: int = 200) -> Any:
        answer = getattr(client, method)(place, body, "application/json")
        assert answer.status_code == status, answer.content
        return answer.json()

    client.force_login(vera)
    send("put", f"{path}/tracker/linear", {"teamKey": "ENG"}, 403)
    client.force_login(alice)
    send("put", f"{path}/tracker/jira", {"teamKey": "ENG"}, 404)
    told = send("put", f"{path}/tracker/linear", {"teamKey": "ENG", "apiKey": "x"}, 400)
    assert "does not accept the API key" in told["data"]["message"]
    body = {"teamKey": "eng", "apiKey": "played-linear-key", "signingSecret": "s3"}
    made = send("put", f"{path}/tracker/linear", body)
    assert (made["forge"], made["teamKey"], made["command"]) == ("linear", "ENG", "/oc")
    changed = send("put", f"{path}/tracker/linear", {"teamKey": "OPS", "command": "@bot"})
    assert (changed["id"], changed["teamKey"]) == (made["id"], "OPS")
    assert client.get(integration).json() == changed
    assert client.get("/integration?tracker=linear").json() == [changed]
    assert client.get("/integration?tracker=jira").json() == []
    assert client.get(f"{path}/integration").status_code == 404
    board.row = Integration.objects.get()
    assert board.send(board.server.says("/oc fix"), secret="s3").status_code == 200
    rule = {"trigger": "issue_assigned", "prompt": "Look at {url}."}
    first = send("post", f"{rules}?tracker=linear", rule)
    send("post", f"{rules}?tracker=linear", {**rule, "trigger": "pull_opened"}, 400)
    one = f"{rules}/{first['id']}?tracker=linear"
    off = send("patch", one, {"enabled": False, "position": 1})
    assert client.get(one).json() == off == {**first, "enabled": False}
    assert client.get(f"{rules}/{first['id']}").status_code == 404
    assert client.get(f"{rules}?tracker=linear").json() == [off]
    (sent,) = client.get(f"{path}/integration/delivery?tracker=linear").json()
    again = f"{path}/integration/delivery/{sent['id']}/retry?tracker=linear"
    board.row.deliveries.update(state="failed")
    assert send("post", again, {})["state"] == "waiting"
    assert client.delete(one).json() is True
    assert client.delete(integration).json() is True
    assert not Integration.objects.exists()
