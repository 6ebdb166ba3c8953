from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse

from opencode_web.lib.errors import Invalid
from opencode_web.lib.public_url import base_url, site_origin
from opencode_web.management.account_command import AccountCommand
from teams.actions.resets import create_reset


class Command(AccountCommand):
    help = "Print a link with which a person sets a new password, once and within an hour."

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        user = self.find(email)
        try:
            secret = create_reset(user, actor=None)
        except Invalid as exc:
            raise CommandError(exc.message) from exc
        self.stdout.write(site_origin() + reverse("reset", args=[secret]))
        if not settings.PUBLIC_URL:
            self.stderr.write(
                f"PUBLIC_URL is not set: if people reach this server elsewhere than at "
                f"{base_url()}, change the beginning of the link."
            )
