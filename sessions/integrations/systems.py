"""Every outside system in which people comment: the forges, and the issue trackers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, gettext_noop

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.json import JsonObject
from sessions.forges.adapter import Forge, ForgeError, ForgeKind, Reaction, Thread
from sessions.forges.events import read_event
from sessions.forges.inbound import Heard, event_of, is_signed, read_comment
from sessions.forges.reasons import ForgeReason
from sessions.integrations.linear import Linear
from sessions.integrations.setup import host_of
from sessions.integrations.system import Found, System, Tracker
from sessions.models import Integration, Project
from sessions.publish_settings import Publishing, forge_of, publishing_of


@dataclass(frozen=True)
class TrackerKind:
    """`steps` says where an admin makes the key and the webhook, whose address follows."""

    name: str
    opens: Callable[[str, Found], Tracker]
    steps: str | Promise


# By the kinds of their integrations, which stand in addresses.
TRACKERS = {
    "linear": TrackerKind(
        "Linear",
        Linear,
        gettext_lazy(
            "In Linear, open Settings → API and create a webhook with this address for the team, "
            "with the data change events “Comments” and “Issues”. Then paste its signing secret "
            "below."
        ),
    ),
}


@dataclass(frozen=True)
class ForgeSystem:
    """The forge of a project. `kind` is the one whose deliveries it was set up for."""

    kind: ForgeKind
    publishing: Publishing

    @property
    def host(self) -> str:
        return host_of(self.publishing) if self.publishing.kind else ""

    @property
    def path(self) -> str:
        return self.publishing.path

    @cached_property
    def forge(self) -> Forge:
        """Raises: ForgeError, saying what an admin has to set."""
        return forge_of(self.publishing)

    def is_signed(self, headers: Mapping[str, str], body: bytes, *, secret: str) -> bool:
        return is_signed(self.kind, headers, body, secret=secret)

    def read(self, headers: Mapping[str, str], sent: JsonObject) -> tuple[str, Heard | None]:
        event = event_of(self.kind, headers)
        return event, read_comment(self.kind, event, sent) or read_event(self.kind, event, sent)

    async def complete(self, heard: Heard) -> Heard:
        return heard

    async def may_write(self, heard: Heard) -> bool:
        return bool(heard.author) and await self.forge.may_push(heard.author, heard.author_id)

    async def own_account(self) -> str:
        return await self.forge.own_account()

    async def comment(self, thread: Thread, text: str, *, mark: str) -> str:
        return await self.forge.comment(thread, _marked(text, mark))

    async def find_comment(self, thread: Thread, *, mark: str, since: datetime) -> str:
        return await self.forge.find_comment(thread, mark, since=since)

    async def edit_comment(self, thread: Thread, comment: str, text: str, *, mark: str) -> bool:
        try:
            await self.forge.edit_comment(thread, comment, _marked(text, mark))
        except ForgeError as exc:
            if exc.reason is not ForgeReason.NOT_FOUND:
                raise
            return False
        return True

    async def react(self, thread: Thread, to: str, reaction: Reaction) -> str:
        return await self.forge.react(thread, to, reaction)

    async def unreact(self, thread: Thread, to: str, reaction: Reaction, made: str) -> None:
        await self.forge.unreact(thread, to, reaction, made)


def _marked(text: str, mark: str) -> str:
    return f"{text}\n\n<!-- {mark} -->"


def system_of(row: Integration) -> System:
    """Returns: the system of an integration of a project. One query for a forge.

    Raises: ForgeError where a tracker's key cannot be read.
    """
    if row.is_tracker:
        return TRACKERS[row.kind].opens(key_of(row), Found(**row.outside))
    return ForgeSystem(ForgeKind(row.kind), publishing_of(row.project))


def project_forge(project: Project, system: System) -> Forge:
    """Returns: where the pull requests are. One query where the system is a tracker.

    Raises: ForgeError, saying what an admin has to set.
    """
    if isinstance(system, ForgeSystem):
        return system.forge
    return forge_of(publishing_of(project))


def place_of(system: System) -> str:
    """Returns: what threads are of; empty where nothing is known of the system."""
    return f"{system.host}/{system.path}".lower() if system.host else ""


def key_of(row: Integration) -> str:
    """Returns: the API key of a tracker. Raises: ForgeError where it cannot be read."""
    try:
        return decrypt(row.token)
    except DecryptionError as exc:
        raise ForgeError(
            gettext_noop(
                "The API key cannot be read with this server's SECRET_KEY. An admin has to paste "
                "it again."
            )
        ) from exc
