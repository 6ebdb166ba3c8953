from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from teams.models import User


class AccountCommand(BaseCommand):
    """A command about one account, which is named by its e-mail address."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    def find(self, email: str) -> User:
        """Raises: CommandError."""
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"There is no account for {email}.")
        return user
