from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from opencode_web.lib.errors import Invalid
from teams.actions.resets import create_reset
from teams.models import User


class Command(BaseCommand):
    help = "Print a link with which a person sets a new password, once and within an hour."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"There is no account for {email}.")
        try:
            secret = create_reset(user, actor=None)
        except Invalid as exc:
            raise CommandError(exc.message) from exc
        base = settings.PUBLIC_URL or f"http://localhost:{settings.LISTEN_PORT}"
        self.stdout.write(base + reverse("reset", args=[secret]))
