"""Every channel. A new one is a module here and a line below."""

from __future__ import annotations

from sessions.notifications.channels.base import Channel
from sessions.notifications.channels.email import EmailChannel
from sessions.notifications.channels.push import PushChannel
from sessions.notifications.channels.slack import SlackChannel
from sessions.notifications.channels.webhook import WebhookChannel

CHANNELS: tuple[Channel, ...] = (PushChannel(), EmailChannel(), SlackChannel(), WebhookChannel())
_BY_NAME = {one.name: one for one in CHANNELS}


def channel_of(name: str) -> Channel | None:
    """Returns: None for one that a newer or older version of the server has."""
    return _BY_NAME.get(name)
