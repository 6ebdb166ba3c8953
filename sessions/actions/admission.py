"""The one rule about whether a session takes something to do, whichever way it is asked.

Pages, REST, commands, shell lines, compaction and schedules all go through it. Pages ask
`find_closure` beforehand, to say why in their own words.
"""

from __future__ import annotations

from enum import StrEnum

from django.db.models import Sum
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict
from sessions.models import Project, Session
from teams.announcements import require_no_maintenance
from teams.budgets import require_funds
from teams.limits import most_disk_mb
from teams.models import Team

_MB = 1024 * 1024


class Closure(StrEnum):
    """Why a session takes nothing. `Conflict` says it to callers of the API."""

    ARCHIVED = "archived"
    PREPARING = "preparing"
    FAILED = "failed"

    def text(self, session: Session) -> str:
        """Returns: one sentence for people."""
        match self:
            case Closure.ARCHIVED:
                return _("This session is archived. Unarchive it to send messages.")
            case Closure.PREPARING:
                text = _("The files of %(project)s are still being prepared.")
            case Closure.FAILED:
                text = _("The files of %(project)s are missing, so the agent cannot work.")
        return text % {"project": session.project.name}


def find_closure(session: Session) -> Closure | None:
    """Returns: None for a session that takes prompts. A sub-agent's follows all above it."""
    archived_at, above = session.archived_at, session.parent_id
    while archived_at is None and above is not None:
        sessions = Session.objects.values_list("archived_at", "parent_id")
        archived_at, above = sessions.get(pk=above)
    if archived_at is not None:
        return Closure.ARCHIVED
    match session.project.status:
        case Project.Status.PREPARING:
            return Closure.PREPARING
        case Project.Status.FAILED:
            return Closure.FAILED
    return None


def require_open(session: Session) -> None:
    """Raises: Conflict for a session that is archived or whose files are not there."""
    if (closure := find_closure(session)) is not None:
        raise Conflict(closure.text(session))


def require_disk(team: Team) -> None:
    """Raises: Conflict when the files of the team take up more than it may have. A query if so."""
    most_mb = most_disk_mb(team)
    if most_mb is None:
        return
    used = Project.objects.filter(team=team).aggregate(sum=Sum("disk_bytes"))["sum"] or 0
    if used > most_mb * _MB:
        raise Conflict(
            _(
                "The files of your team take up %(used)s of %(most)s. Delete sessions, "
                "worktrees or projects, or ask an operator for more space. Files are measured "
                "every hour."
            )
            % {"used": filesizeformat(used), "most": filesizeformat(most_mb * _MB)}
        )


def require_admission(session: Session, author_id: int | None) -> None:
    """Must be called with the session locked: it may be archived at this moment.

    Raises: Conflict as `require_open` and `require_disk`; BudgetReached when a budget that holds
    for it has nothing left; Unavailable during maintenance.
    """
    require_no_maintenance()
    require_open(session)
    require_disk(session.project.team)
    require_funds(session.project.team, author_id, session.project_id)
