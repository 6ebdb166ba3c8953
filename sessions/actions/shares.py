from __future__ import annotations

from datetime import timedelta

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.origin import current_origin
from sessions.access import SessionAccess
from sessions.config.sharing import Links
from sessions.events.store import append, lock_session
from sessions.events.types import SessionUpdated
from sessions.models import Session, Share
from sessions.shares.access import access_share, require_sharer
from sessions.shares.policy import project_links
from sessions.wire import to_ms
from teams.access import require_lasting
from teams.audit import AuditAction, record
from teams.models import User

# What people can choose from. A public link always ends by itself.
DAYS = (1, 7, 30, 90)
MAX_DAYS = max(DAYS)
MAX_LINKS = 20


@transaction.atomic
def create_share(
    access: SessionAccess,
    *,
    scope: str = Share.Scope.TEAM,
    days: int | None = None,
    details: bool = False,
    ip: str | None = None,
) -> Share:
    """Make a link to a session. Without `days` it opens until it is revoked.

    Raises: Forbidden where sharing is not allowed, for who may not share this session, and for a
    public link of an operator in an emergency; Invalid for a time that is too long; Conflict when
    there are too many.
    """
    require_sharer(access)
    if scope == Share.Scope.PUBLIC:
        require_lasting(access.team)
    session = lock_session(access.session.pk)
    _require_allowed(project_links(session.project), scope)
    if (session.root or session).is_private:
        raise Conflict(_("This session is private. Open it to the team before you share it."))
    if (days is None and scope == Share.Scope.PUBLIC) or not 0 < (days or 1) <= MAX_DAYS:
        raise Invalid(
            _("A link can be valid for 1 to {count} days.").format(count=MAX_DAYS), field="days"
        )
    if session.shares.open().count() >= MAX_LINKS:
        raise Conflict(
            _("A session can have at most {count} links. Revoke one first.").format(count=MAX_LINKS)
        )
    now = timezone.now()
    share = Share.objects.create(
        id=new_id("shr"),
        session=session,
        scope=scope,
        details=details,
        created_by=access.principal.user,
        created_at=now,
        expires_at=None if days is None else now + timedelta(days=days),
    )
    _tell_clients(session)
    _audit(AuditAction.SHARE_CREATED, access, share, ip)
    return share


@transaction.atomic
def share_session(access: SessionAccess, *, ip: str | None = None) -> Session:
    """Share with the team, as clients of the API do it: the link there is, or a new one."""
    require_sharer(access)
    session = lock_session(access.session.pk)
    if not project_links(session.project).allows(Share.Scope.TEAM) or not _newest(session):
        create_share(access, ip=ip)
    return lock_session(session.pk)


@transaction.atomic
def revoke_share(access: SessionAccess, share_id: str, *, ip: str | None = None) -> None:
    """End a link at once, for good. Raises: NotFound; Forbidden."""
    session = lock_session(access.session.pk)
    _revoke(access, access_share(access, share_id), ip)
    _tell_clients(session)


@transaction.atomic
def unshare_session(access: SessionAccess, *, ip: str | None = None) -> Session:
    """End all links to a session. Raises: Forbidden."""
    require_sharer(access)
    session = lock_session(access.session.pk)
    end_shares(access, session, ip=ip)
    return session


def end_shares(access: SessionAccess, session: Session, *, ip: str | None = None) -> None:
    """End all links to a locked session, whoever made them."""
    for share in session.shares.open():
        _revoke(access, share, ip)
    _tell_clients(session)


@transaction.atomic
def mark_opened(share: Share, *, user: User | None) -> None:
    """Keep when a link was last opened, to the minute, and by whom in the audit log.

    Everybody who opens a team's link is kept there once a minute, as is who opens a public one.
    """
    now = timezone.now()
    is_public = share.scope == Share.Scope.PUBLIC
    if share.opened_at is None or now - share.opened_at > timedelta(minutes=1):
        Share.objects.filter(pk=share.pk).update(opened_at=now)
    origin = current_origin()
    who = f"{origin.ip if origin else ''}.{user.pk if user else ''}"
    if cache.add(f"opened.{share.pk}.{who}", True, 60):
        record(
            AuditAction.SHARE_OPENED,
            actor=user,
            team=share.session.project.team,
            target=share,
            data={
                "session": share.session_id,
                "scope": share.scope,
                **({"key": "public"} if is_public and user is None else {}),
            },
        )


def _require_allowed(allowed: Links, scope: str) -> None:
    if allowed.allows(scope):
        return
    if allowed is Links.NONE:
        raise Forbidden(
            _(
                "Sharing is turned off for this project. Team members can open the session's page "
                "instead."
            )
        )
    raise Forbidden(_("Public links are not allowed. A team admin can allow them."))


def _revoke(access: SessionAccess, share: Share, ip: str | None) -> None:
    share.revoked_at = timezone.now()
    share.save(update_fields=["revoked_at"])
    _audit(AuditAction.SHARE_REVOKED, access, share, ip)


def _newest(session: Session) -> Share | None:
    """The link that clients are told of: never one that opens to people outside the team."""
    rows = session.shares.open().filter(scope=Share.Scope.TEAM)
    return rows.order_by("-created_at", "-pk").first()


def _tell_clients(session: Session) -> None:
    share = _newest(session)
    told: JsonObject = {}
    if share is not None:
        told["id"] = share.pk
        if share.expires_at is not None:
            told["until"] = to_ms(share.expires_at)
    if told != session.share:
        append(session, [SessionUpdated(share=told)])


def _audit(action: AuditAction, access: SessionAccess, share: Share, ip: str | None) -> None:
    record(
        action,
        actor=access.principal.user,
        team=access.team.team,
        target=share,
        data={
            "session": share.session_id,
            "scope": share.scope,
            "details": share.details,
            "until": share.expires_at.isoformat() if share.expires_at else "",
        },
        ip=ip,
    )
