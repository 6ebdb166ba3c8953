"""Previews of apps that run in a person's terminals: who gets in, and how.

The host of a preview opens nothing. A ticket in its address, signed, good once and for half a
minute, is exchanged for a cookie of that host, and the cookie holds as long as the person is signed
in and may use the terminal.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core import signing
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import fingerprint, matches
from opencode_web.lib.errors import Conflict, Forbidden, NotFound, Unauthorized
from sessions.access import TerminalAccess, access_terminal
from sessions.models import Preview, Terminal
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.auth import resume_principal
from teams.models import Role

TICKET_S = 30
# Without a request for so long it is forgotten.
IDLE = timedelta(hours=12)
_SALT = "preview ticket"
_NOTED = timedelta(minutes=1)


@dataclass(frozen=True)
class Visit:
    """Somebody may see the app of a preview."""

    label: str
    terminal_id: str
    port: int
    app_origin: str


@transaction.atomic
def open_preview(access: TerminalAccess, port: int, *, app_origin: str) -> Preview:
    """Give an app of a terminal an origin, the same again for the same browser.

    `app_origin` is where the person visits this server. Raises: Forbidden for anybody but the
    terminal's person; Conflict when it has ended.
    """
    terminal, principal = access.terminal, access.principal
    require_role(access.team, Role.MEMBER)
    if terminal.creator_id != principal.user.pk or principal.browser is None:
        raise Forbidden(_("Only the owner of a terminal can preview its apps."))
    if terminal.status == Terminal.Status.EXITED:
        raise Conflict(_("The terminal has ended."))
    preview, made = Preview.objects.update_or_create(
        {"app_origin": app_origin, "used_at": timezone.now()},
        {"app_origin": app_origin, "label": _new_label()},
        terminal=terminal,
        port=port,
        browser_key=principal.browser.key,
    )
    if made:
        record(
            AuditAction.PREVIEW_OPENED,
            actor=principal.user,
            team=access.team.team,
            target=terminal,
            data={"project": terminal.project_id, "port": port},
        )
    return preview


def issue_ticket(preview: Preview) -> str:
    """Returns: what lets a browser in, once."""
    data = {"label": preview.label, "at": timezone.now().isoformat()}
    return signing.dumps(data, salt=_SALT)


@dataclass(frozen=True)
class Entry:
    """The cookie that somebody gets for a ticket."""

    cookie: str
    app_origin: str


def take_ticket(label: str, ticket: str) -> Entry | None:
    """Use a ticket up. Returns: None when it is not good, or not any more."""
    try:
        data = signing.loads(ticket, salt=_SALT, max_age=TICKET_S)
    except signing.BadSignature:
        return None
    at = datetime.fromisoformat(data["at"])
    # Of two that come with it, one finds the row as it was.
    rows = Preview.objects.filter(pk=label, ticket_at__lt=at)
    if data["label"] != label or not rows.update(ticket_at=at):
        return None
    row = Preview.objects.get(pk=label)
    return Entry(fingerprint(_proof(label)), row.app_origin)


def admit_visit(label: str, cookie: str) -> Visit:
    """Let the holder of a cookie in.

    Raises: Unauthorized without the cookie of this preview, and when the sign-in has ended;
    NotFound, Forbidden when the person may not use the terminal any more; Conflict when that has
    ended.
    """
    if not cookie.isascii() or not matches(_proof(label), cookie):
        raise Unauthorized("This is not the cookie of this preview.")
    row = Preview.objects.filter(pk=label).select_related("terminal__creator").first()
    if row is None:
        raise NotFound("Preview", label)
    principal = resume_principal(row.terminal.creator, browser_key=row.browser_key)
    if principal is None:
        raise Unauthorized("This sign-in has ended.")
    access = access_terminal(principal, row.terminal_id, need=Role.MEMBER, own=True)
    if access.terminal.status == Terminal.Status.EXITED:
        raise Conflict(_("The terminal has ended."))
    now = timezone.now()
    if now - row.used_at > _NOTED:
        Preview.objects.filter(pk=label).update(used_at=now)
    return Visit(label, row.terminal_id, row.port, row.app_origin)


def forget_idle_previews() -> None:
    """Remove those that nobody has used for long."""
    Preview.objects.filter(used_at__lt=timezone.now() - IDLE).delete()


def _new_label() -> str:
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()


def _proof(label: str) -> str:
    return f"preview {label}"
