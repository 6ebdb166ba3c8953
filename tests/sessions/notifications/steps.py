"""What the tests of notifications have in common."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from opencode_web.lib.loop import submit
from sessions.actions.notifications import subscribe_browser
from sessions.events.types import SessionStatus
from sessions.models import Notification, NotificationKind, Session
from sessions.notifications.choices import KEY, ChannelChoice, Choices
from sessions.notifications.push_key import load_key
from sessions.notifications.send import send_notifications
from teams.actions.tastes import remember_taste
from teams.browser import BrowserSession
from teams.models import User
from tests.factories import make_browser
from tests.sessions.push_service import PushBrowser, PushService
from tests.sessions.story import Story, write

ALL = frozenset(NotificationKind)


def send() -> int:
    return submit(send_notifications()).result(60)


def due_now() -> None:
    Notification.objects.update(next_at=timezone.now() - timedelta(seconds=1))


def choose(user: User, **more: Any) -> None:
    """Everything by e-mail, if nothing else is said."""
    chosen = {"channels": {"email": ChannelChoice(ALL)}, **more}
    user.refresh_from_db()
    remember_taste(user, key=KEY, value=Choices(**chosen).to_json())


def subscribe(service: PushService, user: User) -> tuple[PushBrowser, Any]:
    row = make_browser(user)
    browser = service.subscribe(load_key().public)
    subscribe_browser(user, BrowserSession(row.session_key), **browser.to_form())
    return browser, row


def wait(session: Session, user: User, command: str = "rm -r build") -> str:
    story = Story(session, user)
    story.ask("hi")
    story.answer()
    return story.waits(command)


def end(session: Session, outcome: Any = "done") -> None:
    write(session, SessionStatus(state="busy"))
    write(session, SessionStatus(state="idle", outcome=outcome))
