"""Has a server take the played Slack for the real one."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings


class PlayedSlack(AppConfig):
    name = "tests.e2e.played_slack"
    label = "played_slack"

    def ready(self) -> None:
        from sessions.integrations.slack import api

        api.API = f"{settings.PLAYED_SLACK}/api"
