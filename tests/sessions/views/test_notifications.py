from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import time
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from opencode_web.lib.crypto import decrypt, encrypt
from sessions.models import NotificationKind, OwnWebhook, PushKey, PushSubscription
from sessions.notifications.choices import ChannelChoice, Choices
from sessions.notifications.push_key import load_key
from teams.models import Team, User
from tests.factories import make_user
from tests.sessions.push_service import PushBrowser
from tests.sessions.webhook_receiver import receive

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/me/notifications"
SENT = {"zone": "UTC", "digest_at": "08:00", "push_when": "now"}


def page(client: Client) -> str:
    return str(client.get(URL).content.decode())


def browser() -> PushBrowser:
    return PushBrowser("https://push.example.com/abc", load_key().public)


def test_what_open_pages_tell_of_is_kept_with_the_person(
    client_for: ClientFor, alice: User
) -> None:
    client = client_for(alice)
    assert 'data-notify=""' in page(client)
    client.post(URL, {**SENT, "asks": "on", "sound_fails": "on"})
    html = page(client)
    assert 'data-notify="asks sound-fails"' in html
    assert html.count(" checked") == 2
    client.post(URL, SENT)
    assert 'data-notify=""' in page(client)


def test_what_is_chosen_is_kept(client_for: ClientFor, alice: User, settings: Settings) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.example.com", "https://x.example.com"
    chosen = {
        **SENT,
        "push_asks": "on",
        "email_budget": "on",
        "email_when": "daily",
        "zone": "Europe/Berlin",
        "digest_at": "06:15",
        "quiet_from": "22:00",
        "quiet_until": "07:00",
    }
    client = client_for(alice)
    assert client.post(URL, chosen).status_code == 302
    alice.refresh_from_db()
    asks, budget = NotificationKind.ASKS, NotificationKind.BUDGET
    assert Choices.of(alice) == Choices(
        channels={
            "push": ChannelChoice(frozenset({asks})),
            "email": ChannelChoice(frozenset({budget}), is_daily=True),
        },
        zone="Europe/Berlin",
        quiet_from=time(22),
        quiet_until=time(7),
        digest_at=time(6, 15),
    )
    assert 'value="22:00"' in page(client)
    # What was chosen for a channel outlasts that it is away.
    settings.EMAIL_HOST = ""
    assert "This server does not send e-mail." in page(client)
    assert "email_budget" not in page(client)
    client.post(URL, SENT)
    alice.refresh_from_db()
    assert Choices.of(alice).channels["email"].kinds == {budget}


def test_until_somebody_decides_push_brings_all_and_mail_nothing(
    client_for: ClientFor, alice: User, settings: Settings
) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.example.com", "https://x.example.com"
    html = page(client_for(alice))
    boxes = re.findall(r'<input type="checkbox" name="(\w+)"[^>]* checked', html)
    assert boxes == [f"push_{kind}" for kind in NotificationKind]
    assert "data-own-zone" in html


@pytest.mark.parametrize(
    "wrong",
    [
        {"quiet_from": "22:00"},
        {"quiet_from": "22:00", "quiet_until": "25:00"},
        {"zone": "Mars/Base"},
        {"push_when": "never"},
        {"digest_at": ""},
    ],
)
def test_what_is_wrong_is_refused(
    client_for: ClientFor, alice: User, wrong: dict[str, str]
) -> None:
    answer = client_for(alice).post(URL, {**SENT, **wrong})
    assert answer.status_code == 422
    assert "field-errors" in answer.content.decode()


def test_a_browser_is_subscribed_and_turned_off(client_for: ClientFor, alice: User) -> None:
    client, mine = client_for(alice), browser()
    html = page(client)
    assert f'data-push="{mine.application_key}"' in html
    assert "Turn it on in each browser" in html
    assert client.post(f"{URL}/push", mine.to_form()).status_code == 302
    row = PushSubscription.objects.get()
    assert row.browser.session_key == client.session.session_key
    assert "push.example.com" not in row.endpoint
    assert decrypt(row.endpoint) == mine.endpoint
    html = page(client)
    assert "This browser" in html
    assert "data-push=" not in html
    for secret in (mine.endpoint, mine.to_form()["auth"]):
        assert secret not in html
    # Of another browser it is listed by name.
    other = client_for(alice)
    assert "data-push=" in page(other)
    assert other.post(f"{URL}/push/{row.pk}/remove").status_code == 302
    assert not PushSubscription.objects.exists()


def test_nobody_turns_off_the_browser_of_another_person(
    client_for: ClientFor, alice: User, charlie: User
) -> None:
    client = client_for(alice)
    page(client)
    client.post(f"{URL}/push", browser().to_form())
    row = PushSubscription.objects.get()
    assert client_for(charlie).post(f"{URL}/push/{row.pk}/remove").status_code == 404
    assert PushSubscription.objects.exists()


