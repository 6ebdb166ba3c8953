from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from teams.actions.attempts import unlock_account
from teams.models import User


class Command(BaseCommand):
    help = "Unlock an account that is blocked after too many failed sign-ins."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"There is no account for {email}.")
        blocked = unlock_account(user, actor=None)
        self.stdout.write(f"{user.email} can sign in again ({blocked} addresses were blocked).")
