from __future__ import annotations

from typing import Any

from opencode_web.management.account_command import AccountCommand
from teams.actions.attempts import unlock_account


class Command(AccountCommand):
    help = "Unlock an account that is blocked after too many failed sign-ins."

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        user = self.find(email)
        blocked = unlock_account(user, actor=None)
        self.stdout.write(f"{user.email} can sign in again ({blocked} addresses were blocked).")
