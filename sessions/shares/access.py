"""Who may make links to a session, and what a link opens."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Forbidden, NotFound
from sessions.access import SessionAccess
from sessions.models import Share
from sessions.shares.links import share_id_of
from sessions.shares.policy import project_links
from teams.access import require_role
from teams.models import Role


def require_sharer(access: SessionAccess) -> None:
    """Raises: Forbidden unless it is the owner of the session, or an admin of the team."""
    require_role(access.team, Role.MEMBER)
    session = access.session
    if session.owner_id != access.principal.user.pk and not access.team.can(Role.ADMIN):
        owner = session.owner.display_name if session.owner else _("deleted account")
        raise Forbidden(
            _("Only the session's owner ({owner}) and team admins can share it.").format(
                owner=owner
            )
        )


def visible_shares(access: SessionAccess) -> QuerySet[Share]:
    """Returns: the links that open now, newest first. Raises: Forbidden like `require_sharer`."""
    require_sharer(access)
    return (
        Share.objects.open()
        .filter(session=access.session)
        .select_related("created_by")
        .order_by("-created_at", "-pk")
    )


def access_share(access: SessionAccess, share_id: str) -> Share:
    """Raises: NotFound for a link of another session, or one that has ended; Forbidden."""
    row = visible_shares(access).filter(pk=share_id).first()
    if row is None:
        raise NotFound("Link", share_id)
    return row


def access_shared(token: str) -> Share:
    """Fetch what a link opens, with its session. One for the team needs membership beside it.

    Raises: NotFound for an unknown link, one that has ended, one to a session that is private now,
    and one that is not allowed any more: all in the same words.
    """
    share_id = share_id_of(token)
    rows = Share.objects.open().select_related(
        "session__project__team", "session__root", "created_by"
    )
    row = rows.filter(pk=share_id).first() if share_id else None
    if row is None or not project_links(row.session.project).allows(row.scope):
        raise NotFound("Link")
    # Whoever made one at the same moment may have seen the session before the change.
    if (row.session.root or row.session).is_private:
        raise NotFound("Link")
    return row
