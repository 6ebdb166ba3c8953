"""Who speaks with Slack, how it is set up, and whether the played one is like the real one."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.errors import Invalid
from opencode_web.lib.loop import submit
from sessions.integrations.slack import service
from sessions.integrations.slack.api import SlackError, slack_of
from sessions.integrations.slack.setup import Tokens, probe
from sessions.integrations.slack.socket import converse
from sessions.models import InboundDelivery, OutsideReply, SlackWorkspace
from teams.models import AuditEntry, Team, User
from tests.sessions.integrations.outside import SAYS
from tests.sessions.integrations.slack_server import APP, BOT, SECRET, FakeSlack
from tests.sessions.integrations.slack_workspace import Workspace, shown
from tests.web_server import answer, serve

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


def test_what_was_given_up_is_tried_again_as_an_admin_asks(
    chat: Workspace, alice: User, bob: User
) -> None:
    chat.link(bob, "U0BOB")
    chat.say(SAYS)
    failed = {"state": "failed", "problem": "Slack could not be reached."}
    InboundDelivery.objects.update(heard={}, **failed)
    OutsideReply.objects.update(next_at=timezone.now(), comment="", **failed)
    pages = {user.pk: Client() for user in (alice, bob)}
    for user in (alice, bob):
        pages[user.pk].force_login(user)
    text = pages[alice.pk].get("/t/acme/settings/slack").content.decode()
    reply, again = OutsideReply.objects.get(), "/t/acme/settings/slack/again"
    assert text.count("Try again") == 2
    assert f"{again}/{reply.pk}" in text
    assert pages[bob.pk].post(f"{again}/{reply.pk}").status_code == 403
    assert pages[alice.pk].post(f"{again}/rep_0").status_code == 404
    assert pages[alice.pk].post(f"{again}/{reply.pk}").status_code == 302
    chat.server.messages.remove(chat.answers[0])
    chat.write()
    assert len(chat.answers) == 1
    delivery = InboundDelivery.objects.get()
    assert pages[alice.pk].post(f"{again}/{delivery.pk}").status_code == 302
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("waiting", 0)
    entry = AuditEntry.objects.filter(action="integration.repeated").first()
    assert entry is not None
    assert entry.told["name"] == "Acme"


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


def test_socket_mode_goes_on_over_the_connection_that_follows(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    said = [chat.message(f"Step {number}") for number in range(6)]
    chat.server.envelopes = [
        {"type": "events_api", "envelope_id": f"e{number}", "payload": one}
        for number, one in enumerate(said)
    ]
    chat.server.envelopes.insert(3, {"type": "disconnect", "reason": "refresh_requested"})
    submit(converse(chat.row)).result(30)
    assert chat.server.connections == 2
    kept = InboundDelivery.objects.order_by("pk").values_list("comment", flat=True)
    assert list(kept) == [one["event"]["ts"] for one in said]


def test_socket_mode_that_is_switched_off_is_told(chat: Workspace) -> None:
    chat.server.envelopes = [{"type": "disconnect", "reason": "link_disabled"}]
    with pytest.raises(SlackError, match="Socket Mode is switched off"):
        submit(converse(chat.row)).result(30)


def test_tokens_go_to_slack_alone(chat: Workspace) -> None:
    with serve({"/api/auth.test": answer(b'{"ok": true}')}) as elsewhere:
        away = elsewhere.replace("127.0.0.1", "localhost")
        chat.server.socket = away.replace("http", "ws")
        with pytest.raises(SlackError, match="address_elsewhere"):
            submit(converse(chat.row)).result(30)
        chat.server.redirect = f"{away}/api/auth.test"
        with pytest.raises(SlackError, match="address_elsewhere"):
            submit(slack_of(chat.row).call("auth.test")).result(30)


def test_nothing_of_slack_is_loaded_until_somebody_speaks_with_it() -> None:
    script = (
        "import django, sys; django.setup(); import opencode_web.urls, sessions.tasks;"
        "print([one for one in ('slack_sdk', 'slack_bolt', 'aiohttp') if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