def test_a_browser_is_of_who_has_signed_in_last(
    client_for: ClientFor, alice: User, charlie: User
) -> None:
    mine = browser()
    for user in (alice, charlie):
        client = client_for(user)
        page(client)
        client.post(f"{URL}/push", mine.to_form())
    assert PushSubscription.objects.get().browser.user == charlie


def test_a_sign_out_ends_the_subscription(client_for: ClientFor, alice: User) -> None:
    client = client_for(alice)
    page(client)
    client.post(f"{URL}/push", browser().to_form())
    client.post("/logout")
    assert 'class="list-row"' not in page(client_for(alice))
    UserSession.objects.all().delete()
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"endpoint": "http://push.example.com/a"}, "https"),
        ({"endpoint": "https://user:pw@push.example.com/a"}, "password"),
        ({"endpoint": "file:///etc/passwd"}, "http"),
        ({"endpoint": "https://push.example.com/" + "a" * 2000}, "1000"),
        ({"p256dh": "AAAA"}, "key is not valid"),
        ({"auth": "AAAA"}, "key is not valid"),
        ({"auth": ""}, "required"),
    ],
)
def test_what_is_no_subscription_is_refused(
    client_for: ClientFor, alice: User, wrong: dict[str, str], said: str
) -> None:
    client = client_for(alice)
    page(client)
    answer = client.post(f"{URL}/push", {**browser().to_form(), **wrong})
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert not PushSubscription.objects.exists()


def test_the_page_is_there_without_the_key(
    client_for: ClientFor, alice: User, settings: Any
) -> None:
    load_key()
    settings.SECRET_KEY = "another"
    html = page(client_for(alice))
    assert "cannot read its key for Web Push" in html
    assert "data-push=" not in html
    PushKey.objects.update(private=encrypt("x"))
    assert "cannot read its key for Web Push" in page(client_for(alice))


def test_there_is_one_key(team: Team) -> None:
    assert load_key().public == load_key().public
    assert PushKey.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_webhook_is_added_tried_changed_and_deleted(client_for: ClientFor, alice: User) -> None:
    client = client_for(alice)
    assert "Enter an address below first." in page(client)
    with receive() as receiver:
        url = f"{receiver.address}/in"
        html = client.post(f"{URL}/webhook", {"url": url}).content.decode()
        row = OwnWebhook.objects.get()
        secret = decrypt(row.secret)
        assert secret in html
        assert 'name="webhook_asks"' in html
        assert secret not in page(client)
        answer = client.post(f"{URL}/webhook/test", follow=True).content.decode()
        assert "The test has arrived: the server responded with status 204." in answer
        assert json.loads(receiver.got[0][1])["type"] == "ping"
        receiver.status = 500
        answer = client.post(f"{URL}/webhook/test").content.decode()
        assert "The test has not arrived. The server responded with status 500." in answer
        assert "Failing" in answer
        OwnWebhook.objects.update(disabled_at=timezone.now())
        html = page(client)
        assert "nothing could be delivered for three days" in html
        assert 'name="webhook_asks"' not in html
        receiver.status = 200
        client.post(f"{URL}/webhook/test")
        assert OwnWebhook.objects.get().disabled_at is None
    fresh = client.post(f"{URL}/webhook/secret").content.decode()
    assert decrypt(OwnWebhook.objects.get().secret) in fresh
    assert secret not in fresh
    client.post(f"{URL}/webhook", {"url": "https://hooks.example.com/other"})
    assert OwnWebhook.objects.get().url == "https://hooks.example.com/other"
    assert 'value="https://hooks.example.com/other"' in page(client)
    assert "hooks.example.com" not in page(client_for(make_user("x@example.com")))
    client.post(f"{URL}/webhook/remove")
    assert not OwnWebhook.objects.exists()
    assert client.post(f"{URL}/webhook/test").status_code == 404


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://example.com/in", "must start with https://."),
        ("https://user:pw@example.com/in", "must not contain a user name or password."),
        ("https://169.254.169.254/latest", "This address cannot be used: "),
        ("file:///etc/passwd", "must start with http:// or https://."),
        ("https://example.com/" + "a" * 2000, "at most 2000 characters"),
        ("", "This field is required."),
    ],
)
def test_an_address_that_nothing_may_be_sent_to_is_refused(
    client_for: ClientFor, alice: User, url: str, said: str
) -> None:
    answer = client_for(alice).post(f"{URL}/webhook", {"url": url})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not OwnWebhook.objects.exists()
