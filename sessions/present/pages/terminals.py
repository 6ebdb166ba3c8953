"""The terminals of a session's folder, as one person sees them."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from sessions.access import SessionAccess, watchable_terminals
from sessions.config.effective import project_limits
from sessions.models import Session, Terminal
from sessions.present.place import Place
from sessions.present.stored_text import stored_text
from teams.limits import most_terminals
from teams.models import Role
from tools.sandbox.select import probe

Status = Terminal.Status


@dataclass(frozen=True)
class TerminalTab:
    """`owner` is empty for the person's own; `ended` says how it ended, empty while it runs."""

    id: str
    title: str
    owner: str
    ended: str
    watchable: bool
    rows: int
    columns: int


@dataclass(frozen=True)
class Terminals:
    """`reason` says why the person can open none; `open_url` is where one is opened."""

    tabs: list[TerminalTab]
    reason: str
    open_url: str
    list_url: str


def load_terminals(access: SessionAccess) -> Terminals:
    """Own ones, and those that others let the team look at. Viewers see none."""
    session = access.session
    reason = why_no_terminals(access)
    query = urlencode({"directory": session.directory})
    return Terminals(
        tabs=[] if not access.team.can(Role.MEMBER) else _tabs(access, session),
        reason=reason,
        open_url="" if reason else f"{settings.BASE_PATH}/pty?{query}",
        list_url=Place.of(session).url("terminals"),
    )


def _tabs(access: SessionAccess, session: Session) -> list[TerminalTab]:
    user = access.principal.user
    rows = watchable_terminals(access.principal).filter(
        project=session.project_id, folder=session.folder
    )
    # How others' have ended is theirs to know.
    is_live = Q(lease_until__gt=Now()) & ~Q(status=Status.EXITED)
    rows = rows.filter(Q(creator=user) | is_live).order_by("created_at", "pk")
    return [
        TerminalTab(
            id=row.pk,
            title=row.title,
            owner="" if row.creator_id == user.pk else row.creator.display_name,
            ended=_ended(row) if row.status == Status.EXITED else "",
            watchable=row.watchable,
            rows=row.rows,
            columns=row.columns,
        )
        for row in rows
    ]


def _ended(row: Terminal) -> str:
    code = (
        _("Ended.")
        if row.exit_code is None
        else _("Ended with exit code %(code)s.") % {"code": row.exit_code}
    )
    return f"{code} {stored_text(row.cause, row.detail)}".strip()


def why_no_terminals(access: SessionAccess) -> str:
    """Returns: why the person can open no terminal; empty when they can."""
    if not access.team.can(Role.MEMBER):
        return _("Team members can open terminals here.")
    limit = project_limits(access.project).terminals
    if 0 in (limit, settings.TERMINALS_PER_PERSON, most_terminals(access.team.team)):
        return _("Terminals are turned off.")
    is_here = settings.EMBEDDED and access.project.host == settings.HOST_NAME
    report = probe() if is_here else None
    return report.sentence if report is not None and report.bubblewrap is None else ""
