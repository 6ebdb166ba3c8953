from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core import mail
from django.db import transaction
from django.test import AsyncClient, Client
from django.utils import timezone
from pytest_django import Settings

from opencode_web.lib.json import JsonValue
from opencode_web.lib.loop import submit
from sessions.actions.composer_input import admit_typed
from sessions.actions.inbox import cancel_input, change_input
from sessions.actions.privacy import set_private
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.reviews import Lines, add_comment, send_comments
from sessions.events.mentions import MAX_PEOPLE, people_in
from sessions.events.removal import SessionReverted
from sessions.events.store import append, lock_session
from sessions.inbox import pending_inputs, promotion_events
from sessions.models import Message, Notification, Part, Project, Session, SessionInput
from sessions.notifications.mentions import MAX_SHOWN
from sessions.notifications.send import prune_notifications
from teams.models import Role, Team, User
from tests.factories import add_member, make_user
from tests.sessions.factories import INLINE, make_session, session_access
from tests.sessions.notifications.steps import choose, due_now, send
from tests.sessions.story import write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def mail_server(settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.com"
    settings.PUBLIC_URL = settings.PUBLIC_ORIGIN = "https://agents.example.com"


@pytest.fixture
def zoe(team: Team) -> User:
    user = make_user("zoe@example.com", name="Zoe Quark")
    add_member(team, user, Role.VIEWER)
    choose(user)
    return user


def queue(user: User, session: Session, text: str) -> SessionInput:
    draft = PromptDraft([{"type": "text", "text": text}], model=INLINE)
    return admit_typed(session_access(user, session), draft)


def take(session: Session) -> None:
    with transaction.atomic():
        locked = lock_session(session.pk)
        append(locked, promotion_events(locked, pending_inputs(session.pk)))


def say(user: User, session: Session, text: str) -> SessionInput:
    row = queue(user, session, text)
    take(session)
    return row


def inbox(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.get("/t/acme/inbox").content.decode()


async def listen(user: User, session: Session) -> None:
    """As the page of a session does when somebody has opened it."""
    client = AsyncClient()
    await client.aforce_login(user)
    frames = (await client.get(f"/t/acme/s/{session.pk}/live")).streaming_content
    await anext(frames)
    await frames.aclose()


def mentioned(row: SessionInput) -> list[tuple[str, int]]:
    parts = Part.objects.filter(message=row.pk, type="text")
    return [one for part in parts for one in people_in(part.data.get("metadata"))]


def test_who_is_mentioned_is_told_where(
    session: Session, alice: User, zoe: User, client_for: Callable[[User], Client]
) -> None:
    row = queue(alice, session, "Can @zoe-quark look at <this>?")
    send()
    # The agent has not got it yet.
    assert mail.outbox == []
    take(session)
    send()
    [message] = mail.outbox
    assert message.to == [zoe.email]
    assert message.subject == "Alice mentioned you: New session"
    place = f"/t/acme/s/{session.pk}?at={row.pk}#turn-{row.pk}"
    assert f"https://agents.example.com{place}" in message.body
    assert "this" not in message.body
    page = client_for(zoe).get(place).content.decode()
    assert 'Can <span class="prompt-mention">@zoe-quark</span> look at &lt;this&gt;?' in page
    assert f'id="turn-{row.pk}"' in page
    assert send() == 0


def test_a_mention_is_in_the_inbox_until_its_session_is_opened(
    session: Session, project: Project, alice: User, bob: User, zoe: User
) -> None:
    choose(zoe, channels={})
    rows = [say(alice, session, f"@zoe-quark {number}") for number in range(MAX_SHOWN + 1)]
    other = make_session(alice, project)
    say(alice, other, "@zoe-quark")
    send()
    shown = inbox(zoe)
    places = [f'href="/t/acme/s/{session.pk}?at={row.pk}#turn-{row.pk}"' for row in rows]
    # The newest is in the other session.
    assert [place in shown for place in places] == [False, False, *([True] * (MAX_SHOWN - 1))]
    assert "Alice mentioned you" not in inbox(bob)
    submit(listen(bob, session)).result(30)
    write(session, SessionReverted(hidden_from=Message.objects.get(pk=rows[-1].pk).seq))
    assert [place in inbox(zoe) for place in places[-2:]] == [True, False]
    submit(listen(zoe, session)).result(30)
    assert inbox(zoe).count("Alice mentioned you") == 1
    Notification.objects.update(created_at=timezone.now() - timedelta(days=15))
    prune_notifications()
    assert "Nothing needs your attention." in inbox(zoe)


def test_nobody_is_told_of_their_own_words(session: Session, alice: User) -> None:
    choose(alice)
    assert mentioned(say(alice, session, "as @alice said")) == []
    send()
    assert mail.outbox == []


@pytest.mark.parametrize(
    "text",
    ["zoe@zoe-quark", "@zoe-quark/till.py", "@zoe-quark.py", "`@zoe-quark`", "@zoe-quarks", "@zoe"],
)
def test_what_is_no_mention(session: Session, alice: User, zoe: User, text: str) -> None:
    assert mentioned(say(alice, session, text)) == []


def test_who_cannot_see_the_session_is_neither_told_nor_named(
    session: Session, project: Project, alice: User, zoe: User, bill: User, charlie: User
) -> None:
    for user in (bill, charlie):
        choose(user)
    assert mentioned(say(alice, session, "@charlie @bill @root")) == []
    secret = make_session(alice, project)
    set_private(session_access(alice, secret), private=True)
    assert mentioned(say(alice, secret, "@zoe-quark")) == []
    # It has become private since.
    say(alice, session, "@zoe-quark")
    set_private(session_access(alice, session), private=True)
    send()
    assert mail.outbox == []
    assert not Notification.objects.filter(state="pending").exists()
    assert "mentioned you" not in inbox(zoe)


def test_no_client_says_who_is_mentioned(session: Session, alice: User, zoe: User) -> None:
    claimed = {"people": [{"text": "@x", "id": zoe.pk}], "other": 1}
    part = {"type": "text", "text": "hi", "metadata": claimed}
    row = admit_prompt(session_access(alice, session), PromptDraft([part], model=INLINE))
    take(session)
    assert mentioned(row) == []
    assert Part.objects.get(message=row.pk).data["metadata"] == {"other": 1}


@pytest.mark.parametrize("people", [1, "x", {"text": "@hi"}, [1, {"text": 2, "id": 3}, {"id": 3}]])
def test_what_an_imported_session_says_of_people_does_no_harm(
    session: Session, alice: User, client_for: Callable[[User], Client], people: JsonValue
) -> None:
    row = say(alice, session, "@hi there")
    part = Part.objects.get(message=row.pk)
    part.data["metadata"] = {"people": people}
    part.save()
    page = client_for(alice).get(f"/t/acme/s/{session.pk}")
    assert "@hi there" in page.content.decode()


def test_a_thousand_mentions_are_bounded(session: Session, team: Team, alice: User) -> None:
    people = [make_user(f"p{number}@example.com") for number in range(MAX_PEOPLE + 5)]
    for one in people:
        add_member(team, one, Role.VIEWER)
        choose(one)
    row = say(alice, session, " ".join(f"@p{number % 30}" for number in range(1000)))
    assert [pk for _, pk in mentioned(row)] == [one.pk for one in people[:MAX_PEOPLE]]
    send()
    assert len(mail.outbox) == MAX_PEOPLE


def test_comments_on_a_diff_mention_when_they_are_sent(
    session: Session, alice: User, zoe: User
) -> None:
    access = session_access(alice, session)
    session.model = {"providerID": INLINE.provider_id, "id": INLINE.model_id}
    session.save()
    lines = Lines("turn", "till.py", "new", 1, 1, "@adam\n")
    add_comment(access, lines, body="@zoe-quark, is this right?")
    send()
    assert mail.outbox == []
    row = send_comments(session_access(alice, session), delivery="steer", message_id=None)
    take(session)
    assert mentioned(row) == [("@zoe-quark", zoe.pk)]
    send()
    assert [one.to for one in mail.outbox] == [[zoe.email]]


def test_the_text_that_is_sent_counts(session: Session, alice: User, zoe: User, adam: User) -> None:
    choose(adam)
    row = queue(alice, session, "@zoe-quark")
    change_input(session_access(alice, session), row.pk, revision=0, text="@adam")
    taken_back = queue(alice, session, "@zoe-quark")
    cancel_input(session_access(alice, session), taken_back.pk)
    take(session)
    send()
    assert [one.to for one in mail.outbox] == [[adam.email]]


def test_a_mention_that_is_rolled_back_is_no_news(session: Session, alice: User, zoe: User) -> None:
    row = say(alice, session, "@zoe-quark")
    write(session, SessionReverted(hidden_from=Message.objects.get(pk=row.pk).seq))
    send()
    assert mail.outbox == []


def test_several_mentions_are_told_apart_in_a_digest(
    session: Session, alice: User, zoe: User
) -> None:
    now, hour = timezone.now(), timedelta(hours=1)
    choose(zoe, quiet_from=(now - hour).time(), quiet_until=(now + hour).time())
    rows = [say(alice, session, f"@zoe-quark {number}") for number in range(2)]
    send()
    choose(zoe)
    due_now()
    send()
    [message] = mail.outbox
    assert all(f"?at={row.pk}#turn-{row.pk}" in message.body for row in rows)


def test_a_mention_of_a_command_is_one_of_what_was_typed(
    session: Session, project: Project, alice: User, zoe: User, adam: User
) -> None:
    project.config = {"command": {"tidy": {"template": "Tell @adam: $ARGUMENTS"}}}
    project.save()
    row = say(alice, session, "/tidy what @zoe-quark said")
    assert mentioned(row) == [("@zoe-quark", zoe.pk)]
