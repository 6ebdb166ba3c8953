"""What admins set of an issue tracker. What is wrong with it is said by `setup.problems_of`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.loop import submit
from sessions.access import ProjectAccess
from sessions.forges.adapter import ForgeError
from sessions.integrations.setup import (
    DEFAULT_COMMAND,
    find_integration,
    new_integration,
    write_integration,
)
from sessions.integrations.system import Found
from sessions.integrations.systems import TRACKERS, key_of
from sessions.models import Integration
from teams.access import require_role
from teams.models import Role


@dataclass(frozen=True)
class TrackerDraft:
    """What an admin enters. An empty `token` or `secret` stays as it is.

    `path` is the key of the tracker's team; `account_id` and `pulls` are as of a forge.
    """

    path: str
    token: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)
    command: str = DEFAULT_COMMAND
    account_id: int | None = None
    pulls: bool = False


async def probe_tracker(tracker: str, row: Integration | None, draft: TrackerDraft) -> Found:
    """Ask the tracker what the key leads to: the one that is entered, or else the one of the row.

    Raises: Invalid, saying what is wrong.
    """
    if not (draft.token or row):
        raise Invalid(_("Paste the API key."), field="token")
    if not (draft.token.isascii() and draft.token.isprintable()):
        raise Invalid(_("This is no API key. Copy it once more."), field="token")
    opens = TRACKERS[tracker].opens
    nothing = Found("", "", "", "", "")
    try:
        token = draft.token or (key_of(row) if row else "")
        return await opens(token, nothing).probe(draft.path)
    except ForgeError as exc:
        raise Invalid(exc.worded(), field="token") from exc


def probe_and_connect(
    access: ProjectAccess, tracker: str, draft: TrackerDraft, *, ip: str | None = None
) -> Integration:
    """Connect it as the tracker itself says it is. Must not run in a transaction, for it waits.

    Raises: NotFound for an unknown tracker; as `probe_tracker` and `connect_tracker`.
    """
    require_role(access.team, Role.ADMIN)
    if tracker not in TRACKERS:
        raise NotFound("Issue tracker", tracker)
    found = submit(probe_tracker(tracker, find_integration(access, tracker), draft)).result()
    return connect_tracker(access, tracker, draft, found, ip=ip)


@transaction.atomic
def connect_tracker(
    access: ProjectAccess,
    tracker: str,
    draft: TrackerDraft,
    found: Found,
    *,
    ip: str | None = None,
) -> Integration:
    """Have comments on the issues of a team start sessions, or change how, as `probe_tracker` has
    found it.

    Raises: Conflict for another workspace; Invalid for a command or an account that cannot be used;
    Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    row = find_integration(access, tracker) or new_integration(access)
    row.kind, row.is_tracker = tracker, True
    if row.outside:
        known = Found(**row.outside)
        if known.workspace != found.workspace:
            raise Conflict(_("This key is of another workspace. Remove the integration first."))
        # Linked accounts go by it, whatever the workspace is called later.
        found = Found(**{**asdict(found), "host": known.host})
    row.outside = asdict(found)
    if draft.token:
        row.token = encrypt(draft.token)
    if draft.secret:
        row.secret, row.refused = encrypt(draft.secret), 0
    command, account_id, pulls = draft.command, draft.account_id, draft.pulls
    write_integration(access, row, command=command, account_id=account_id, pulls=pulls, ip=ip)
    return row
