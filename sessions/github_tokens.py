"""The tokens of a project's GitHub App. What GitHub says of an installation is noted in its row."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import DecryptionError, decrypt, encrypt
from opencode_web.lib.db import in_db
from sessions.forges.adapter import ForgeError
from sessions.forges.github_app import (
    ENDED,
    FOR_API,
    FOR_FETCH,
    FOR_PUSH,
    AppKey,
    AppToken,
    new_token,
)
from sessions.models import GitHubApp, GitHubInstallation


@dataclass(frozen=True)
class InstallationTokens:
    """Those of one project, for `sessions.forges.api.Api` and for git."""

    row: GitHubInstallation

    async def current(self) -> str:
        """Raises: ForgeError."""
        return await in_db(_stored, self.row) or await self.renew()

    async def renew(self) -> str:
        """Raises: ForgeError, also where GitHub has ended the installation."""
        try:
            made = await new_token(*self._place, FOR_API)
        except ForgeError as exc:
            if exc.reason in ENDED:
                await in_db(note_problem, self.row, exc.reason.value)
            raise
        await in_db(_keep, self.row, made)
        return made.token

    async def for_git(self, *, push: bool) -> str:
        """Returns: a new one that reads the repository, or writes it. Raises: ForgeError."""
        return (await new_token(*self._place, FOR_PUSH if push else FOR_FETCH)).token

    @property
    def _place(self) -> tuple[AppKey, int, str]:
        return key_of(self.row.app), self.row.number, self.row.repository


def key_of(app: GitHubApp) -> AppKey:
    """Raises: ForgeError when it was encrypted under a key that this server no longer has."""
    try:
        return AppKey(app.api_url, app.number, decrypt(app.private_key))
    except DecryptionError as exc:
        raise ForgeError(
            gettext_noop(
                "The key of the GitHub App cannot be read with this server's SECRET_KEY. An admin "
                "has to remove the app under Integration and create a new one."
            )
        ) from exc


def note_problem(row: GitHubInstallation, reason: str) -> None:
    """It gives no tokens any more, until it does."""
    _rows(row).update(problem=reason, token="", token_until=None)


def _keep(row: GitHubInstallation, made: AppToken) -> None:
    _rows(row).update(problem="", token=encrypt(made.token), token_until=made.until)


def _stored(row: GitHubInstallation) -> str:
    """Returns: the newest that is still valid; empty for none."""
    found = _rows(row).filter(token_until__gt=timezone.now()).values_list("token", flat=True)
    try:
        return decrypt(found[0]) if found else ""
    except DecryptionError:
        return ""


def _rows(row: GitHubInstallation) -> QuerySet[GitHubInstallation]:
    """Returns: the row, unless the project has another installation by now."""
    return GitHubInstallation.objects.filter(
        pk=row.pk, app=row.app_id, number=row.number, repository=row.repository
    )
