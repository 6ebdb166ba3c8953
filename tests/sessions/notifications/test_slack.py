from __future__ import annotations

import pytest
from pytest_django import Settings

from sessions.events.types import SessionUpdated
from sessions.models import Integration, LinkedAccount, Notification, Session
from sessions.notifications.choices import ChannelChoice
from teams.models import User
from tests.factories import make_team
from tests.sessions.integrations.conftest import chat as chat
from tests.sessions.integrations.conftest import slack_server as slack_server
from tests.sessions.integrations.slack_workspace import Workspace
from tests.sessions.notifications.steps import ALL, choose, due_now, end, send, wait
from tests.sessions.story import write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def direct(chat: Workspace, alice: User, settings: Settings) -> Workspace:
    """Alice has her notifications in Slack."""
    settings.PUBLIC_ORIGIN = "https://agents.example.com"
    chat.link(alice, "U0BOB")
    choose(alice, channels={"slack": ChannelChoice(ALL)})
    return chat


def test_the_linked_account_is_told_with_a_link_to_the_place(
    direct: Workspace, session: Session, alice: User
) -> None:
    write(session, SessionUpdated(title="Fix <!channel>"))
    request = wait(session, alice, "echo top-secret")
    send()
    [said] = direct.server.messages
    assert said["channel"] == "D0BOB"
    place = f"https://agents.example.com/t/acme/s/{session.pk}#perm-{request}"
    [block] = said["blocks"]
    assert block["text"]["text"] == f"Needs you: <{place}|Fix &lt;!channel&gt;>"
    assert "top-secret" not in str(said)
    assert (send(), Notification.objects.count()) == (0, 0)


def test_a_limit_is_waited_for(direct: Workspace, session: Session) -> None:
    direct.server.limits = [30]
    end(session)
    send()
    assert direct.server.messages == []
    due_now()
    send()
    assert len(direct.server.messages) == 1


def test_another_team_is_not_told_of_there(
    direct: Workspace, session: Session, alice: User
) -> None:
    other = make_team(alice, name="Globex")
    Integration.objects.update(team=other)
    LinkedAccount.objects.update(team=other)
    end(session)
    send()
    assert direct.server.messages == []
    assert Notification.objects.count() == 0


def test_who_has_unlinked_the_account_hears_nothing_more(
    direct: Workspace, session: Session, alice: User
) -> None:
    end(session)
    alice.linked_accounts.all().delete()
    send()
    assert direct.server.messages == []
