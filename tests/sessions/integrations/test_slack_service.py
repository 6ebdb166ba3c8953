"""Who speaks with Slack, how it is set up, and whether the played one is like the real one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.errors import Invalid
from opencode_web.lib.loop import submit
from sessions.integrations.slack import service
from sessions.integrations.slack.receive import is_signed
from sessions.integrations.slack.setup import Tokens, probe
from sessions.integrations.slack.socket import converse
from sessions.models import InboundDelivery, Session, SlackWorkspace
from teams.models import AuditEntry, Team, User
from tests.sessions.integrations.conftest import SAYS
from tests.sessions.integrations.slack_server import APP, BOT, SECRET, FakeSlack
from tests.sessions.integrations.slack_workspace import Workspace, shown

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def test_socket_mode_keeps_each_envelope_before_it_is_acknowledged(
    chat: Workspace, bob: User
) -> None:
    chat.link(bob, "U0BOB")
    sent = chat.message(SAYS)
    envelope = {"type": "events_api", "payload": sent, "accepts_response_payload": False}
    chat.server.envelopes = [{**envelope, "envelope_id": "e1"}, {**envelope, "envelope_id": "e2"}]
    # To its end, as Slack says; then another one.
    submit(converse(chat.row)).result(30)
    assert chat.server.acknowledged == ["e1", "e2"]
    assert InboundDelivery.objects.count() == 1
    chat.work()
    chat.run()
    assert "Tax is added" in shown(chat.answers[0])
    chat.server.envelopes = [{**envelope, "envelope_id": "e3", "payload": {"type": "nonsense"}}]
    submit(converse(chat.row)).result(30)
    assert chat.server.acknowledged[-1] == "e3"
    assert InboundDelivery.objects.count() == 1


def test_one_process_of_all_serves_a_workspace(chat: Workspace) -> None:
    assert service.take(chat.row.pk)
    assert not service.take(chat.row.pk)
    assert service.keep_lease(chat.row.pk)
    rows = SlackWorkspace.objects.filter(pk=chat.row.pk)
    rows.update(served_by="another:1")
    assert not service.keep_lease(chat.row.pk)
    service.release(chat.row.pk)
    assert not service.take(chat.row.pk)
    # It has died.
    rows.update(served_until=timezone.now() - timedelta(seconds=1))
    assert service.take(chat.row.pk)
    service.release(chat.row.pk)
    assert service.take(chat.row.pk)


def test_a_workspace_is_served_until_its_process_stops(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.server.envelopes = [
        {"type": "events_api", "envelope_id": "e1", "payload": chat.message(SAYS)}
    ]
    service.start_serving().result(30)
    row = SlackWorkspace.objects.get()
    assert row.served_until is not None
    service.stop_serving(30)
    row.refresh_from_db()
    assert (row.served_by, row.served_until) == ("", None)


def test_the_page_connects_what_slack_accepts(
    alice: User, bob: User, team: Team, slack_server: FakeSlack
) -> None:
    page = Client()
    page.force_login(alice)
    shown_first = page.get("/t/acme/settings/slack").content.decode()
    assert "socket_mode_enabled&quot;: true" in shown_first
    wrong = [
        ({"bot_token": "abc"}, "does not begin with xoxb-"),
        ({"bot_token": "xoxb-other", "secret": SECRET}, "does not accept the token"),
        ({"bot_token": BOT}, "Paste the app token or the signing secret"),
        ({"bot_token": BOT, "app_token": "xapp-other"}, "does not accept the token"),
        ({"app_token": APP}, "Paste the bot token"),
    ]
    for sent, why in wrong:
        got = page.post("/t/acme/settings/slack", sent)
        assert got.status_code == 422
        assert why in got.content.decode()
    assert not SlackWorkspace.objects.exists()

    sent = {"bot_token": BOT, "secret": SECRET}
    assert page.post("/t/acme/settings/slack", sent).status_code == 302
    row = SlackWorkspace.objects.get()
    assert (row.name, row.app_token) == ("Acme", "")
    assert decrypt(row.bot_token) == BOT
    assert BOT not in row.bot_token
    text = page.get("/t/acme/settings/slack").content.decode()
    assert f"https://agents.example.com/integrations/slack/{row.pk}" in text
    assert "No channel is allowed yet" in text
    assert all(secret not in text for secret in (BOT, APP, SECRET))
    project = page.post("/t/acme/settings/slack/channels", {"channel": "C0NONE"})
    assert project.status_code == 422
    assert page.post("/t/acme/settings/slack/remove").status_code == 302
    assert not SlackWorkspace.objects.exists()
    found = AuditEntry.objects.filter(action__startswith="slack.").order_by("pk")
    assert [one.action for one in found] == ["slack.connected", "slack.removed"]


@pytest.mark.parametrize(
    ("channel", "why"),
    [("C0NONE", "sees no such channel"), ("C0AWAY", "not in this channel"), ("general", "begins")],
)
def test_a_channel_is_allowed_once_the_app_is_in_it(
    chat: Workspace, alice: User, channel: str, why: str
) -> None:
    page = Client()
    page.force_login(alice)
    sent = {"channel": channel, "project": chat.project.pk}
    got = page.post("/t/acme/settings/slack/channels", sent)
    assert (got.status_code, why in got.content.decode()) == (422, True)
    assert (
        page.post("/t/acme/settings/slack/channels", {**sent, "channel": "C0OTHER"}).status_code
        == 302
    )
    assert chat.row.channels.get(channel="C0OTHER").name == "c0other"


async def test_tokens_are_told_apart(slack_server: FakeSlack) -> None:
    for tokens in (Tokens(APP), Tokens("", BOT), Tokens("xoxb-ä")):
        with pytest.raises(Invalid, match="does not begin"):
            await probe(tokens)


def test_slacks_own_client_finds_the_played_one_in_order(slack_server: FakeSlack) -> None:
    client = WebClient(BOT, base_url=f"{slack_server.base}/api/")
    assert client.auth_test()["team"] == "Acme"
    ts = client.chat_postMessage(channel="C0TILL", text="Hello")["ts"]
    slack_server.now_s += 5
    client.chat_update(channel="C0TILL", ts=ts, text="Hello again")
    assert client.conversations_info(channel="C0TILL")["channel"]["is_member"]
    assert client.apps_connections_open(app_token=APP)["url"].startswith("ws://")
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (client.chat_update, {"channel": "C0TILL", "ts": ts, "text": "Soon"}, "ratelimited"),
        (client.chat_postMessage, {"channel": "C0NONE", "text": "x"}, "channel_not_found"),
        (client.chat_postMessage, {"channel": "C0AWAY", "text": "x"}, "not_in_channel"),
        (client.chat_postMessage, {"channel": "C0TILL", "text": "x" * 40_001}, "msg_too_long"),
        (client.chat_update, {"channel": "C0TILL", "ts": "1.1", "text": "x"}, "message_not_found"),
    ]
    for call, args, code in refused:
        with pytest.raises(SlackApiError) as caught:
            call(**args)
        assert caught.value.response["error"] == code
    with pytest.raises(SlackApiError, match="invalid_auth"):
        WebClient("xoxb-other", base_url=f"{slack_server.base}/api/").auth_test()


def test_signatures_are_those_of_slacks_own_client() -> None:
    body, now = '{"type":"event_callback"}', 1_700_000_000
    signed = SignatureVerifier(SECRET).generate_signature(timestamp=str(now), body=body)
    assert signed
    headers = {"x-slack-signature": signed, "x-slack-request-timestamp": str(now)}
    assert is_signed(headers, body.encode(), secret=SECRET, now_s=now + 299)
    assert not is_signed(headers, body.encode(), secret=SECRET, now_s=now + 301)
    assert not is_signed(headers, b"{}", secret=SECRET, now_s=now)
    assert not Session.objects.exists()


def test_an_admin_has_what_was_given_up_tried_again(
    chat: Workspace, alice: User, bob: User
) -> None:
    chat.link(bob, "U0BOB")
    chat.send(chat.message(SAYS))
    failed = InboundDelivery.objects.get()
    InboundDelivery.objects.update(state="failed", problem="Slack could not be reached.")
    browser = Client()
    browser.force_login(alice)
    page = browser.get("/t/acme/settings/slack").content.decode()
    again = f"/t/acme/settings/slack/again/{failed.pk}"
    assert "Slack could not be reached." in page
    assert f'action="{again}"' in page
    assert browser.post(again).status_code == 302
    chat.work()
    failed.refresh_from_db()
    assert failed.state == "handled"
    assert AuditEntry.objects.filter(action="integration.repeated", actor=alice).count() == 1
    assert browser.post(again).status_code == 404
